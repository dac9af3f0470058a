"""Drawing context: facts about the known entities, but never those that answer the query."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from slow_matching import match_by_brute_force
from strategies import patterns, small_graphs

from nqe.graph import Fact, Graph, Pattern
from nqe.graph.arrays import Integers
from nqe.graph.pattern import Patterns
from nqe.model.context_facts import ROLES, Context, ContextFacts
from nqe.query.step_table import StepTable

ALL = 1_000
Drawn = tuple[Fact, int]


@st.composite
def graphs_with_patterns(draw: st.DrawFn) -> tuple[Graph, list[Pattern]]:
    """A graph and patterns whose slots are known or free, with the asked slot free."""
    graph = draw(small_graphs)
    one = patterns(graph.entity_count, graph.relation_count)
    drawn = draw(st.lists(one, min_size=1, max_size=5))
    return graph, [keep_known(pattern) for pattern in drawn]


def keep_known(pattern: Pattern) -> Pattern:
    slots = [slot if isinstance(slot, int) else None for slot in pattern.slots]
    slots[pattern.asked] = None
    return replace(pattern, slots=tuple(slots))


def table_of(asked: list[Pattern]) -> StepTable:
    return StepTable.of_patterns(Patterns.of(asked))


def facts_of(graph: Graph) -> ContextFacts:
    orders = np.arange(graph.entity_count), np.arange(graph.relation_count)
    return ContextFacts.of(graph.facts, graph.entity_count, *orders)


def list_drawn(graph: Graph, facts: ContextFacts, context: Context, step: int) -> list[Drawn]:
    """The facts of a step in ids, each with the slot of the known entity."""
    source = Graph(graph.vocabulary, facts.facts)
    first, last = context.facts.offset[step : step + 2]
    rows = context.facts.values[first:last].tolist()
    return [
        (source.fact(row), slot)
        for row, slot in zip(rows, context.slot[first:last].tolist(), strict=True)
    ]


def list_allowed(graph: Graph, pattern: Pattern) -> list[Drawn]:
    """All facts about the known entities of a pattern that do not match it, by brute force."""
    _, matching = match_by_brute_force(graph, pattern)
    names = graph.vocabulary.entities.ids
    known = [names[slot] for slot in pattern.slots if isinstance(slot, int)]
    others = [graph.fact(row) for row in range(len(graph)) if row not in matching]
    return [
        (fact, slot)
        for name in known
        for fact in others
        for slot, entity in enumerate(entities_of(fact))
        if entity == name
    ]


def entities_of(fact: Fact) -> list[str]:
    return [fact.subject, fact.object, *(value for _, value in fact.qualifiers)]


@given(graphs_with_patterns())
def test_with_room_for_all_every_fact_about_a_known_entity_is_drawn_except_the_answers(
    case: tuple[Graph, list[Pattern]],
) -> None:
    graph, asked = case
    facts, table = facts_of(graph), table_of(asked)
    context = facts.draw(table, ALL, None)
    for step, pattern in zip(table.targets.tolist(), asked, strict=True):
        drawn = list_drawn(graph, facts, context, step)
        assert Counter(drawn) == Counter(list_allowed(graph, pattern))


@given(case=graphs_with_patterns(), most=st.integers(1, 4), seed=st.none() | st.integers(0, 9))
def test_however_few_are_drawn_none_answers_the_query(
    case: tuple[Graph, list[Pattern]], most: int, seed: int | None
) -> None:
    graph, asked = case
    facts, table = facts_of(graph), table_of(asked)
    rng = None if seed is None else np.random.default_rng(seed)
    context = facts.draw(table, most, rng)
    assert int(context.facts.lengths.max()) <= most
    for step, pattern in zip(table.targets.tolist(), asked, strict=True):
        drawn = list_drawn(graph, facts, context, step)
        assert not Counter(drawn) - Counter(list_allowed(graph, pattern))


@given(case=graphs_with_patterns(), most=st.integers(1, 4))
def test_a_query_has_the_same_context_in_any_batch(
    case: tuple[Graph, list[Pattern]], most: int
) -> None:
    graph, asked = case
    facts, table = facts_of(graph), table_of(asked)
    together = facts.draw(table, most, None)
    for step, pattern in zip(table.targets.tolist(), asked, strict=True):
        alone = table_of([pattern])
        context = facts.draw(alone, most, None)
        target = int(alone.targets[0])
        assert list_drawn(graph, facts, together, step) == list_drawn(graph, facts, context, target)


@given(case=graphs_with_patterns(), most=st.integers(1, 4), data=st.data())
def test_the_numbers_of_names_make_no_difference(
    case: tuple[Graph, list[Pattern]], most: int, data: st.DataObject
) -> None:
    graph, asked = case
    counts = graph.entity_count, graph.relation_count
    entity, relation = (np.array(data.draw(st.permutations(range(count)))) for count in counts)
    back = np.argsort(entity), np.argsort(relation)
    # The order of ids of each new number is its old number, as a graph numbers names in order.
    other = ContextFacts.of(
        graph.facts.renumber(entity, relation).to_canonical(), graph.entity_count, *back
    )
    table, facts = table_of(asked), facts_of(graph)
    expected = facts.draw(table, most, None)
    context = other.draw(renumber(table, entity, relation), most, None)
    assert np.array_equal(context.facts.offset, expected.facts.offset)
    renamed = replace(other, facts=other.facts.renumber(*back))
    for step in table.targets.tolist():
        # A fact's own qualifiers may be numbered in another order.
        drawn = [fact for fact, _ in list_drawn(graph, renamed, context, step)]
        assert drawn == [fact for fact, _ in list_drawn(graph, facts, expected, step)]


def renumber(table: StepTable, entity: Integers, relation: Integers) -> StepTable:
    known = table.kind == 1
    return replace(
        table,
        filler=np.where(known, entity[np.where(known, table.filler, 0)], table.filler),
        relation=np.where(table.relation >= 0, relation[table.relation], -1),
        attribute=np.where(table.attribute >= 0, relation[table.attribute], -1),
    )


MANY = Graph.of([Fact("hub", f"r{n % 10}", f"e{n:03}") for n in range(200)])


def ask_about_hub() -> StepTable:
    vocabulary = MANY.vocabulary
    hub = vocabulary.entities.resolve("hub")
    return table_of([Pattern(vocabulary.relations.resolve("r0"), (hub, None))])


def test_the_facts_of_an_entity_are_spread_over_its_relations() -> None:
    facts = facts_of(MANY)
    context = facts.draw(ask_about_hub(), 9, None)
    relations = [fact.relation for fact, _ in list_drawn(MANY, facts, context, 0)]
    assert set(relations) == {f"r{n}" for n in range(1, 10)}


def test_training_draws_other_facts_each_time_and_all_in_the_end() -> None:
    facts, table, rng = facts_of(MANY), ask_about_hub(), np.random.default_rng(0)
    drawn = [set(facts.draw(table, 8, rng).facts.values.tolist()) for _ in range(200)]
    assert drawn[0] != drawn[1]
    assert {len(rows) for rows in drawn} == {8}
    assert len(set.union(*drawn)) == 180  # 20 of the 200 answer the query


def test_the_only_fact_that_does_not_answer_the_query_is_found_among_many_that_do() -> None:
    graph = Graph.of([Fact("a", "r", f"e{n}") for n in range(50)] + [Fact("a", "s", "b")])
    names = graph.vocabulary
    pattern = Pattern(names.relations.resolve("r"), (names.entities.resolve("a"), None))
    facts = facts_of(graph)
    context = facts.draw(table_of([pattern]), 50, None)
    assert list_drawn(graph, facts, context, 0) == [(Fact("a", "s", "b"), 0)]


def test_elements_are_the_other_entities_with_their_roles() -> None:
    fact = Fact("s", "r", "o", (("a", "v"), ("b", "w")))
    graph = Graph.of([fact, Fact("x", "other", "y")])
    entities, relations = graph.vocabulary.entities, graph.vocabulary.relations

    def elements(known: str) -> set[tuple[str, str, int]]:
        asked = Pattern(relations.resolve("other"), (entities.resolve(known), None))
        context = facts_of(graph).draw(table_of([asked]), 5, None)
        names = [entities.ids[one] for one in context.elements.values]
        roles = [(relations.ids[one // ROLES], one % ROLES) for one in context.role.tolist()]
        return {(name, *role) for name, role in zip(names, roles, strict=True)}

    assert elements("s") == {("o", "r", 0), ("v", "a", 4), ("w", "b", 4)}
    assert elements("o") == {("s", "r", 1), ("v", "a", 4), ("w", "b", 4)}
    assert elements("v") == {("s", "r", 2), ("o", "r", 3), ("v", "a", 5), ("w", "b", 4)}


@pytest.mark.parametrize("steps", [[0, 1, 2], [2, 0], [1]])
def test_elements_are_placed_by_step_and_fact(steps: list[int]) -> None:
    names = MANY.vocabulary.entities
    patterns = [Pattern(0, (names.resolve(name), None)) for name in ("e000", "hub", "e001")]
    context = facts_of(MANY).draw(table_of(patterns), 4, None)
    placed = context.take(np.array(steps))
    counts = context.facts.lengths[steps]
    assert placed.padding.shape == (len(steps), counts.max())
    assert (~placed.padding).sum(1).tolist() == counts.tolist()
    assert set(placed.place) == set(np.flatnonzero(~placed.padding))


def test_copies_of_a_model_share_its_facts() -> None:
    facts = facts_of(MANY)
    assert deepcopy([facts])[0] is facts

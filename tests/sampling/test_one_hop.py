"""One-hop queries made by array operations, against facts looked at one by one."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import small_facts, small_graphs

from nqe.graph import Dataset, Fact, Graph, Pattern
from nqe.graph.fact_columns import Facts
from nqe.model import new_model
from nqe.query.plan import Op, Plan
from nqe.sampling.one_hop import closed_queries, link_queries, open_queries
from nqe.sampling.query_table import QueryTable
from nqe.settings import ModelSettings

Key = tuple[object, ...]
Answers = dict[Key, set[int]]
# One attribute, and often the whole pair, more than once.
TWINS = Graph.of(
    [
        Fact("a", "r", "b", (("q", "c"), ("q", "c"))),
        Fact("a", "r", "b", (("q", "c"), ("q", "d"))),
        Fact("a", "r", "b", (("q", "d"), ("q", "d"), ("q", "c"))),
        Fact("a", "r", "a", (("r", "a"),)),
        Fact("a", "r", "b"),
    ]
)
graphs = st.one_of(small_graphs, st.just(TWINS))


def pattern_of(plan: Plan) -> Pattern:
    (pattern,) = plan.patterns
    assert pattern is not None
    return pattern


def key_of(pattern: Pattern) -> Key:
    """What a query says, whatever the order of its qualifiers."""
    values = pattern.slots[2:]
    pairs = Counter(zip(pattern.attributes, values, strict=True))
    asked = pattern.attributes[pattern.asked - 2] if pattern.asked >= 2 else -1
    main = (pattern.relation, *pattern.slots[:2], min(pattern.asked, 2), asked)
    return (*main, frozenset(pairs.items()), pattern.closed)


def asked_of_every_fact(facts: Facts) -> Answers:
    """Each fact with each of its entities taken out: what is left, and the entities."""
    found: Answers = defaultdict(set)
    for row in range(len(facts)):
        subject, relation, object_, pairs = facts.row(row)
        entities = (subject, object_, *(value for _, value in pairs))
        for place, entity in enumerate(entities):
            slots = (*entities[:place], None, *entities[place + 1 :])
            attributes = tuple(attribute for attribute, _ in pairs)
            pattern = Pattern(relation, slots, attributes, place, closed=True)
            found[key_of(pattern)].add(entity)
    return found


def listed(table: QueryTable, column: str) -> Answers:
    """The answers of each query of a table; none of its queries is there twice."""
    ragged = getattr(table, column)
    keys = [key_of(pattern_of(table.plans.plan(row))) for row in range(len(table))]
    assert len(set(keys)) == len(keys)
    for row in range(len(table)):
        assert ragged[row].tolist() == sorted(set(ragged[row].tolist()))
    return {key: set(ragged[row].tolist()) for row, key in enumerate(keys)}


def check_well_formed(table: QueryTable) -> None:
    assert set(table.shape) <= {"1p"}
    counts = table.easy.lengths + table.hard.lengths
    assert table.answer_count.tolist() == counts.tolist()
    assert table.missing.offset.tolist() == table.hard.offset.tolist()
    assert set(table.missing.values.tolist()) <= {1}
    for row in range(len(table)):
        (step,) = table.plans.plan(row).steps
        assert step.op == Op.PROJECTION
        assert step.asked <= 2  # an asked value comes first of the qualifiers
        assert [place for place, slot in enumerate(step.slots) if slot is None] == [step.asked]


@given(graph=graphs)
def test_closed_queries_are_every_slot_of_every_fact_with_all_answers(graph: Graph) -> None:
    table = closed_queries(graph.facts)
    check_well_formed(table)
    assert not len(table.hard.values)
    assert listed(table, "easy") == asked_of_every_fact(graph.facts)


@given(graph=graphs)
def test_the_answers_of_closed_queries_are_those_of_the_exact_engine(graph: Graph) -> None:
    table = closed_queries(graph.facts)
    for row in range(len(table)):
        pattern = pattern_of(table.plans.plan(row))
        assert pattern.closed
        assert (
            graph.answers(pattern).to_array(graph.entity_count).tolist() == table.easy[row].tolist()
        )


@given(graph=graphs, seed=st.integers(0, 9))
def test_the_answers_of_open_queries_are_those_of_the_exact_engine(graph: Graph, seed: int) -> None:
    table = open_queries(graph, 12, np.random.default_rng(seed))
    assert len(table) == 12
    check_well_formed(table)
    assert not len(table.hard.values)
    for row in range(len(table)):
        pattern = pattern_of(table.plans.plan(row))
        assert not pattern.closed
        answers = graph.answers(pattern).members.tolist()
        assert answers == table.easy[row].tolist()
        assert answers


def test_open_queries_ask_for_any_slot_and_leave_out_any_qualifiers() -> None:
    graph = Graph.of([Fact("a", "r", "b", (("p", "c"), ("q", "d")))])
    table = open_queries(graph, 400, np.random.default_rng(1))
    counts = Counter(
        (pattern.asked, len(pattern.attributes))
        for pattern in (pattern_of(table.plans.plan(row)) for row in range(len(table)))
    )
    # An asked value needs a qualifier.
    assert set(counts) == {(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2)}
    sizes = Counter(size for (_, size), count in counts.items() for _ in range(count))
    assert sizes[1] == pytest.approx(200, abs=40)
    assert sizes[0] == pytest.approx(100, abs=30)
    assert counts[2, 2] == pytest.approx(50, abs=20)


def test_open_queries_are_the_same_for_a_seed() -> None:
    first, second, other = (
        open_queries(TWINS, 30, np.random.default_rng(seed)) for seed in (5, 5, 6)
    )
    assert first.plans == second.plans
    assert first.plans != other.plans


splits = st.tuples(
    st.lists(small_facts, min_size=1, max_size=8), st.lists(small_facts, max_size=12)
)


@given(both=splits)
def test_link_queries_ask_for_every_slot_of_some_facts_with_all_others_as_easy(
    both: tuple[list[Fact], list[Fact]],
) -> None:
    test, train = both
    dataset = Dataset.of({"test": test, "train": train})
    table = link_queries(dataset.splits["test"], dataset.graph)
    check_well_formed(table)
    hard = asked_of_every_fact(dataset.splits["test"])
    every = asked_of_every_fact(dataset.graph.facts)
    assert listed(table, "hard") == hard
    assert listed(table, "easy") == {key: every[key] - mine for key, mine in hard.items()}


def test_link_queries_without_other_facts_have_hard_answers_alone() -> None:
    table = link_queries(TWINS.facts, Graph(TWINS.vocabulary, Facts.empty()))
    assert listed(table, "hard") == asked_of_every_fact(TWINS.facts)
    assert not len(table.easy.values)


def test_no_facts_give_no_queries() -> None:
    nothing = Graph(TWINS.vocabulary, Facts.empty())
    rng = np.random.default_rng(0)
    for table in (
        closed_queries(nothing.facts),
        link_queries(nothing.facts, TWINS),
        open_queries(nothing, 5, rng),
        open_queries(TWINS, 0, rng),
    ):
        assert len(table) == 0
        assert len(table.plans.plan_start) == 1


@given(graph=graphs)
@settings(max_examples=20)
def test_a_table_of_one_hop_queries_is_ready_for_a_model(graph: Graph) -> None:
    table = closed_queries(graph.facts)
    small = ModelSettings(width=4, layers=1, heads=1, feed_forward=4)
    model = new_model(small, graph.entity_count, graph.relation_count)
    with torch.no_grad():
        vectors = model.encode(table.plans)
    assert vectors.shape == (len(table), 4)
    assert bool(vectors.isfinite().all())

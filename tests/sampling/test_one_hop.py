"""One-hop queries made by array operations, compared with a loop over the facts."""

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
from nqe.query.exact import execute
from nqe.query.plan import Op, Plan
from nqe.sampling import one_hop
from nqe.sampling.one_hop import (
    draw_closed_queries,
    draw_open_queries,
    make_closed_queries,
    make_link_queries,
    replace_by_any,
)
from nqe.sampling.query_table import QueryTable, concatenate
from nqe.settings import ModelSettings

Key = tuple[object, ...]
Answers = dict[Key, set[int]]
# The same attribute, and often the same pair, occurs more than once.
REPEATED = Graph.of(
    [
        Fact("a", "r", "b", (("q", "c"), ("q", "c"))),
        Fact("a", "r", "b", (("q", "c"), ("q", "d"))),
        Fact("a", "r", "b", (("q", "d"), ("q", "d"), ("q", "c"))),
        Fact("a", "r", "a", (("r", "a"),)),
        Fact("a", "r", "b"),
    ]
)
graphs = st.one_of(small_graphs, st.just(REPEATED))


def pattern_of(plan: Plan) -> Pattern:
    (pattern,) = plan.patterns
    assert pattern is not None
    return pattern


def key_of(pattern: Pattern) -> Key:
    """Return a key that does not depend on the order of qualifiers."""
    values = pattern.slots[2:]
    pairs = Counter(zip(pattern.attributes, values, strict=True))
    asked = pattern.attributes[pattern.asked - 2] if pattern.asked >= 2 else -1
    main = (pattern.relation, *pattern.slots[:2], min(pattern.asked, 2), asked)
    return (*main, frozenset(pairs.items()), pattern.closed)


def ask_every_slot(facts: Facts) -> Answers:
    """Remove each entity of each fact in turn; return the removed entities by what is left."""
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


def answers_by_key(table: QueryTable, column: str) -> Answers:
    """Return the answers of each query of a table; no query occurs twice."""
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
        assert step.asked <= 2  # an asked value is the first of the qualifiers
        assert [place for place, slot in enumerate(step.slots) if slot is None] == [step.asked]


@given(graph=graphs)
def test_closed_queries_ask_for_every_slot_of_every_fact_with_all_answers(graph: Graph) -> None:
    table = make_closed_queries(graph.facts)
    check_well_formed(table)
    assert not len(table.hard.values)
    assert answers_by_key(table, "easy") == ask_every_slot(graph.facts)


@given(graph=graphs)
def test_the_answers_of_closed_queries_are_those_of_the_exact_engine(graph: Graph) -> None:
    table = make_closed_queries(graph.facts)
    for row in range(len(table)):
        pattern = pattern_of(table.plans.plan(row))
        assert pattern.closed
        assert (
            graph.answers(pattern).to_array(graph.entity_count).tolist() == table.easy[row].tolist()
        )


@given(graph=graphs, seed=st.integers(0, 9))
def test_the_answers_of_open_queries_are_those_of_the_exact_engine(graph: Graph, seed: int) -> None:
    table = draw_open_queries(graph, 12, np.random.default_rng(seed))
    assert len(table) == 12
    check_well_formed(table)
    assert not len(table.hard.values)
    for row in range(len(table)):
        pattern = pattern_of(table.plans.plan(row))
        assert not pattern.closed
        answers = graph.answers(pattern).members.tolist()
        assert answers == table.easy[row].tolist()
        assert answers


def test_open_queries_ask_for_random_slots_and_have_random_qualifiers() -> None:
    graph = Graph.of([Fact("a", "r", "b", (("p", "c"), ("q", "d")))])
    table = draw_open_queries(graph, 400, np.random.default_rng(1))
    counts = Counter(
        (pattern.asked, len(pattern.attributes))
        for pattern in (pattern_of(table.plans.plan(row)) for row in range(len(table)))
    )
    # A value can be asked for only if there is a qualifier.
    assert set(counts) == {(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2)}
    sizes = Counter(size for (_, size), count in counts.items() for _ in range(count))
    assert sizes[1] == pytest.approx(200, abs=40)
    assert sizes[0] == pytest.approx(100, abs=30)
    assert counts[2, 2] == pytest.approx(50, abs=20)


def test_the_same_seed_draws_the_same_open_queries() -> None:
    first, second, other = (
        draw_open_queries(REPEATED, 30, np.random.default_rng(seed)) for seed in (5, 5, 6)
    )
    assert first.plans == second.plans
    assert first.plans != other.plans


@given(graph=graphs, seed=st.integers(0, 9))
def test_queries_with_any_have_the_answers_of_the_exact_engine(graph: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    plain = concatenate([make_closed_queries(graph.facts), draw_open_queries(graph, 12, rng)])
    table = replace_by_any(plain, graph, rng)
    assert len(table) == len(plain)
    for row in range(len(table)):
        anything, step = table.plans.plan(row).steps
        assert anything.op == Op.ANY
        assert step.filled != (step.asked,)
        assert execute(table.plans.plan(row), graph).answers.tolist() == table.easy[row].tolist()


def test_a_query_that_would_have_too_many_answers_with_any_stays_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(one_hop, "MAX_ANY_ANSWERS", 1)
    graph = Graph.of([Fact("a", "r", "b"), Fact("c", "r", "d"), Fact("a", "s", "b")])
    table = replace_by_any(make_closed_queries(graph.facts), graph, np.random.default_rng(0))
    assert sorted(table.plans.step_counts.tolist()) == [1, 1, 1, 1, 2, 2]
    assert set(table.easy.lengths.tolist()) == {1}


splits = st.tuples(
    st.lists(small_facts, min_size=1, max_size=8), st.lists(small_facts, max_size=12)
)


@given(both=splits)
def test_link_queries_ask_for_every_slot_of_some_facts_and_other_answers_are_easy(
    both: tuple[list[Fact], list[Fact]],
) -> None:
    test, train = both
    dataset = Dataset.of({"test": test, "train": train})
    table = make_link_queries(dataset.splits["test"], dataset.graph)
    check_well_formed(table)
    hard = ask_every_slot(dataset.splits["test"])
    every = ask_every_slot(dataset.graph.facts)
    assert answers_by_key(table, "hard") == hard
    assert answers_by_key(table, "easy") == {key: every[key] - own for key, own in hard.items()}


def test_link_queries_without_other_facts_have_only_hard_answers() -> None:
    table = make_link_queries(REPEATED.facts, Graph(REPEATED.vocabulary, Facts.empty()))
    assert answers_by_key(table, "hard") == ask_every_slot(REPEATED.facts)
    assert not len(table.easy.values)


def test_no_facts_give_no_queries() -> None:
    nothing = Graph(REPEATED.vocabulary, Facts.empty())
    rng = np.random.default_rng(0)
    for table in (
        make_closed_queries(nothing.facts),
        make_link_queries(nothing.facts, REPEATED),
        draw_open_queries(nothing, 5, rng),
        draw_open_queries(REPEATED, 0, rng),
    ):
        assert len(table) == 0
        assert len(table.plans.plan_start) == 1


@given(graph=graphs)
@settings(max_examples=20)
def test_a_model_can_encode_a_table_of_one_hop_queries(graph: Graph) -> None:
    table = make_closed_queries(graph.facts)
    small = ModelSettings(width=4, layers=1, heads=1, feed_forward=4)
    model = new_model(small, graph.entity_count, graph.relation_count)
    with torch.no_grad():
        vectors = model.encode(table.plans)
    assert vectors.shape == (len(table), 4)
    assert bool(vectors.isfinite().all())


@given(graphs, st.integers(1, 60), st.integers(0, 3))
def test_drawn_closed_queries_are_closed_queries_with_all_their_answers(
    graph: Graph, count: int, seed: int
) -> None:
    table, times = draw_closed_queries(graph, count, np.random.default_rng(seed))
    expected = ask_every_slot(graph.facts)
    for row in range(len(table)):
        pattern = pattern_of(table.plans.plan(row))
        assert set(table.easy[row].tolist()) == expected[key_of(pattern)]
    assert times.sum() == count
    bare = [key_of(pattern_of(table.plans.plan(row))) for row in range(len(table))]
    without = [key for key in bare if not key[5]]
    assert len(set(without)) == len(without)


def test_a_closed_query_is_drawn_in_proportion_to_its_answers() -> None:
    graph = Graph.of([*(Fact(f"s{n}", "r", "hub") for n in range(30)), Fact("t", "r", "o")])
    table, times = draw_closed_queries(graph, 3100, np.random.default_rng(0))
    assert len(table) == 33
    many = int(np.argmax(table.easy.lengths))
    assert table.easy.lengths[many] == 30
    assert 1300 < times[many] < 1700

"""Relation queries against the facts, taken apart one by one in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import small_facts, small_graphs

from nqe.graph import Dataset, Fact, Graph
from nqe.graph.fact_columns import Facts
from nqe.sampling.relation_queries import (
    MASKED,
    RelationQueries,
    choose_part,
    make_relation_link_queries,
    make_relation_queries,
)

Key = tuple[object, ...]


def key_of(subject: int, relation: int, object_: int, pairs: list[tuple[int, int]]) -> Key:
    """A fact or query, regardless of the order of its qualifiers."""
    return subject, relation, object_, frozenset(Counter(pairs).items())


def take_apart(facts: Facts) -> dict[Key, set[int]]:
    """Each fact without each of its relations, and the relations that complete it."""
    found: dict[Key, set[int]] = defaultdict(set)
    for number in range(len(facts)):
        subject, relation, object_, pairs = facts.row(number)
        found[key_of(subject, MASKED, object_, pairs)].add(relation)
        for place, (attribute, value) in enumerate(pairs):
            masked = [*pairs[:place], (MASKED, value), *pairs[place + 1 :]]
            found[key_of(subject, relation, object_, masked)].add(attribute)
    return dict(found)


def keys_of(queries: RelationQueries) -> list[Key]:
    return [key_of(*queries.facts.row(number)) for number in range(len(queries))]


@given(graph=small_graphs)
def test_every_fact_without_each_of_its_relations_is_a_query_with_all_its_answers(
    graph: Graph,
) -> None:
    queries = make_relation_queries(graph.facts)
    keys = keys_of(queries)
    assert len(set(keys)) == len(keys)
    assert {k: set(queries.easy[n].tolist()) for n, k in enumerate(keys)} == take_apart(graph.facts)
    assert queries.easy.lengths.sum() == sum(map(len, take_apart(graph.facts).values()))
    assert not len(queries.hard.values)


@given(graph=small_graphs)
def test_the_masked_attribute_is_that_of_the_first_qualifier(graph: Graph) -> None:
    queries = make_relation_queries(graph.facts)
    for number, asks_attribute in enumerate(queries.asks_attribute.tolist()):
        _, relation, _, pairs = queries.facts.row(number)
        attributes = [attribute for attribute, _ in pairs]
        assert (relation == MASKED) is not asks_attribute
        assert attributes[:1] == [MASKED] if asks_attribute else MASKED not in attributes
        assert pairs[1:] == sorted(pairs[1:])


@given(
    train=st.lists(small_facts, min_size=1, max_size=12),
    test=st.lists(small_facts, min_size=1, max_size=6),
)
def test_the_relations_of_the_facts_are_hard_and_others_that_complete_them_easy(
    train: list[Fact], test: list[Fact]
) -> None:
    dataset = Dataset.of({"train": train, "test": test})
    wanted, every = take_apart(dataset.splits["test"]), take_apart(dataset.graph.facts)
    queries = make_relation_link_queries(dataset.splits["test"], dataset.graph)
    keys = keys_of(queries)
    assert set(keys) == set(wanted)
    for number, key in enumerate(keys):
        hard, easy = queries.hard[number].tolist(), queries.easy[number].tolist()
        assert set(hard) == wanted[key]
        assert set(easy) == every[key] - wanted[key]


@given(graph=small_graphs, parts=st.integers(1, 4))
def test_parts_of_the_facts_answer_their_queries_in_full(graph: Graph, parts: int) -> None:
    divided = [choose_part(graph.facts, part, parts) for part in range(parts)]
    assert sum(map(len, divided)) == len(graph)
    together: dict[Key, set[int]] = {}
    for one in divided:
        apart = take_apart(one)
        assert not set(apart) & set(together)
        together |= apart
    assert together == take_apart(graph.facts)


def test_parts_are_of_about_the_same_size() -> None:
    facts = Graph.of(Fact(f"e{n}", "r", f"e{n // 2}", (("a", f"e{n % 7}"),)) for n in range(2_000))
    sizes = [len(choose_part(facts.facts, part, 4)) for part in range(4)]
    assert min(sizes) > 400


def test_queries_are_taken_by_row() -> None:
    queries = make_relation_queries(Graph.of([Fact("a", "r", "b"), Fact("b", "q", "a")]).facts)
    taken = queries.take(np.array([1, 1, 0]))
    assert keys_of(taken) == [keys_of(queries)[row] for row in (1, 1, 0)]
    assert [taken.easy[row].tolist() for row in range(3)] == [
        queries.easy[row].tolist() for row in (1, 1, 0)
    ]


def test_no_facts_give_no_queries() -> None:
    assert len(make_relation_queries(Facts.empty())) == 0

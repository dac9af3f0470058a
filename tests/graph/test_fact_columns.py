"""Facts in columns: their canonical order, and how duplicates are merged and counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import small_facts, wild_facts

from nqe.graph import Dataset, Fact, Graph
from nqe.graph.fact_columns import concatenate

some_facts = st.lists(small_facts, min_size=1, max_size=20)


def shuffled(fact: Fact, data: st.DataObject) -> Fact:
    pairs = data.draw(st.permutations(fact.qualifiers))
    return Fact(fact.subject, fact.relation, fact.object, tuple(pairs))


@given(some_facts, st.data())
def test_the_order_of_facts_and_of_qualifiers_makes_no_difference(
    facts: list[Fact], data: st.DataObject
) -> None:
    other = [shuffled(fact, data) for fact in data.draw(st.permutations(facts))]
    assert Graph.of(other) == Graph.of(facts)
    one, two = Dataset.of({"train": facts}), Dataset.of({"train": other})
    assert one.fingerprint == two.fingerprint


@given(some_facts, st.data())
def test_columns_in_any_order_have_one_canonical_form(
    facts: list[Fact], data: st.DataObject
) -> None:
    columns = Graph.of(facts).facts
    rows = data.draw(st.permutations(range(len(columns))))
    taken = columns.take(np.array(rows, dtype=np.int64))
    order = [
        place
        for start, end in pairwise(taken.offset.tolist())
        for place in data.draw(st.permutations(range(start, end)))
    ]
    mixed = replace(taken, attribute=taken.attribute[order], value=taken.value[order])
    assert mixed.to_canonical().equals(columns)
    twice = concatenate([mixed, columns]).to_canonical()
    assert twice.equals(replace(columns, count=2 * columns.count))


@given(some_facts)
def test_duplicates_are_merged_and_counted(facts: list[Fact]) -> None:
    graph = Graph.of(facts)
    stated = dict(zip(graph, graph.facts.count.tolist(), strict=True))
    assert stated == Counter(facts)
    assert len(graph) == len(set(facts))


@given(wild_facts())
def test_a_graph_has_the_facts_it_was_built_from(facts: list[Fact]) -> None:
    assert set(Graph.of(facts)) == set(facts)


def test_the_same_pair_twice_is_not_the_same_as_once() -> None:
    once, twice = Fact("a", "r", "b", (("q", "c"),)), Fact("a", "r", "b", (("q", "c"),) * 2)
    graph = Graph.of([once, twice])
    assert len(graph) == 2
    assert set(graph) == {once, twice}


@given(some_facts, st.data())
def test_facts_are_canonical_exactly_if_making_them_so_changes_nothing(
    facts: list[Fact], data: st.DataObject
) -> None:
    columns = Graph.of(facts).facts
    assert columns.is_canonical()
    rows = data.draw(st.lists(st.integers(0, len(columns) - 1), max_size=6))
    some = columns.take(np.array(rows, dtype=np.int64))
    if data.draw(st.booleans()) and len(some.value) > 1:
        some = replace(some, attribute=some.attribute[::-1], value=some.value[::-1])
    assert some.is_canonical() == some.equals(some.to_canonical())

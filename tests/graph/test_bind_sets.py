"""Binding the sets of patterns, compared with all ways to place a fact's entities."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import ENTITIES, RELATIONS, small_facts

from nqe.errors import TooManyBindings
from nqe.graph import Fact, Graph
from nqe.graph.entity_set import EntitySet
from nqe.graph.pattern import Pattern, Patterns

entity_sets = st.builds(
    EntitySet,
    st.sets(st.integers(0, len(ENTITIES) - 1)).map(lambda one: np.array(sorted(one), dtype=int)),
    st.booleans(),
)
restrictions = st.one_of(st.none(), st.integers(0, len(ENTITIES) - 1), entity_sets)


@st.composite
def patterns(draw: st.DrawFn) -> Pattern:
    """A pattern with up to two qualifiers, which may have the same attribute."""
    attributes = draw(st.lists(st.integers(0, len(RELATIONS) - 1), max_size=2))
    slots = [draw(restrictions) for _ in range(2 + len(attributes))]
    asked = draw(st.integers(0, len(slots) - 1))
    slots[asked] = None
    relation = draw(st.integers(0, len(RELATIONS) - 1))
    return Pattern(relation, tuple(slots), tuple(attributes), asked, draw(st.booleans()))


def every_name(facts: list[Fact]) -> Graph:
    names = [Fact(name, RELATIONS[0], ENTITIES[0]) for name in ENTITIES]
    return Graph.of([*names, *(Fact(ENTITIES[0], one, ENTITIES[0]) for one in RELATIONS), *facts])


def fits(slot: int | EntitySet | None, entity: int) -> bool:
    if isinstance(slot, EntitySet):
        return entity in slot
    return slot is None or slot == entity


def find_ways(graph: Graph, pattern: Pattern) -> set[tuple[int, ...]]:
    """The members of the sets and the answer, for each way in which each fact matches."""
    found = set()
    places = [place for place, slot in enumerate(pattern.slots) if isinstance(slot, EntitySet)]
    for row in range(len(graph)):
        subject, relation, object_, pairs = graph.facts.row(row)
        count = len(pattern.attributes)
        if relation != pattern.relation or (pattern.closed and len(pairs) != count):
            continue
        for chosen in permutations(pairs, count):
            values = (subject, object_, *(value for _, value in chosen))
            names = tuple(name for name, _ in chosen)
            if names == pattern.attributes and all(map(fits, pattern.slots, values)):
                found.add((*(values[place] for place in places), values[pattern.asked]))
    return found


@given(st.lists(small_facts, max_size=12), st.lists(patterns(), min_size=1, max_size=4))
@settings(max_examples=150)
def test_all_ways_are_found_and_each_once(facts: list[Fact], some: list[Pattern]) -> None:
    graph = every_name(facts)
    bound = graph.bind_many(Patterns.of(some))
    assert np.all(np.diff(bound.pattern) >= 0)
    for number, pattern in enumerate(some):
        rows = np.flatnonzero(bound.pattern == number)
        sets = sum(isinstance(slot, EntitySet) for slot in pattern.slots)
        ways = [
            (*bound.members[row, :sets].tolist(), int(bound.answer[row])) for row in rows.tolist()
        ]
        assert len(ways) == len(set(ways))
        assert set(ways) == find_ways(graph, pattern)
        assert (bound.members[rows, sets:] == -1).all()


def test_small_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [("a", value) for value in ("x", "y", "z")]
    facts = [Fact(s, "r", o, pairs) for s, o in product("xyz", repeat=2)]
    graph = Graph.of(facts)
    everything = EntitySet.everything()
    a, r = (graph.vocabulary.relations.resolve(name) for name in "ar")
    pattern = Pattern(r, (everything, None, everything, everything), (a, a), 1)
    whole = graph.bind_many(Patterns.of([pattern, pattern]))
    monkeypatch.setattr("nqe.graph.bind_sets.WAYS_BLOCK", 5)
    parted = graph.bind_many(Patterns.of([pattern, pattern]))
    assert len(whole) == 2 * 9 * 6
    assert np.array_equal(whole.members, parted.members)
    assert np.array_equal(whole.answer, parted.answer)


def test_more_ways_than_allowed_are_refused() -> None:
    pairs = [("a", f"v{number}") for number in range(30)]
    graph = Graph.of([Fact("x", "r", "y", pairs)])
    a, r = (graph.vocabulary.relations.resolve(name) for name in "ar")
    everything = EntitySet.everything()
    pattern = Pattern(r, (None, None, everything, everything, everything), (a, a, a), 0)
    assert len(graph.bind_many(Patterns.of([pattern]))) == 30 * 29 * 28
    with pytest.raises(TooManyBindings):
        graph.bind_many(Patterns.of([pattern]), 1_000)

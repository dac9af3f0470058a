"""A graph without some facts answers as one that never had them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import ENTITIES, RELATIONS, small_facts

from nqe.graph import EntitySet, Fact, Graph
from nqe.graph.graph_without import GraphWithout
from nqe.graph.pattern import Pattern, Patterns

EVERY_NAME = [Fact(name, RELATIONS[0], ENTITIES[0]) for name in ENTITIES] + [
    Fact(ENTITIES[0], name, ENTITIES[0]) for name in RELATIONS
]
entities = st.one_of(st.none(), st.integers(0, len(ENTITIES) - 1))


@st.composite
def patterns(draw: st.DrawFn) -> Pattern:
    """A pattern with up to two qualifiers."""
    relation = st.integers(0, len(RELATIONS) - 1)
    attributes = tuple(draw(st.lists(relation, max_size=2)))
    asked = draw(st.integers(0, len(attributes) + 1))
    slots = [draw(entities) for _ in range(len(attributes) + 2)]
    slots[asked] = None
    return Pattern(draw(relation), tuple(slots), attributes, asked, draw(st.booleans()))


@given(st.lists(small_facts, max_size=12), st.lists(patterns(), min_size=1, max_size=4), st.data())
def test_a_graph_without_facts_matches_as_one_that_never_had_them(
    facts: list[Fact], asked: list[Pattern], data: st.DataObject
) -> None:
    graph = Graph.of([*EVERY_NAME, *facts])
    rows = sorted(data.draw(st.sets(st.integers(0, len(graph) - 1))))
    kept = np.setdiff1d(np.arange(len(graph)), rows)
    rest = Graph(graph.vocabulary, graph.facts.take(kept))
    without = GraphWithout.leave_out(graph, np.array(rows, dtype=np.int64))
    assert len(without) == len(rest)
    many = Patterns.of(asked)
    found, wanted = without.match_many(many), rest.match_many(many)
    assert found.answers() == wanted.answers()
    assert found.pattern.tolist() == wanted.pattern.tolist()
    assert found.row.tolist() == kept[wanted.row].tolist()
    one = asked[0]
    assert without.match_one(one) == rest.match_one(one)
    assert without.matches(one).tolist() == kept[rest.matches(one)].tolist()
    assert without.mentions(0).tolist() == kept[rest.mentions(0)].tolist()
    every = np.arange(graph.entity_count)
    for number in range(len(asked)):
        pattern = np.full_like(every, number)
        stood = without.has_stood(many, pattern, every)
        assert stood.tolist() == rest.has_stood(many, pattern, every).tolist()


def test_without_any_facts_nothing_matches() -> None:
    graph = Graph.of([Fact("a", "r", "b")])
    without = GraphWithout.leave_out(graph, np.array([0]))
    assert len(without) == 0
    assert without.answers(Pattern(0, (0, None))) == EntitySet.of([])

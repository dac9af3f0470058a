"""Which entities have stood in a slot of a relation, compared with a look at every fact."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import patterns, small_graphs

from nqe.graph import Fact, Graph, Pattern
from nqe.graph.fact_columns import Facts
from nqe.graph.pattern import OBJECT, SUBJECT, Patterns


def has_stood(graph: Graph, pattern: Pattern, entity: int) -> bool:
    """Look at every fact of the pattern's relation; a qualifier needs the asked attribute."""
    for subject, relation, object_, pairs in map(graph.facts.row, range(len(graph))):
        held = [subject] if pattern.asked == SUBJECT else [object_]
        if pattern.asked > OBJECT:
            held = [value for name, value in pairs if name == pattern.qualifier(pattern.asked)[0]]
        if relation == pattern.relation and entity in held:
            return True
    return False


@given(small_graphs, st.data())
def test_an_entity_has_stood_where_a_fact_of_the_relation_has_it(
    graph: Graph, data: st.DataObject
) -> None:
    sizes = graph.entity_count, graph.relation_count
    asked = data.draw(st.lists(patterns(*sizes), min_size=1, max_size=4))
    number = np.repeat(np.arange(len(asked)), sizes[0])
    entity = np.tile(np.arange(sizes[0]), len(asked))
    found = graph.has_stood(Patterns.of(asked), number, entity)
    pairs = zip(number.tolist(), entity.tolist(), strict=True)
    assert found.tolist() == [has_stood(graph, asked[one], other) for one, other in pairs]


def test_the_attribute_of_a_qualifier_counts() -> None:
    graph = Graph.of([Fact("a", "r", "b", (("s", "c"),)), Fact("a", "t", "b", (("u", "d"),))])
    number, relation = graph.vocabulary.entities.resolve, graph.vocabulary.relations.resolve

    def stood(main: str, attribute: str, entity: str) -> bool:
        pattern = Pattern(relation(main), (None,) * 3, (relation(attribute),), asked=2)
        places = np.zeros(1, dtype=np.int64), np.array([number(entity)])
        return bool(graph.has_stood(Patterns.of([pattern]), *places)[0])

    assert stood("r", "s", "c")
    assert not stood("r", "s", "d")
    assert not stood("r", "u", "d")
    assert stood("t", "u", "d")
    assert not stood("s", "r", "c")


def test_in_a_graph_without_facts_nothing_has_stood_anywhere() -> None:
    graph = Graph(Graph.of([Fact("a", "r", "b")]).vocabulary, Facts.empty())
    pattern = Patterns.of([Pattern(0, (None, None))])
    assert graph.has_stood(pattern, np.array([0, 0]), np.array([0, 1])).tolist() == [False, False]

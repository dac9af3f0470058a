"""Search for names by a text."""

from __future__ import annotations

from nqe.graph import Fact, Graph
from nqe.graph.name_search import find_names


def test_found_names_are_of_both_kinds_with_how_they_were_found() -> None:
    graph = Graph.of([Fact("river", "rivers", "b")])
    found = [(name.kind, name.id, name.how) for name in find_names(graph.vocabulary, "river", 5)]
    assert found == [("relation", "rivers", "prefix"), ("entity", "river", "id")]

"""Drawings of query graphs: every variable once, and every condition with what it connects."""

from __future__ import annotations

from hypothesis import given
from query_cases import FILMS, graph_of, query_graphs

from nqe.graph import Graph
from nqe.query import QueryGraph, parse
from nqe.query.graph_drawing import draw_graph, draw_graph_text
from nqe.query.plan_views import view_plan

VOCABULARY = Graph.of(FILMS).vocabulary
QUESTION = (
    "?x, count ?y: award(?x, Prize; with: ?y) and ?r(?x, Rome) and ?r != award and ?x != ?y "
    "and not (award(?y, Prize; with: ?x) and born(?y, Rome)) and (born(?x, Oslo) or born(?y, Oslo))"
)


def test_the_text_has_one_line_per_condition() -> None:
    assert draw_graph_text(parse(QUESTION).graph, VOCABULARY).split("\n") == [
        "?x, count ?y: all of",
        "├─ award(?x, Prize; with: ?y)",
        "├─ ?r(?x, Rome)",
        "├─ ?r != award",
        "├─ ?x != ?y",
        "├─ not",
        "│  ├─ award(?y, Prize; with: ?x)",
        "│  └─ born(?y, Rome)",
        "└─ or",
        "   ├─ born(?x, Oslo)",
        "   └─ born(?y, Oslo)",
    ]


def test_each_variable_is_one_node_and_each_slot_an_edge() -> None:
    drawing = draw_graph(parse(QUESTION).graph, VOCABULARY)
    kinds = {node.text: node.kind for node in drawing.nodes}
    assert kinds["?x"] == kinds["count ?y"] == "asked"
    assert kinds["?r"] in ("variable", "p")
    assert kinds["?x != ?y"] == "comparison"
    assert kinds["born(?x, Oslo) or born(?y, Oslo)"] == "choice"
    assert [node.text for node in drawing.roots] == ["?x", "count ?y"]
    found = {(edge.source.text, edge.target.text, edge.text) for edge in drawing.edges}
    assert {
        ("award", "count ?y", "with"),
        ("?r", "?r", "relation"),
        ("Rome", "?r", "object"),
    } < found


@given(query_graphs(with_literals=False))
def test_every_variable_and_condition_of_a_query_is_drawn(query: QueryGraph) -> None:
    drawing = draw_graph(query, graph_of([]).vocabulary)
    variables = [node for node in drawing.nodes if node.kind in ("asked", "variable")]
    assert len(variables) == len({*query.asked, *query.scope.variables})
    rest = [node for node in drawing.nodes if node.kind not in ("asked", "variable", "anchor")]
    assert len(rest) == len(query.scope.conditions)
    assert {node.text.removeprefix("count ") for node in drawing.roots} == set(
        map(str, query.asked)
    )


def test_a_tree_is_shown_as_its_plan_and_other_queries_as_their_conditions() -> None:
    tree, other = "?x: born(?x, Rome)", "?x: born(?x, ?y) and award(?y, ?x)"
    assert view_plan(tree, VOCABULARY).text == "shape 1p\n1. ?x = born(?x, Rome)"
    assert view_plan(other, VOCABULARY).text.startswith("?x: all of\n├─ born(?x, ?y)")
    for text in (tree, other):
        view = view_plan(text, VOCABULARY)
        assert "flowchart" in view.mermaid
        assert "<svg" in view.svg

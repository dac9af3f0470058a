"""Drawings of plans as text and as Mermaid."""

from __future__ import annotations

from query_cases import FILMS

from nqe.graph import Fact, Graph
from nqe.query import bind
from nqe.query.drawing import draw_mermaid, draw_text

QUESTION = "?x: award(?x, Prize; with: ?y) and born(?y, Oslo) and not born(?x, Rome)"


def test_the_text_has_one_line_per_step() -> None:
    graph = Graph.of(FILMS)
    assert draw_text(bind(QUESTION, graph.vocabulary), graph.vocabulary).split("\n") == [
        "5. ?x = And",
        "├─ 2. ?x = award(?x, Prize; with: ?y)",
        "│  └─ 1. ?y = born(?y, Oslo)",
        "└─ 4. ?x = Not",
        "   └─ 3. ?x = born(?x, Rome)",
    ]


def test_mermaid_has_every_node_and_every_edge_once() -> None:
    graph = Graph.of(FILMS)
    lines = draw_mermaid(bind(QUESTION, graph.vocabulary), graph.vocabulary).splitlines()
    assert lines[0] == "flowchart LR"
    assert '  s0a1(["Oslo"])' in lines
    assert "  s0 -->|with| s1" in lines
    assert sum("-->" in line for line in lines) == 8


def test_characters_of_mermaids_syntax_are_escaped() -> None:
    graph = Graph.of([Fact("a", "r|[1]", "c")])
    text = draw_mermaid(bind('?x: "r|[1]"(a, ?x)', graph.vocabulary), graph.vocabulary)
    assert '["r#124;#91;1#93;"]' in text

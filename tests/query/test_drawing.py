"""Plans as text tree, Mermaid and SVG."""

from __future__ import annotations

from xml.etree import ElementTree

from formulas import queries
from hypothesis import given
from test_exact import FILMS, fact_lists, graph_of

from nqe.graph import Fact, Graph
from nqe.query import Query, bind
from nqe.query.drawing import draw, draw_mermaid, draw_text
from nqe.query.plan import Op
from nqe.query.svg import draw_svg

QUESTION = "?x: award(?x, Prize; with: ?y) and born(?y, Oslo) and not born(?x, Rome)"
SVG = "{http://www.w3.org/2000/svg}"


def test_the_text_tree_has_a_line_a_step() -> None:
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


def test_signs_of_mermaid_and_xml_are_escaped() -> None:
    graph = Graph.of([Fact('<a> & "b"', "r|[1]", "c")])
    plan = bind('?x: "r|[1]"("<a> & \\"b\\"", ?x)', graph.vocabulary)
    assert "#124;" in draw_mermaid(plan, graph.vocabulary)
    texts = [
        node.text
        for node in ElementTree.fromstring(draw_svg(plan, graph.vocabulary)).iter(f"{SVG}text")
    ]
    assert '<a> & "b"' in texts


@given(fact_lists, queries())
def test_any_plan_draws_as_well_formed_svg_without_overlaps(
    facts: list[Fact], query: Query
) -> None:
    graph = graph_of(facts)
    plan = bind(query, graph.vocabulary)
    drawing = draw(plan, graph.vocabulary)
    picture = ElementTree.fromstring(draw_svg(plan, graph.vocabulary))
    shapes = [*picture.iter(f"{SVG}circle"), *list(picture.iter(f"{SVG}rect"))[1:]]
    assert len(shapes) == len(drawing.nodes)
    assert len(list(picture.iter(f"{SVG}path"))) == len(drawing.edges) + 1
    places = {
        (shape.get("cx") or shape.get("x"), shape.get("cy") or shape.get("y")) for shape in shapes
    }
    assert len(places) == len(shapes)
    steps = [node for node in drawing.nodes if node.step is not None]
    assert len(steps) == len(plan.steps)
    assert all(step.op != Op.PROJECTION or step.slots for step in plan.steps)

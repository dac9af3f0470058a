"""Drawings of plans as SVG."""

from __future__ import annotations

from xml.etree import ElementTree

from hypothesis import given
from query_cases import fact_lists, graph_of, queries, query_graphs

from nqe.graph import Fact, Graph
from nqe.query import Query, QueryGraph, bind
from nqe.query.drawing import draw
from nqe.query.graph_drawing import draw_graph
from nqe.query.plan import Op
from nqe.query.svg import draw_svg, write_svg

SVG = "{http://www.w3.org/2000/svg}"


def test_characters_of_xml_are_escaped() -> None:
    graph = Graph.of([Fact('<a> & "b"', "r", "c")])
    plan = bind('?x: r("<a> & \\"b\\"", ?x)', graph.vocabulary)
    picture = ElementTree.fromstring(draw_svg(plan, graph.vocabulary))
    assert '<a> & "b"' in [node.text for node in picture.iter(f"{SVG}text")]


@given(fact_lists, queries())
def test_any_plan_is_drawn_as_well_formed_svg_without_overlaps(
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


@given(query_graphs(with_literals=False))
def test_any_query_graph_is_drawn_as_well_formed_svg_without_overlaps(query: QueryGraph) -> None:
    drawing = draw_graph(query, graph_of([]).vocabulary)
    picture = ElementTree.fromstring(write_svg(drawing, "a title"))
    shapes = list(picture.iter(f"{SVG}rect"))[1:]
    assert len(shapes) == len(drawing.nodes)
    middles = {
        (float(one.get("x") or 0) + float(one.get("width") or 0) / 2, one.get("y"))
        for one in shapes
    }
    assert len(middles) == len(shapes)


def test_notes_stand_below_their_step_and_those_of_the_last_step_below_the_target() -> None:
    graph = graph_of([])
    plan = bind("?x: r0(?x, ?y) and r1(?y, e0)", graph.vocabulary)
    text = draw_svg(plan, graph.vocabulary, {0: ["below r1"], 1: ["below the target"]})
    at = {
        node.text: float(node.get("x") or 0)
        for node in ElementTree.fromstring(text).iter(f"{SVG}text")
    }
    assert at["below r1"] == at["r1"]
    assert at["below the target"] == at["?x"]

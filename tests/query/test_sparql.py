"""SPARQL: a second engine that runs it over the same facts gives the same answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from query_cases import EVERY_NAME, answer_rows, fact_lists, queries, query_graphs

from nqe.errors import NqeError
from nqe.graph import Fact, Graph
from nqe.query import SHAPES, Plan, Query, QueryGraph, atom, bind, execute, parse, variables
from nqe.query.shapes import parse_shape
from nqe.query.sparql import write_sparql
from nqe.readers import read
from nqe.readers.rdf_names import read_iri
from nqe.sampling import Walker
from nqe.writers.rdf import list_annotation_lines, list_statement_lines

pyoxigraph = pytest.importorskip("pyoxigraph", reason="pyoxigraph, the second engine, is missing")

LINES = {"wikidata": list_statement_lines, "rdf12": list_annotation_lines}
read_literal = pytest.importorskip("nqe.readers.rdf_terms").read_literal
QUERIES_PER_SHAPE = 26
# The second engine takes seconds for a negation over steps with a thousand entities.
LARGEST_SET = 400


def store(graph: Graph, model: str):
    """The facts of a graph in the second engine."""
    engine = pyoxigraph.Store()
    text = "".join(LINES[model](graph))
    engine.bulk_load(text.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
    return engine


def ask(engine, query: QueryGraph, graph: Graph, model: str) -> list[tuple[str, ...]]:
    rows = engine.query(write_sparql(query, graph.vocabulary, model))
    return sorted(tuple(name(value) for value in row) for row in rows)


def name(term) -> str:
    """The id that a term stands for."""
    return read_iri(term.value) if isinstance(term, pyoxigraph.NamedNode) else read_literal(term)


def ask_plan(engine, plan: Plan, graph: Graph, model: str) -> list[str]:
    query = plan.query(graph.vocabulary).graph
    return [entity for (entity,) in ask(engine, query, graph, model)]


def without_repeated_pairs(facts: list[Fact]) -> list[Fact]:
    """The facts as RDF can hold them: a set of triples cannot hold a qualifier twice."""
    return [
        Fact(fact.subject, fact.relation, fact.object, tuple(dict.fromkeys(fact.qualifiers)))
        for fact in facts
    ]


@pytest.mark.parametrize("model", LINES)
@given(fact_lists, queries())
@settings(max_examples=60)
def test_random_trees_have_the_same_answers_in_sparql(
    model: str, facts: list[Fact], query: Query
) -> None:
    graph = Graph.of([*EVERY_NAME, *without_repeated_pairs(facts)])
    result = execute(query, graph)
    assert ask_plan(store(graph, model), result.plan, graph, model) == sorted(result.ids)


@pytest.mark.parametrize("model", LINES)
@given(fact_lists, query_graphs())
@settings(max_examples=100)
def test_queries_that_are_not_trees_have_the_answers_that_enumeration_finds(
    model: str, facts: list[Fact], query: QueryGraph
) -> None:
    graph = Graph.of([*EVERY_NAME, *without_repeated_pairs(facts)])
    assert ask(store(graph, model), query, graph, model) == sorted(answer_rows(query, graph))


@pytest.fixture(scope="module")
def wd50k(shared_data: Path) -> Graph:
    return read(shared_data / "wd50k").graph


@pytest.fixture(scope="module")
def wd50k_store(wd50k: Graph):
    return store(wd50k, "wikidata")


@pytest.mark.xdist_group("wd50k-sparql")
@pytest.mark.parametrize("match", ["open", "closed"])
@pytest.mark.parametrize("name", SHAPES)
def test_random_queries_of_each_shape_over_wd50k_have_the_same_answers_in_sparql(
    name: str, match: str, wd50k: Graph, wd50k_store
) -> None:
    rng = np.random.default_rng(len(name))
    walker = Walker(wd50k, match)
    asked = 0
    while asked < QUERIES_PER_SHAPE:
        plan = walker.draw(parse_shape(name), rng)
        assert plan is not None
        result = execute(plan, wd50k)
        if max(len(one.members) for one in result.sets) > LARGEST_SET:
            continue
        assert ask_plan(wd50k_store, plan, wd50k, "wikidata") == sorted(result.ids)
        asked += 1


def test_ids_with_special_characters_are_escaped() -> None:
    graph = Graph.of([Fact("a/b (c)", "is, or was", "ü%20#", (("when?", "1999-01"),))])
    plan = bind('?x: "is, or was"(?x, "ü%20#"; "when?": 1999-01)', graph.vocabulary)
    for model in LINES:
        assert ask_plan(store(graph, model), plan, graph, model) == ["a/b (c)"]


LITERALS = [
    Fact("a", "born", "1903^^time", (("source", "http://e/x"),)),
    Fact("b", "born", "0044-03-15 BCE^^time", (("when", "190X^^time"),)),
    Fact("c", "size", "5^^number", (("unit", "5 kg^^number"), ("unit", "6 kg^^number"))),
    Fact("http://e/x", "http://e/size", "5^^number", (("http://e/when", r'a "b"\u000a^^text@en'),)),
]


@pytest.mark.parametrize("model", LINES)
@pytest.mark.parametrize(
    "text",
    [
        "?x: born(?x, 1903)",
        "?x: born(?x, ?y; when: 190X)",
        "?y: born(?x, ?y)",
        "?x: size(?x, ?n; unit: ?u, unit: ?v)",
        "?x: only size(?x, 5; unit: ?u, unit: ?v)",
        "?x: only size(?x, 5; unit: ?u)",
        "?u: size(c, 5; unit: ?u)",
        '?x: "http://e/size"(?x, ?n; "http://e/when": ?t) and size(?c, ?n)',
        '?t: "http://e/size"(?x, 5; "http://e/when": ?t)',
        "?x: born(a, ?y; source: ?x)",
        "?x: not born(a, ?x)",
    ],
)
def test_literals_and_iris_have_the_same_answers_in_sparql(model: str, text: str) -> None:
    graph = Graph.of(LITERALS)
    result = execute(text, graph)
    assert ask_plan(store(graph, model), result.plan, graph, model) == sorted(result.ids)


def test_an_unknown_model_lists_the_known_ones() -> None:
    graph = Graph.of(EVERY_NAME)
    with pytest.raises(NqeError, match="choose one of wikidata, rdf12"):
        write_sparql(parse("?x: r0(?x, e0)").graph, graph.vocabulary, "rdf13")


@pytest.mark.parametrize("target", ["st1", "x_2", "p3", "a3", "x2", "ü"])
def test_no_new_name_is_the_name_of_the_target(target: str) -> None:
    graph = Graph.of([Fact("a", "r", "b", (("q", "c"),)), Fact("c", "r", "a"), Fact("b", "r", "a")])
    text = f"?{target}: r(?{target}, ?x) and only r(?x, b; q: ?y) and not r(b, ?{target})"
    for model in LINES:
        result = execute(text, graph)
        assert result.ids == ["b", "c"]
        assert ask_plan(store(graph, model), result.plan, graph, model) == ["b", "c"]


def test_targets_that_differ_only_in_special_letters_get_names_of_their_own() -> None:
    graph = Graph.of([Fact("a", "r", "b")])
    targets = variables("é ü")
    query = QueryGraph.of(targets, atom("r", *targets))
    for model in LINES:
        assert ask(store(graph, model), query, graph, model) == [("a", "b")]

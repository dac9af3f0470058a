"""SPARQL: a second engine, running the rendered query over the same facts, agrees."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from formulas import queries
from hypothesis import given, settings
from test_exact import EVERY_NAME, fact_lists

from nqe.errors import NqeError
from nqe.graph import Fact, Graph
from nqe.query import SHAPES, Plan, Query, bind, execute
from nqe.query.shapes import parse_shape
from nqe.query.sparql import sparql
from nqe.readers import read
from nqe.sampling import Walker
from nqe.writers.rdf import ENTITY, list_annotation_lines, list_statement_lines

pyoxigraph = pytest.importorskip("pyoxigraph", reason="pyoxigraph, the second engine, is missing")

LINES = {"wikidata": list_statement_lines, "rdf12": list_annotation_lines}
# RDF is a set of triples, so a fact cannot have the same pair twice there.
QUERIES_A_SHAPE = 50
# The second engine takes seconds for a negation over steps with a thousand entities.
MOST = 400


def store(graph: Graph, model: str):
    one = pyoxigraph.Store()
    text = "".join(LINES[model](graph))
    one.bulk_load(text.encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
    return one


def ask(engine, plan: Plan, graph: Graph, model: str) -> list[str]:
    rows = engine.query(sparql(plan, graph.vocabulary, model))
    return sorted(unquote(row[0].value.removeprefix(ENTITY)) for row in rows)


def without_twins(facts: list[Fact]) -> list[Fact]:
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
    graph = Graph.of([*EVERY_NAME, *without_twins(facts)])
    result = execute(query, graph)
    assert ask(store(graph, model), result.plan, graph, model) == sorted(result.ids)


@pytest.fixture(scope="module")
def wd50k(shared_data: Path) -> Graph:
    return read(shared_data / "wd50k").graph


@pytest.fixture(scope="module")
def wd50k_store(wd50k: Graph):
    return store(wd50k, "wikidata")


@pytest.mark.xdist_group("wd50k-sparql")
@pytest.mark.parametrize("match", ["open", "closed"])
@pytest.mark.parametrize("name", SHAPES)
def test_fifty_random_queries_of_each_shape_over_wd50k_agree(
    name: str, match: str, wd50k: Graph, wd50k_store
) -> None:
    rng = np.random.default_rng(len(name))
    walker = Walker(wd50k, match)
    asked = 0
    while asked < QUERIES_A_SHAPE // 2 + 1:
        plan = walker.draw(parse_shape(name), rng)
        assert plan is not None
        result = execute(plan, wd50k)
        if max(len(one.members) for one in result.sets) > MOST:
            continue
        assert ask(wd50k_store, plan, wd50k, "wikidata") == sorted(result.ids)
        asked += 1


def test_ids_with_special_signs_stay_themselves() -> None:
    graph = Graph.of([Fact("a/b (c)", "is, or was", "ü%20#", (("when?", "1999-01"),))])
    plan = bind('?x: "is, or was"(?x, "ü%20#"; "when?": 1999-01)', graph.vocabulary)
    for model in LINES:
        assert ask(store(graph, model), plan, graph, model) == ["a/b (c)"]


def test_an_unknown_model_lists_the_known_ones() -> None:
    graph = Graph.of(EVERY_NAME)
    with pytest.raises(NqeError, match="choose one of wikidata, rdf12"):
        sparql(bind("?x: r0(?x, e0)", graph.vocabulary), graph.vocabulary, "rdf13")


@pytest.mark.parametrize("target", ["st1", "x_2", "p3", "a3", "x2", "ü"])
def test_the_name_of_the_target_never_meets_a_name_that_sparql_needs(target: str) -> None:
    graph = Graph.of([Fact("a", "r", "b", (("q", "c"),)), Fact("c", "r", "a"), Fact("b", "r", "a")])
    text = f"?{target}: r(?{target}, ?x) and only r(?x, b; q: ?y) and not r(b, ?{target})"
    for model in LINES:
        result = execute(text, graph)
        assert (
            ask(store(graph, model), result.plan, graph, model) == sorted(result.ids) == ["b", "c"]
        )

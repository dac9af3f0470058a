"""Binding queries to a vocabulary: names are resolved, and what does not fit is refused."""

from __future__ import annotations

import json

import pytest
from query_cases import FILMS

from nqe.errors import NqeError, QueryError
from nqe.graph import Fact, Graph
from nqe.query import Query, bind, execute, parse
from nqe.query.binder import resolve_graph


def test_a_query_may_be_text_json_a_query_or_a_plan() -> None:
    graph = Graph.of(FILMS)
    data = {
        "target": "x",
        "formula": {"relation": "born", "subject": {"variable": "x"}, "object": "Rome"},
    }
    for query in (data, json.dumps(data), Query.from_json(data), bind(data, graph)):
        assert execute(query, graph).ids == ["Ann", "Cid"]
    with pytest.raises(QueryError, match="a query is text, JSON or a Query, not int 5"):
        execute(5, graph)  # type: ignore[arg-type]


def test_a_plan_of_another_graph_is_refused() -> None:
    plan = bind("?x: born(?x, Rome)", Graph.of(FILMS).vocabulary)
    with pytest.raises(NqeError, match="bound to another graph"):
        execute(plan, Graph.of([Fact("a", "r", "b")]))


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(QueryError, match="no relation is called 'borm'; did you mean 'born'"):
        execute("?x: borm(?x, Rome)", Graph.of(FILMS))
    with pytest.raises(QueryError, match="no entity is called 'Romme'; did you mean 'Rome'"):
        execute("?x: born(?x, Romme)", Graph.of(FILMS))


def test_an_underscore_may_stand_for_a_space_of_a_name() -> None:
    graph = Graph.of([Fact("New York", "is in", "USA")])
    assert execute("?x: is_in(New_York, ?x)", graph).ids == ["USA"]


def test_resolving_a_graph_puts_ids_in_place_of_labels() -> None:
    graph = Graph.of([Fact("New York", "is in", "USA", (("since when", "1788"),))])
    query = parse(
        "?x: is_in(?x, USA; since_when: ?y) and not (is_in(?x, New_York) or is_in(?y, ?y))"
    )
    resolved = resolve_graph(query.graph, graph.vocabulary)
    assert str(Query(query.target, resolved.formula)) == (
        '?x: "is in"(?x, USA; "since when": ?y) '
        'and not ("is in"(?x, "New York") or "is in"(?y, ?y))'
    )
    with pytest.raises(QueryError, match="no entity is called 'Utah'"):
        resolve_graph(parse("?x: is_in(?x, Utah)").graph, graph.vocabulary)


def test_a_query_that_only_excludes_entities_has_a_warning() -> None:
    result = execute("?x: not born(?x, Rome)", Graph.of(FILMS))
    assert "Ann" not in result.ids
    assert "Bob" in result.ids
    assert "only what they are not" in result.plan.warnings[0]
    assert not execute("?x: born(?x, Rome)", Graph.of(FILMS)).plan.warnings

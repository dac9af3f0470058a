"""The judge itself, on examples that can be checked by hand."""

from __future__ import annotations

import pytest
from brute_force import compare, compare_with, count_rows, find_rows

from nqe.graph import Fact, Graph
from nqe.query import parse
from nqe.query.binder import resolve_graph

GRAPH = Graph.of(
    [
        Fact("Ann", "member", "House", (("for", "Ohio"), ("since", "1955-03^^time"))),
        Fact("Ann", "member", "Senate", (("for", "Ohio"), ("since", "1960^^time"))),
        Fact("Bob", "member", "House", (("for", "Ohio"), ("since", "1955^^time"))),
        Fact("Bob", "member", "Senate", (("for", "Utah"), ("since", "1954-12-31^^time"))),
        Fact("Ann", "married", "Ann"),
    ]
)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("?x: member(?x, House; for: ?s) and member(?x, Senate; for: ?s)", {("Ann",)}),
        ("?x, ?s: member(?x, Senate; for: ?s)", {("Ann", "Ohio"), ("Bob", "Utah")}),
        ("?x: married(?x, ?x)", {("Ann",)}),
        ("?x: member(?x, House; since: ?t) and ?t <= 1955", {("Ann",), ("Bob",)}),
        ("?x: member(?x, ?h; since: ?t) and ?t < 1955", {("Bob",)}),
        ("?x: member(?x, ?h; since: ?t) and ?t != 1955", {("Ann",), ("Bob",)}),
        (
            "?x, ?y: member(?x, ?h) and member(?y, ?h) and ?x != ?y",
            {("Ann", "Bob"), ("Bob", "Ann")},
        ),
        ("?x: member(?x, House) and not member(?x, Senate; for: Ohio)", {("Bob",)}),
        ("?s: member(?x, House; for: ?s) and not member(?x, Senate; for: ?s)", {("Ohio",)}),
        ("?r: ?r(Ann, ?x) and ?r != member", {("married",)}),
    ],
)
def test_rows_are_those_that_make_the_query_true(text: str, rows: set[tuple[str, ...]]) -> None:
    assert find_rows(resolve_graph(parse(text).graph, GRAPH.vocabulary), GRAPH) == rows


def test_each_entity_is_counted_once_for_its_row() -> None:
    query = resolve_graph(parse("?h, count ?x: member(?x, ?h; for: ?s)").graph, GRAPH.vocabulary)
    assert count_rows(query, GRAPH) == {("House",): 2, ("Senate",): 2}
    query = resolve_graph(parse("count ?s: member(?x, ?h; for: ?s)").graph, GRAPH.vocabulary)
    assert count_rows(query, GRAPH) == {(): 2}


@pytest.mark.parametrize(
    ("left", "holding", "right"),
    [
        ("1955-03^^time", "= <= >=", "1955^^time"),
        ("1955^^time", "= <= >=", "195X^^time"),
        ("1954-12-31^^time", "!= < <=", "1955^^time"),
        ("0044 BCE^^time", "!= < <=", "1955^^time"),
        ("5^^number", "!= < <=", "5.5^^number"),
        ("5 kg^^number", "!=", "6 m^^number"),
        ("5 kg^^number", "!=", "6^^number"),
        ("7 kg^^number", "= <= >=", "5..10 kg^^number"),
        ("10 kg^^number", "!= > >=", "5..10 kg^^number"),
        ("1955^^number", "!=", "1956^^time"),
        ("abc^^text", "!= < <=", "abd^^text@en"),
        ("Ann", "=", "Ann"),
        ("Ann", "!=", "Bob"),
        ("Ann", "!=", "1955^^time"),
    ],
)
def test_two_ids_compare_by_kind_precision_and_unit(left: str, holding: str, right: str) -> None:
    found = [one for one in ("=", "!=", "<", "<=", ">", ">=") if compare(one, left, right)]
    assert found == holding.split()


@pytest.mark.parametrize(
    ("left", "holding", "text"),
    [
        ("1955-03^^time", "= <= >=", "1955"),
        ("1956^^number", "!= > >=", "1955"),
        ("1956 kg^^number", "!= > >=", "1955"),
        ("5 kg^^number", "= <= >=", "5"),
        ("5 kg^^number", "!= < <=", "6 kg"),
        ("5 kg^^number", "!=", "6 m"),
        ("1955^^text", "!=", "1956"),
        ("Ann", "!=", "1956"),
        ("Ann", "=", "Ann"),
        ("1954^^time", "!= < <=", "1955-01-01^^time"),
    ],
)
def test_a_written_value_takes_the_kind_and_the_unit_of_the_other_side(
    left: str, holding: str, text: str
) -> None:
    operators = ("=", "!=", "<", "<=", ">", ">=")
    assert [one for one in operators if compare_with(one, left, text, GRAPH)] == holding.split()

"""The order of rows that a person asks for."""

from __future__ import annotations

import numpy as np
import pytest

from nqe.errors import NqeError
from nqe.graph import Description, Fact, Graph
from nqe.query import execute
from nqe.query.row_order import OrderKey, parse_order, sort_rows
from nqe.query.rows import Row

GRAPH = Graph.of(
    [
        Fact("a", "born", "1955^^time"),
        Fact("b", "born", "1931-05^^time"),
        Fact("c", "born", "0044 BCE^^time"),
        Fact("d", "born", "7^^number"),
        Fact("e", "born", "unknown"),
        Fact("a", "likes", "b"),
        Fact("a", "likes", "c"),
        Fact("b", "likes", "c"),
        Fact("c", "likes", "d"),
        Fact("c", "likes", "e"),
    ]
).describe({"a": Description("Zoe"), "b": Description("adam"), "c": Description("Bea")})


def sort(query: str, order: str) -> list[Row]:
    rows = execute(query, GRAPH)
    targets = rows.columns[: len(rows.numbers)]
    places = sort_rows(parse_order(order), targets, rows.names, rows.numbers, rows.counts)
    return rows.take(places).rows


def test_literals_are_sorted_by_their_values_and_stand_before_others() -> None:
    found = sort("?x, ?d: born(?x, ?d)", "?d")
    assert [x for x, _ in found] == ["c", "b", "a", "d", "e"]
    assert sort("?x, ?d: born(?x, ?d)", "?d desc") == found[::-1]


def test_entities_are_sorted_by_their_labels_whatever_their_case() -> None:
    assert [x for x, _ in sort("?x, ?d: born(?x, ?d)", "?x")] == ["b", "c", "d", "e", "a"]


def test_equal_rows_stay_in_the_order_of_their_ids() -> None:
    found = sort("?x, count ?y: likes(?x, ?y)", "count desc")
    assert found == [("a", 2), ("c", 2), ("b", 1)]
    assert sort("?x, count ?y: likes(?x, ?y)", "COUNT DESC, ?x") == [("c", 2), ("a", 2), ("b", 1)]


def test_the_sorted_rows_are_the_same_rows() -> None:
    for order in ("?y", "?x desc, ?y", "?y desc,?x"):
        found = sort("?x, ?y: likes(?x, ?y)", order)
        assert sorted(found) == execute("?x, ?y: likes(?x, ?y)", GRAPH).rows


def test_a_variable_called_count_is_told_from_the_count() -> None:
    assert parse_order("?count desc, count") == (OrderKey("?count", True), OrderKey("count"))
    found = sort("?count, count ?y: likes(?count, ?y)", "?count desc")
    assert found == [("a", 2), ("c", 2), ("b", 1)]


def test_nothing_is_sorted_without_rows() -> None:
    empty = np.zeros(0, dtype=np.int64)
    names = (GRAPH.vocabulary.entities,)
    assert sort_rows(parse_order("?x"), ("x",), names, (empty,)).tolist() == []


@pytest.mark.parametrize("order", ["", "x", "?x up", "?x,", "?x ?y", "counts", "1"])
def test_what_names_no_column_is_refused(order: str) -> None:
    with pytest.raises(NqeError, match="is no order; name columns as in"):
        parse_order(order)


@pytest.mark.parametrize(
    ("query", "order", "message"),
    [
        ("?x, ?y: likes(?x, ?y)", "?z", r"no column \?z to sort by; name \?x, \?y$"),
        ("?x, ?y: likes(?x, ?y)", "count", r"no column count to sort by; name \?x, \?y$"),
        ("?x, count ?y: likes(?x, ?y)", "?y", r"no column \?y to sort by; name \?x, count$"),
    ],
)
def test_an_order_by_what_is_not_asked_for_names_the_columns(
    query: str, order: str, message: str
) -> None:
    with pytest.raises(NqeError, match=message):
        sort(query, order)

"""Comparisons of many pairs, against the judge and by example."""

from __future__ import annotations

import numpy as np
import pytest
from brute_force import compare, compare_with
from hypothesis import given
from hypothesis import strategies as st

from nqe.errors import InputError
from nqe.graph import Fact, Graph
from nqe.graph.literals import Text, to_id
from nqe.graph.number_values import parse_number
from nqe.graph.time_values import parse_time
from nqe.query import execute, parse
from nqe.query.compared_values import read_value
from nqe.query.comparisons import LiteralOrder
from nqe.query.formula import OPERATORS
from nqe.query.graph_drawing import draw_graph

# Few values, so that spans lie within each other, touch, overlap and are the same.
_years = st.sampled_from(["1955", "195X", "19XX", "1955-03", "1955-03-01", "1954-12-31", "1956"])
_moments = st.sampled_from(["1955-03-01T12:00:00", "1955-03-01T12:00:00.5", "0044 BCE", "004X BCE"])
times = st.one_of(_years, _moments).map(parse_time)
# The larger ones are the same as floating-point numbers.
_digits = st.sampled_from(
    ["5", "5.5", "10", "9007199254740992", "9007199254740993", "9007199254740994", "0.1"]
)
_bands = st.sampled_from(["5..10", "8..20", "10..20", "9007199254740992..9007199254740994"])
_units = st.sampled_from(["", " kg", " m"])
numbers = st.builds(lambda one, unit: parse_number(one + unit), st.one_of(_digits, _bands), _units)
texts = st.builds(Text, st.sampled_from(["", "a", "b", "B", "ä"]), st.sampled_from([None, "en"]))
literals = st.one_of(times, numbers, texts).map(to_id)
names = st.one_of(literals, literals, st.sampled_from(["e1", "e2", "1955"]))
operators = st.sampled_from(OPERATORS)
written = st.one_of(
    names,
    st.sampled_from(["1955", "1955-03", "5", "5 kg", "9007199254740993", "e1", "5..10", "1956"]),
)


def graph_of(found: list[str]) -> Graph:
    return Graph.of(Fact("e1", "r", name) for name in ("e1", "e2", *found))


def to_numbers(graph: Graph, found: list[str]) -> np.ndarray:
    return np.array([graph.vocabulary.entities.resolve(one) for one in found], dtype=np.int64)


@given(st.lists(st.tuples(names, names), min_size=1, max_size=12), operators)
def test_pairs_are_compared_as_the_judge_compares_them(
    pairs: list[tuple[str, str]], operator: str
) -> None:
    left, right = map(list, zip(*pairs, strict=True))
    graph = graph_of([*left, *right])
    order = LiteralOrder(graph.vocabulary.entities)
    found = order.compare(to_numbers(graph, left), to_numbers(graph, right)).fits(operator)
    assert found.tolist() == [compare(operator, one, other) for one, other in pairs]


@given(st.lists(names, min_size=1, max_size=12), operators, written)
def test_entities_are_compared_with_a_value_as_the_judge_compares_them(
    left: list[str], operator: str, text: str
) -> None:
    graph = graph_of(left)
    if operator not in ("=", "!=") and text in ("e1", "e2"):
        return  # what has no order is refused when it is read
    try:
        value = read_value(text, operator, graph.vocabulary.entities)
    except InputError:
        return
    order = LiteralOrder(graph.vocabulary.entities)
    found = order.compare_with(to_numbers(graph, left), value).fits(operator)
    assert found.tolist() == [compare_with(operator, one, text, graph) for one in left]


LIVES = Graph.of(
    [
        Fact("Ann", "born", "1955-03^^time"),
        Fact("Bob", "born", "1955^^time"),
        Fact("Cid", "born", "19XX^^time"),
        Fact("Dan", "born", "unknown"),
        Fact("Eva", "born", "7^^number"),
        Fact("Ann", "height", "170 cm^^number"),
        Fact("Bob", "height", "1.8 m^^number"),
        Fact("Cid", "height", "160 cm^^number"),
        Fact("Ann", "motto", "abc^^text"),
        Fact("Bob", "motto", "abd^^text@en"),
    ]
)


@pytest.mark.parametrize(
    ("query", "expected", "notes"),
    [
        ("?x: born(?x, ?d) and ?d <= 1955", "Ann Bob Cid Eva", 1),
        ("?x: born(?x, ?d) and ?d < 1955", "Eva", 1),
        ("?x: born(?x, ?d) and ?d = 1955-03-07", "Ann Bob Cid", 0),
        ("?x: born(?x, ?d) and ?d != 1955", "Dan Eva", 0),
        ("?x: born(?x, ?d) and ?d != unknown", "Ann Bob Cid Eva", 0),
        ("?x: born(?x, ?d) and ?d > 1954-12-31", "Ann Bob", 1),
        ("?x: height(?x, ?h) and ?h > 165", "Ann", 0),
        ('?x: height(?x, ?h) and ?h > "165 cm"', "Ann", 1),
        ("?x: motto(?x, ?m) and ?m < abd", "Ann", 0),
        ("?x, ?y: height(?x, ?h) and height(?y, ?i) and ?h < ?i", "Cid-Ann", 1),
        ("?x, ?y: born(?x, ?d) and born(?y, ?e) and ?d < ?e", "", 1),
    ],
)
def test_a_comparison_means_what_it_says(query: str, expected: str, notes: int) -> None:
    rows = execute(query, LIVES)
    assert " ".join("-".join(map(str, row)) for row in rows.rows) == expected
    assert len(rows.warnings) == notes


def test_a_note_and_a_drawing_show_a_value_as_people_write_it() -> None:
    query = '?x: height(?x, ?h) and ?h > "165.0 cm" and ?h != 1955^^time'
    [note] = execute(query, LIVES).warnings
    assert note.startswith('?h > "165 cm" skipped')
    drawn = [node.text for node in draw_graph(parse(query).graph, LIVES.vocabulary).nodes]
    assert '?h > "165 cm"' in drawn
    # Without its kind it might be a number.
    assert "?h != 1955^^time" in drawn


def test_a_note_says_how_many_values_have_no_order() -> None:
    rows = execute("?x: born(?x, ?d) and ?d < 1955^^time", LIVES)
    assert rows.warnings == ("?d < 1955^^time skipped 2 values of another kind or unit",)
    rows = execute("?x, ?y: height(?x, ?h) and height(?y, ?i) and ?h < ?i", LIVES)
    assert rows.warnings == ("?h < ?i skipped 4 pairs of another kind or unit each",)


def test_a_note_says_that_a_graph_has_no_values_to_compare() -> None:
    years = Graph.of([Fact("a", "p", "1999")])
    [note] = execute("?x: p(?x, ?y) and ?y >= 1999", years).warnings
    assert note.startswith("?y >= 1999 skipped 1 value: this graph has no times")
    [note] = execute("?x, ?y: p(?x, ?y) and ?x < ?y", years).warnings
    assert note.startswith("?x < ?y skipped 1 pair: this graph has no times")

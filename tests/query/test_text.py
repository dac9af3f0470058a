"""The text syntax: rendering then parsing gives the same query, and errors name the place."""

from __future__ import annotations

import pytest
from hypothesis import given
from query_cases import any_queries

from nqe.errors import QueryError
from nqe.query import Query, parse


@given(any_queries)
def test_text_of_a_query_parses_to_the_same_query(query: Query) -> None:
    assert parse(query.text) == query


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("?x: p(?x, a) & !q(?x, b) | r(?x, c)", "?x: (p(?x, a) and (not q(?x, b))) or r(?x, c)"),
        ("?x: not p(?x, a) and q(?x, b)", "?x: (not p(?x, a)) and q(?x, b)"),
        ("?x:p(?x,a;b:c)", "?x : p ( ?x , a ; b : c )"),
        ('?x: "p"(?x, "a")', "?x: p(?x, a)"),
        ("?x: order(?x, android)", '?x: "order"(?x, "android")'),
    ],
)
def test_a_query_can_be_written_in_several_ways(one: str, other: str) -> None:
    assert parse(one) == parse(other)


def test_only_brackets_that_are_needed_are_rendered() -> None:
    text = "?x: p(?x, a) and (q(?x, b) or not (r(?x, c) and s(?x, d)))"
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "column", "hint"),
    [
        ("", 1, "begins with its target variable"),
        ("borders(?x, a)", 1, "begins with its target variable"),
        ("?x", 3, "expected ':'"),
        ("?x: p(?x, a", 12, "expected ')' or ';'"),
        ("?x: p(?x)", 9, "expected ','"),
        ("?x: p(?x, a) and", 17, "a name"),
        ("?x: p(?x, a) q(?x, b)", 14, "'and' or 'or'"),
        ("?x: p(?x, a;)", 13, "a name or a quoted name"),
        ('?x: p(?x, "a)', 11, "the quote is not closed"),
        ("?x: p(?x, [a])", 11, "a ?variable or a name"),
    ],
)
def test_a_syntax_error_points_at_the_place_and_says_what_was_expected(
    text: str, column: int, hint: str
) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    message, shown, caret = str(caught.value).split("\n")
    assert f"column {column}" in message
    assert hint in message
    assert shown.strip() == text.strip()
    assert caret.index("^") - 2 == column - 1


def test_an_error_in_a_later_line_names_the_line() -> None:
    with pytest.raises(QueryError, match="line 2, column 5"):
        parse("?x: p(?x, a)\nand )")


@pytest.mark.parametrize(
    ("text", "shown", "cells"),
    [
        ("?x:\tp(?x)", r"?x:\tp(?x)", 9),
        ("?x: \x1b[31m)", r"?x: \x1b[31m)", 8),
        ("?x: 漢字(?x)", "?x: 漢字(?x)", 11),
        ("?x: p(?x,\r\n\u2028a))", r"\u2028a))", 8),
        ("?x: e\u0301(?x)", "?x: e\u0301(?x)", 8),
    ],
)
def test_the_caret_stands_below_the_error_as_a_terminal_shows_the_line(
    text: str, shown: str, cells: int
) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    _, line, caret = str(caught.value).split("\n")
    assert line == f"  {shown}"
    assert caret == f"  {' ' * cells}^"

"""The text syntax: rendering then parsing gives the same query, and errors name the place."""

from __future__ import annotations

import pytest
from hypothesis import given
from query_cases import any_queries

from nqe.errors import QueryError
from nqe.query import Query, atom, comparison, parse, variables


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
        ("?x : count(?x, count)", '?x: "count"(?x, "count")'),
        ("?x,?y:p(?x,?y)", "?x , ?y : p(?x, ?y)"),
        ("?y,count ?x:p(?x,?y)", "?y, count ?x: p(?x, ?y)"),
        ("?x: p(?x, ?y) and ?y>=1999", "?x: p(?x, ?y) and 1999 <= ?y"),
        ("?x: p(?x, ?y) and ?y!=?x", "?x: p(?x, ?y) and ?y != ?x"),
        ("?x: p(?x, ?y) and (?y=a|!?y<5)", "?x: p(?x, ?y) and (?y = a or not ?y < 5)"),
        ('?x: p(?x, ?y) and ?y < "<5"', '?x: p(?x, ?y) and "<5" > ?y'),
        ("?x: ?r (?x, a) and ?r!=p", "?x: ?r(?x, a) and p != ?r"),
    ],
)
def test_a_query_can_be_written_in_several_ways(one: str, other: str) -> None:
    assert parse(one) == parse(other)


@pytest.mark.parametrize("name", ["a=b", "a<b", "a<=", "<=", "=", ">a", "1999", "a>b(c"])
def test_a_name_may_have_the_signs_of_operators_in_it(name: str) -> None:
    (x,) = variables("x")
    for built in (Query(x, atom(name, x, name)), Query(x, comparison(x, "<=", name))):
        assert parse(str(built)) == built
    if "(" not in name:
        assert parse(f"?x: {name}(?x, {name}; {name}: {name})") == Query(
            x, atom(name, x, name, {name: name})
        )


def test_an_operator_after_a_name_stands_between_spaces() -> None:
    assert parse("?x: a=(?x, b) and a = ?x").text == "?x: a=(?x, b) and ?x = a"
    with pytest.raises(QueryError, match="put spaces around <=, because names can have such"):
        parse("?x: p(?x, ?y) and 1999<=?y")


def test_names_that_could_be_taken_for_operators_or_keywords_are_rendered_in_quotes() -> None:
    text = '?count, count ?x: "count"(?x, "<=") and ?count != "and" and "="(?x, a=b)'
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("?x: p(?x, a) AND q(?x, b)", "'AND' is written and"),
        ("?x: p(?x, a) Or q(?x, b)", "'Or' is written or"),
        ("?x: NOT p(?x, a)", "'NOT' is written not"),
        ("?x: Only p(?x, a)", "'Only' is written only"),
        ("?x: p(?x, a) && q(?x, b)", "'&&' is written and"),
        ("?x: p(?x, a) || q(?x, b)", "'||' is written or"),
        ("?x: p(?x, a) .", "no point ends them"),
        ("?x: p(?x, a) . q(?x, b)", "parts are joined by and"),
        ("?x: p(?x, ?y) and FILTER(?y > 5)", "a filter is a part like others"),
        ("?x: p(?x, ?y) filter(?y > 5)", "a filter is a part like others"),
        ("?x: p(?x, ?y) . FILTER NOT EXISTS { q(?x, a) }", "parts are joined by and"),
        ("?x: p(?x, ?y) MINUS { q(?x, a) }", "write not ( … )"),
        ("?x: p(?x, ?y) UNION q(?x, a)", "UNION is written or"),
        ("?x: OPTIONAL { p(?x, a) }", "there is no OPTIONAL"),
        ("SELECT ?x WHERE { ?x p a }", "there is no WHERE"),
        ("select distinct ?x { ?x p a }", "there is no WHERE"),
        ("?x ?y WHERE { ?x p ?y }", "targets are separated by ','"),
        ("?x ?y: p(?x, ?y)", "targets are separated by ','"),
        ("?x, DISTINCT ?y: p(?x, ?y)", "every answer is given once"),
        ("COUNT(?x): p(?x, a)", "count ?x: … counts"),
        ("count(?x): p(?x, a)", "count ?x: … counts"),
        ("(COUNT(?x) AS ?n): p(?x, a)", "count ?x: … counts"),
        ("count ?x, ?y: p(?x, ?y)", "count ?x: … counts"),
        ("?x: COUNT(?x) > 5", "count ?x: … counts"),
        ("?x: p(?x, a) GROUP BY ?x", "counts for each ?y"),
        ("?x: p(?x, a) LIMIT 10", "is an option, no part of a query"),
        ("?x: p(?x, a) order by ?x", "is an option, no part of a query"),
        ("PREFIX wd: <http://e/> SELECT ?x { ?x p wd:Q5 }", "there are no prefixes"),
        ("?x: p(?x, wd:Q5)", "there are no prefixes; write Q5 in place of wd:Q5"),
        ("?x: p(?x, <http://e/Q5>)", 'a name with a colon stands in quotes: "http://e/Q5"'),
        ("?x: p(?x, ?y) and ?y > 1999-01-01T12:30:00", 'quotes: "1999-01-01T12:30:00"'),
        ("?x: ?x borders France", "a fact is written relation(subject, object)"),
        ("?x: borders(?x, South Korea)", 'stands in double quotes: "South Korea"'),
        ("?x: borders(?x, 'South Korea')", 'stands in double quotes: "South Korea"'),
        ("?x: p(?x, a; ?q: b)", "an attribute is always named"),
        ("?x: p(?x, ?y) and ?y == 5", "'==' is written ="),
        ("?x: p(?x, ?y) and ?y <> 5", "'<>' is written !="),
        ("?x: p(?x, ?y) and ?y => 5", "'=>' is written >="),
        ("?x: p(?x, ?y) and ?y ≥ 5", "'≥' is written >="),
        ("?x: p(?x, ?y) and ?y + 1 > 5", "there are no functions and no arithmetic"),
        ("?x: p(?x, ?y) and year(?y) > 1999", "there are no functions and no arithmetic"),
        ("?x: p(?x, ?y) and ?y IN (a, b)", "write (?y = a or ?y = b)"),
        ("?x: p(?x, ?y) and a < b", "a < b compares two names; compare a variable"),
        ("?y, count ?x: p(?x, ?y) and count > 5", "answers cannot be chosen by a count"),
        ("?y: p(?x, ?y) and count(?x) > 5", "count ?x: … counts"),
        ("?n: count(p(?x, a))", "count ?x: … counts"),
        ("how many ?x: p(?x, a)", "count ?x: … counts"),
    ],
)
def test_what_is_written_by_habit_from_sparql_is_told_how_it_is_written_here(
    text: str, hint: str
) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("?x: p(?x, not a)", "any other than France, compare a variable"),
        ("?x: p(?x, !a)", "any other than France, compare a variable"),
        ("?x: p(?x, !=a)", "any other than France, compare a variable"),
        ("?x: p(?x, a; year: > 1999)", "comparisons stand outside of atoms"),
        ("?x: p(?x, a; year > 1999)", "comparisons stand outside of atoms"),
        ("?x: p(?x, a; year: ?y > 1999)", "comparisons stand outside of atoms"),
        ("?x: p(?x, a, b)", "further names are qualifiers after ';'"),
        ("?x: p(?x)", "an atom has a subject and an object"),
        ("?x: p(?x, a), q(?x, b)", "parts are joined by and"),
        ("?x: p(?x, ?y) and ?y != a, b", "each comparison has one value"),
        ("?x: p(?x, ?y) and ?y != (a or b)", "each comparison has one value"),
        ("?x: p(?x, ?y) and ?y = (a)", "each comparison has one value"),
        ("?x: p(?x, ?y) and 1999 < ?y < 2005", "a range is two comparisons"),
        ("?x: p(?x, ?y) and ?y > 1999 and < 2005", "a range is two comparisons"),
        ("?x: p(?x, ?y) and ?y between 1999 and 2005", "a range is two comparisons"),
        ("?x: p(?x, ?y) and ?y after 1999", "is ?y > 1999"),
        ("?x: p(?x, ?y) and ?y before 1999", "is ?y < 1999"),
        ("?x: p(?x, ?y) and ?y is not a", "is ?x = France, any other ?x != France"),
        ("?x: p(?x, ?y) and ?y not a", "any other than France is ?x != France"),
        ("?x: p(?x, a) and ?x before b", "before 1999"),
    ],
)
def test_what_is_misplaced_is_told_how_it_is_written(text: str, hint: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("?x: p(?x, limit b)", '"limit b"'),
        ("?x: p(?x, is b)", '"is b"'),
        ("?x: p(?x, a before)", '"a before"'),
        ("?x: not (p(?x, a) q(?x, b))", "expected"),
        ("?x: year(?x b)", "expected ','"),
        ("?x: order(?x, a, b)", "further names are qualifiers"),
        ("?x: union(?x, in c)", '"in c"'),
    ],
)
def test_a_name_that_is_a_word_of_sparql_is_not_taken_for_it(text: str, hint: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ('?x: p(?x, "a)', True),
        ('?x: p(?x, "a) and q(?x, "b")', True),
        (r'?x: p(?x, "a\")', True),
        ('?x: p(?x, a) "b"', False),
        ('?x: p(?x, "a" "b")', False),
        (r'?x: p("\"", "a") "b"', False),
    ],
)
def test_only_a_quote_that_is_not_closed_is_said_to_be_open(text: str, is_open: bool) -> None:
    with pytest.raises(QueryError) as caught:
        parse(text)
    assert ("quote is not closed" in str(caught.value)) == is_open


def test_only_brackets_that_are_needed_are_rendered() -> None:
    text = "?x: p(?x, a) and (q(?x, b) or not (r(?x, c) and s(?x, d)))"
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "column", "hint"),
    [
        ("", 1, "begins with its target variable"),
        ("borders(?x, a)", 1, "begins with its target variable"),
        ("?x", 3, "expected ',' or ':'"),
        ("?x: p(?x, a", 12, "expected ')' or ';'"),
        ("?x: p(?x)", 9, "an atom has a subject and an object"),
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

"""Text and JSON: rendering then reading gives the same query, and errors say where and what."""

from __future__ import annotations

import json

import pytest
from formulas import queries
from hypothesis import given
from hypothesis import strategies as st

from nqe.errors import QueryError
from nqe.query import And, Atom, Not, Or, Query, atom, parse, variables
from nqe.query.formula import Formula, Variable

any_names = st.text(min_size=1)
any_variables = st.from_regex(r"\w+", fullmatch=True).map(Variable)
any_terms = st.one_of(any_names, any_variables)
any_atoms = st.builds(
    Atom,
    any_names,
    any_terms,
    any_terms,
    st.lists(st.tuples(any_names, any_terms), max_size=3).map(tuple),
    st.booleans(),
)


def _nested(inner: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    parts = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(st.builds(And, parts), st.builds(Or, parts), st.builds(Not, inner))


any_queries = st.builds(Query, any_variables, st.recursive(any_atoms, _nested, max_leaves=6))


@given(any_queries)
def test_text_of_a_query_parses_to_the_same_query(query: Query) -> None:
    assert parse(query.text) == query


@given(any_queries)
def test_json_of_a_query_reads_as_the_same_query(query: Query) -> None:
    assert Query.from_json(query.to_json()) == query
    assert Query.from_json(json.dumps(query.to_json())) == query


@given(queries())
def test_python_text_and_json_convert_into_each_other(query: Query) -> None:
    assert Query.from_json(parse(str(query)).to_json()) == query


def test_builders_make_what_the_text_says() -> None:
    x, y = variables("x y")
    award = atom("award_received", x, "Nobel Prize in Physics", together_with=y)
    built = Query(x, award & atom("citizen_of", y, "Germany") & ~atom("educated_at", x, "MIT"))
    assert built == parse(
        '?x: award_received(?x, "Nobel Prize in Physics"; together_with: ?y) '
        "and citizen_of(?y, Germany) and not educated_at(?x, MIT)"
    )
    assert Query(x, (atom("p", x, "a") | atom("q", x, "b")).parts[1].only()) == parse(
        "?x: only q(?x, b)"
    )


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
def test_the_same_query_can_be_written_in_several_ways(one: str, other: str) -> None:
    assert parse(one) == parse(other)


def test_brackets_are_kept_only_where_they_matter() -> None:
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
    said, shown, caret = str(caught.value).split("\n")
    assert f"column {column}" in said
    assert hint in said
    assert shown.strip() == text.strip()
    assert caret.index("^") - 2 == column - 1


def test_an_error_in_a_later_line_names_the_line() -> None:
    with pytest.raises(QueryError, match="line 2, column 5"):
        parse("?x: p(?x, a)\nand )")


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ("{", "not JSON"),
        ([], "the query"),
        ({"target": "x"}, "formula"),
        ({"target": "x", "formula": {"and": []}}, "formula.and"),
        ({"target": "x", "formula": {"relation": "p", "subject": 3, "object": "a"}}, "subject"),
        ({"target": "x", "formula": {"not": {"relation": "p"}}}, "formula.not"),
        ({"target": "x y", "formula": {"relation": "p", "subject": "a", "object": "b"}}, "x y"),
    ],
)
def test_wrong_json_is_told_by_its_place(data: object, place: str) -> None:
    with pytest.raises(QueryError, match=place.replace(".", r"\.")):
        Query.from_json(data)


def test_an_and_of_one_part_is_refused() -> None:
    with pytest.raises(QueryError, match="`and` joins two or more parts, not 1"):
        And((Atom("p", "a", "b"),))


def test_formulas_are_not_joined_by_words_of_python() -> None:
    (x,) = variables("x")
    with pytest.raises(QueryError, match=r"joined by &, \| and ~"):
        bool(atom("p", x, "a"))


def test_what_is_no_term_is_refused() -> None:
    (x,) = variables("x")
    with pytest.raises(QueryError, match="5 in p"):
        atom("p", x, 5)  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="is not a variable"):
        Query("x", atom("p", x, "a"))  # type: ignore[arg-type]

"""Queries to endpoints: their form, their own limits, and the queries for pages of them."""

from __future__ import annotations

import pytest

from nqe.errors import InputError
from nqe.readers.sparql_query import CONSTRUCT, SELECT, parse_query


def page(text: str) -> str:
    return " ".join(parse_query(text).write_page(10, 30).split())


def count(text: str) -> str:
    return " ".join(parse_query(text).write_count(10, 30).split())


def test_a_page_is_the_query_with_a_limit_and_an_offset() -> None:
    assert page("SELECT * { ?s ?p ?o }") == "SELECT * { ?s ?p ?o } LIMIT 10 OFFSET 30"


def test_a_comment_at_the_end_does_not_hide_the_limit() -> None:
    written = parse_query("SELECT * { ?s ?p ?o } # all").write_page(10, 0)
    assert written.splitlines()[-1] == "LIMIT 10 OFFSET 0"


def test_limits_stand_before_values() -> None:
    text = "SELECT * { ?s ?p ?o } ORDER BY ?s VALUES ?s { <a> }"
    expected = "SELECT * { ?s ?p ?o } ORDER BY ?s LIMIT 10 OFFSET 30 VALUES ?s { <a> }"
    assert page(text) == expected


def test_the_query_s_own_limits_are_taken_out_and_known() -> None:
    query = parse_query("select * { ?s ?p ?o } offset 4 limit 20")
    assert (query.form, query.limit, query.offset) == (SELECT, 20, 4)
    assert page("select * { ?s ?p ?o } offset 4 limit 20") == (
        "select * { ?s ?p ?o } LIMIT 10 OFFSET 30"
    )


@pytest.mark.parametrize(
    "inside",
    [
        "{ SELECT * { ?a ?b ?c } ORDER BY ?a LIMIT 3 OFFSET 4 }",
        '?s <http://e/LIMIT#ORDER> "LIMIT 5 } ORDER BY"',
        "?s ?p '''LIMIT 5 } '' \\' ORDER'''",
        "?s limit:LIMIT order:ORDER # LIMIT 5 } ORDER BY ?s\n",
        '?s ?p """ " LIMIT 5 } \\""" ORDER"""@en',
        "?s ?LIMIT $ORDER FILTER(?o < 5 && ?p > 3)",
    ],
)
def test_what_looks_like_a_limit_or_an_order_inside_is_none(inside: str) -> None:
    query = parse_query(f"PREFIX limit: <http://limit/> SELECT * WHERE {{ {inside} }}")
    assert (query.limit, query.offset, query.is_ordered) == (None, 0, False)
    assert " ".join(inside.split()) in page(f"SELECT * WHERE {{ {inside} }}")


def test_the_solutions_of_a_construct_are_counted_by_a_select() -> None:
    text = (
        "PREFIX : <http://e/> CONSTRUCT { ?s :p [ :q ?o ] . } FROM <g> WHERE { ?s ?p ?o } LIMIT 9"
    )
    assert parse_query(text).form == CONSTRUCT
    assert count(text) == (
        "PREFIX : <http://e/> SELECT (1 AS ?nqe_solution) FROM <g> WHERE { ?s ?p ?o } "
        "LIMIT 10 OFFSET 30"
    )


def test_a_construct_without_a_template_is_counted_too() -> None:
    assert count("CONSTRUCT WHERE { ?s ?nqe_solution ?o }") == (
        "SELECT (1 AS ?nqe_solution_) WHERE { ?s ?nqe_solution ?o } LIMIT 10 OFFSET 30"
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("ASK { ?s ?p ?o }", "ASK gives no facts"),
        ("DESCRIBE <http://e/a>", "DESCRIBE gives no facts"),
        ("PREFIX : <http://e/> insert data { :a :b :c }", "INSERT gives no facts"),
        ("a,b,c\n", "neither SELECT nor CONSTRUCT"),
        ("", "neither SELECT nor CONSTRUCT"),
        ("{ SELECT * { ?s ?p ?o } }", "neither SELECT nor CONSTRUCT"),
        ("SELECT * { ?s ?p ?o ", "not closed"),
        ("SELECT * } { ?s ?p ?o }", "not opened"),
        ("SELECT * { ?s ?p ?o } LIMIT", "LIMIT has no number"),
        ("SELECT * { ?s ?p ?o } OFFSET ?x", "OFFSET has no number"),
    ],
)
def test_what_is_no_select_or_construct_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_query(text)

"""Asking for one target of a query, with the entities of a row in place of the others."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from query_cases import fact_lists, graph_of

from nqe.graph import Fact
from nqe.query import Variable, execute, parse
from nqe.sampling.row_query import ask_for, fix_all_but

TWO_TARGETS = (
    "?x, ?y: r0(?x, ?y) and r1(?x, e0) and r2(?y, e1)",
    "?x, ?y: r0(?x, ?z) and r0(?y, ?z) and ?x != ?y",
    "?x, ?y: r0(?x, ?y) and r1(?y, ?z) and not r2(?x, ?z)",
    "?x, ?y: r0(?x, ?y; r1: ?z) and (r1(?z, ?x) or r2(?y, ?z))",
    "?x, ?y: r0(?x, ?z) and r1(?z, ?y) and r2(?y, ?w) and r0(?w, e2)",
)


@pytest.mark.parametrize(
    ("text", "target", "asked"),
    [
        ("?x, ?y: p(?x, ?y) and q(?x, A) and r(?y, B)", "x", "?x: p(?x, two) and q(?x, A)"),
        ("?x, ?y: p(?x, ?y) and q(?x, A) and r(?y, B)", "y", "?y: p(one, ?y) and r(?y, B)"),
        ("?x, ?y: p(?x, ?y) and ?x < ?y", "y", "?y: p(one, ?y) and ?y > one"),
        ("?x, ?y: p(?x, ?y) and q(?y, ?z) and r(?z, B)", "x", "?x: p(?x, two)"),
        ("?x, ?y: p(?x, ?y) and not q(?x, ?y)", "x", "?x: p(?x, two) and not q(?x, two)"),
        ("?x: p(?x, ?z) and q(?z, ?x)", "x", "?x: p(?x, ?z) and q(?z, ?x)"),
    ],
)
def test_what_still_concerns_the_target_is_asked(text: str, target: str, asked: str) -> None:
    values = {Variable("x"): "one", Variable("y"): "two"}
    del values[Variable(target)]
    assert ask_for(parse(text), Variable(target), values).text == asked


@given(st.sampled_from(TWO_TARGETS), fact_lists)
@settings(max_examples=60)
def test_the_answers_for_one_target_are_the_rows_with_the_same_others(
    text: str, facts: list[Fact]
) -> None:
    graph, query = graph_of(facts), parse(text)
    rows = set(execute(query, graph).rows)
    for row in rows:
        for place, target in enumerate(query.targets):
            other = query.targets[1 - place]
            single = ask_for(query, target, {other: row[1 - place]})
            expected = {one[place] for one in rows if one[1 - place] == row[1 - place]}
            assert set(execute(single, graph).ids) == expected
            assert set(fix_all_but(query, target).targets) <= set(query.targets)

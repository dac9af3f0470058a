"""Substitution puts ids in place of variables, in every kind of condition."""

from __future__ import annotations

import pytest

from nqe.errors import QueryError
from nqe.query import Variable, parse
from nqe.query.query_graph import to_formula
from nqe.query.substitution import substitute
from nqe.query.text import render_formula

X, Y = Variable("x"), Variable("y")


def put(text: str, values: dict[Variable, str]) -> str:
    """The last condition of a query after substitution."""
    condition = parse(f"?x, ?y: p(?x, ?y) and {text}").graph.scope.conditions[-1]
    return render_formula(to_formula(substitute(condition, values)))


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("only p(?x, ?y; q: ?x)", "only p(a, ?y; q: a)"),
        ("not (p(?x, ?z) and q(?z, ?y))", "not (p(a, ?z) and q(?z, ?y))"),
        ("(p(?x, b) or q(?y, ?x))", "p(a, b) or q(?y, a)"),
        ("?x < ?y", "?y > a"),
        ("?x >= ?y", "?y <= a"),
        ("?y != ?x", "?y != a"),
        ("?x != ?y", "?y != a"),
        ("?y < 5", "?y < 5"),
    ],
)
def test_an_id_takes_the_place_of_a_variable(text: str, after: str) -> None:
    assert put(text, {X: "a"}) == after


def test_a_comparison_needs_a_variable() -> None:
    with pytest.raises(QueryError, match="without a variable"):
        put("?x < ?y", {X: "a", Y: "b"})

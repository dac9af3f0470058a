"""Compiling query graphs into trees: which shape they get, and what is refused."""

from __future__ import annotations

import pytest
from query_cases import FILMS

from nqe.errors import QueryError
from nqe.graph import Graph
from nqe.query import execute, parse
from nqe.query.compiler import compile_tree


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("?x: p(?y, a)", r"target \?x does not occur"),
        ("?x: p(?x, ?y) and q(?x, ?y)", r"\?x closes a cycle at q\(\?x, \?y\)"),
        ("?x: p(?x, ?y) and q(?y, ?z) and r(?z, ?x)", r"\?x closes a cycle"),
        ("?x: p(?x, ?y; a: ?z) and q(?y, ?z)", r"\?z closes a cycle"),
        ("?x: p(?x, ?x)", r"\?x stands twice in p\(\?x, \?x\)"),
        ("?x: p(?x, ?y; a: ?y)", r"\?y stands twice"),
        ("?x: p(?x, a) and q(b, c)", r"q\(b, c\) has no variable"),
        ("?x: p(?x, a) and q(?y, b)", r"q\(\?y, b\) is not connected with \?x; join \?y"),
        ("?x: p(?x, a) and not q(?z, b)", r"shares no variable with the rest; use \?x"),
        ("?x: q(?y, a) and not p(?x, ?y)", r"shares \?y with the rest beside \?x"),
        ("?x: p(?x, ?y) and not q(?x, ?y)", r"move what restricts \?y into the `not`"),
        ("?x: p(?x, ?y) and (q(?x, ?y) or r(?x, a))", r"into each branch of the `or`"),
        ("?x: p(?x, a) and (q(?x, b) or r(?z, b))", r"r\(\?z, b\) does not use \?x"),
        ("?x: p(?x, a) or q(?y, b)", r"q\(\?y, b\) does not use \?x"),
        ("?x: not (p(?x, a) and q(?z, b))", r"not connected with \?x"),
    ],
)
def test_what_is_refused_has_its_own_message(text: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        compile_tree(parse(text).graph)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("?x: not (p(?x, ?y) and q(?y, a))", "Not(P(P()))"),
        ("?x: p(?x, ?y)", "P(Any())"),
        ("?x: p(?x, a; b: ?y) and q(?y, c)", "2p"),
        ("?x: p(?x, ?y; b: ?z) and q(?y, c) and r(?z, d)", "2cp"),
        ("?x: p(?x, ?y) and (q(?y, a) or r(?y, b))", "up"),
        ("?x: p(?x, ?y) and q(?y, a) and not r(?y, b)", "inp"),
        (
            "?x: p(?x, a) and not q(?x, ?y) and not r(?x, ?y)",
            "And(P(), Not(P(Any())), Not(P(Any())))",
        ),
        ("?x: (p(?x, ?y) and q(?y, a)) or (r(?x, ?y) and s(?y, b))", "Or(P(P()), P(P()))"),
        ("?x: (p(?x, a) or q(?x, b)) or r(?x, c)", "Or(P(), P(), P())"),
        ("?x: p(?x, a) and (q(?x, b) and r(?x, c))", "3i"),
        ("?x: not not p(?x, a)", "Not(Not(P()))"),
    ],
)
def test_a_tree_gets_its_shape(text: str, shape: str) -> None:
    assert parse(text).shape == shape


@pytest.mark.parametrize(
    "text",
    [
        "?x: " + "not " * 400 + "born(?x, Rome)",
        "?x: " + "not (born(?x, Rome) or " * 150 + "born(?x, Rome)" + ")" * 150,
        "?v0: " + " and ".join(f"born(?v{i}, ?v{i + 1})" for i in range(600)),
    ],
)
def test_a_query_nested_too_deep_is_refused(text: str) -> None:
    with pytest.raises(QueryError, match="nested more than 100 deep"):
        execute(text, Graph.of(FILMS))


def test_a_query_that_is_a_hundred_deep_is_allowed() -> None:
    text = "?v0: " + " and ".join(f"born(?v{i}, ?v{i + 1})" for i in range(99))
    assert execute(text, Graph.of(FILMS)).plan.shape_name.startswith("P(P(")

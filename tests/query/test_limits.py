"""The limits of a query's size: what is within them works, in every form; the rest is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nqe.errors import QueryError
from nqe.graph import Fact, Graph
from nqe.query import And, Atom, Not, Or, Plan, Query, Variable, atom, bind, execute, parse
from nqe.query.binder import read_query
from nqe.query.drawing import draw_mermaid, draw_text
from nqe.query.formula import Formula
from nqe.query.limits import (
    ATOMS,
    CHARACTERS,
    JSON_CHARACTERS,
    JSON_VALUES,
    LIMITS,
    NESTING,
    QUALIFIERS,
    Limit,
)
from nqe.query.plan import Op, Step
from nqe.query.shapes import parse_shape
from nqe.query.sparql import write_sparql
from nqe.query.svg import draw_svg

X = Variable("x")
GRAPH = Graph.of([Fact("a", "p", "b", (("q", "c"), ("q", "d"))), Fact("b", "p", "a")])
DOCS = Path(__file__).parents[2] / "docs" / "query-language.md"


def star(count: int) -> str:
    return "?x: " + " and ".join(f"p(?x, ?y{i})" for i in range(count))


def union(count: int) -> str:
    return "?x: " + " or ".join(["p(?x, a)"] * count)


def wide(count: int) -> str:
    return f"?x: p(?x, a; {', '.join(f'q: ?y{i}' for i in range(count))})"


def negations(count: int) -> str:
    return f"?x: {'not ' * count}p(?x, a)"


def chain(count: int) -> str:
    return "?x0: " + " and ".join(f"p(?x{i}, ?x{i + 1})" for i in range(count))


@pytest.mark.parametrize(
    ("make", "limit"), [(star, ATOMS), (union, ATOMS), (wide, QUALIFIERS), (negations, NESTING)]
)
def test_each_form_of_a_query_is_refused_above_a_limit(
    make: Callable[[int], str], limit: Limit
) -> None:
    query = parse(make(limit.most))
    assert Query.from_json(query.to_json()) == query
    assert read_query(json.dumps(query.to_json())) == query
    data = _grow(query.to_json(), limit)
    for larger in (make(limit.most + 1), data, json.dumps(data)):
        with pytest.raises(QueryError, match=f"more than {limit.most:,}"):
            read_query(larger)


def _grow(data: dict[str, Any], limit: Limit) -> dict[str, Any]:
    """The JSON data of a query with one more of what the limit counts."""
    formula: Any = data["formula"]
    if limit is NESTING:
        data["formula"] = {"not": formula}
    elif limit is QUALIFIERS:
        formula["qualifiers"].append(formula["qualifiers"][0])
    else:
        formula["and" if "and" in formula else "or"].append({"not": negation_data()})
    return data


def negation_data() -> dict[str, Any]:
    return {"relation": "p", "subject": {"variable": "x"}, "object": "a"}


@pytest.mark.parametrize("text", [star(ATOMS.most), union(ATOMS.most), wide(150), chain(99)])
def test_a_query_of_the_allowed_size_can_be_used_for_everything(text: str) -> None:
    query = parse(text)
    plan = bind(query, GRAPH)
    for draw in (draw_text, draw_mermaid, draw_svg):
        assert draw(plan, GRAPH.vocabulary)
    assert write_sparql(query.graph, GRAPH.vocabulary)
    assert bind(plan.query(GRAPH.vocabulary), GRAPH) == plan
    assert parse_shape(query.shape)
    assert execute(query, GRAPH).ids == execute(query.dnf(), GRAPH).ids


def test_a_long_text_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nqe.query.text._parser", pytest.fail)
    with pytest.raises(QueryError, match="more than 100,000 characters"):
        parse("?x: p(?x, a)" + " " * CHARACTERS.most)
    monkeypatch.setattr(json, "loads", pytest.fail)
    with pytest.raises(QueryError, match="more than 2,000,000 characters"):
        read_query("{" + " " * JSON_CHARACTERS.most)


def test_names_that_are_too_long_are_refused_in_every_form() -> None:
    name = "a" * CHARACTERS.most
    data = {"relation": "p", "subject": {"variable": "x"}, "object": name}
    with pytest.raises(QueryError, match="more than 100,000 characters"):
        Query.from_json({"target": "x", "formula": data})
    with pytest.raises(QueryError, match="more than 100,000 characters"):
        atom("p", X, name)
    half = atom("p", X, name[: CHARACTERS.most // 2])
    with pytest.raises(QueryError, match="more than 100,000 characters"):
        _ = half & half


@pytest.mark.parametrize(
    "grow",
    [
        lambda formula: ~formula,
        lambda formula: And((formula, atom("p", X, "a"))),
        lambda formula: Or((formula, atom("p", X, "a"))),
        lambda formula: Or((~formula, ~formula)),
        lambda formula: formula & formula,
    ],
)
def test_a_formula_that_is_too_large_cannot_be_built(grow: Callable[[Formula], Formula]) -> None:
    sizes: list[Formula] = [atom("p", X, "a")]

    def grow_for_long() -> None:
        for _ in range(100_000):
            sizes.append(grow(sizes[-1]))

    with pytest.raises(QueryError, match="more than 1"):
        grow_for_long()
    largest = Query(X, sizes[-1])
    assert parse(str(largest)) == largest
    again = Query.from_json(largest.to_json())
    assert (again, hash(again), repr(again)) == (largest, hash(largest), repr(largest))


def test_json_data_that_contains_itself_is_refused() -> None:
    loop: dict[str, Any] = {}
    loop["not"] = loop
    shared: Any = negation_data()
    for _ in range(90):
        shared = {"and": [shared, shared]}
    many = {"and": [[0] * 100_000] * 100_000}
    for formula, limit in ((loop, NESTING), (shared, JSON_VALUES), (many, JSON_VALUES)):
        with pytest.raises(QueryError, match=f"more than {limit.most:,}"):
            Query.from_json({"target": "x", "formula": formula})


@pytest.mark.parametrize("depth", [250, 2_000, 100_000])
@pytest.mark.parametrize("pair", [('{"not":', "}"), ('{"and":[', "]}"), ('{"x":[', "]}")])
def test_deep_json_is_refused(depth: int, pair: tuple[str, str]) -> None:
    text = '{"target": "x", "formula": ' + pair[0] * depth + "0" + pair[1] * depth + "}"
    with pytest.raises(QueryError, match="nested more than 100 deep"):
        read_query(text)


def test_what_is_not_a_formula_is_refused_where_it_is_used() -> None:
    good: Any = atom("p", X, "a")
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for use in (
        lambda value: Query(X, value),
        lambda value: And((good, value)),
        lambda value: good | value,
        Not,
        lambda value: Query(value, good),
        lambda value: Atom("p", X, value),
        lambda value: Atom(value, X, "a"),
        Variable,
        read_query,
    ):
        for wrong in (deep, 5, None, object()):
            with pytest.raises(QueryError, match=r"is n|cannot be|a query is"):
                use(wrong)


def test_a_plan_or_shape_that_is_too_deep_is_refused() -> None:
    steps = [Step(Op.ANY, (), "x", 0)]
    steps += [Step(Op.NOT, (depth,), "x", depth + 1) for depth in range(NESTING.most - 1)]
    assert len(str(Plan(tuple(steps)).shape)) > NESTING.most
    with pytest.raises(QueryError, match="nested more than 100 deep"):
        Plan((*steps, Step(Op.NOT, (len(steps) - 1,), "x", len(steps))))
    for count in (101, 20_000):
        with pytest.raises(QueryError, match="nested more than 100 deep"):
            parse_shape("P(" * count + ")" * count)


def test_a_normal_form_with_too_many_atoms_is_refused() -> None:
    ors = " and ".join(f"(p(?x, a) or p(?x, b{i}))" for i in range(9))
    with pytest.raises(QueryError, match="4,608 atoms, more than 1,000"):
        parse(f"?x: {ors}").dnf()


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.what)
def test_the_documentation_lists_every_limit(limit: Limit) -> None:
    assert f"| {limit.what} | {limit.most:,} |" in DOCS.read_text(encoding="utf-8")

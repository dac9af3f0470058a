"""Cuts: every condition is checked once, as part of a tree, when its variables are bound."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, reject
from query_cases import query_graphs

from nqe.errors import QueryError
from nqe.query import QueryGraph, Variable, parse
from nqe.query.cut import Cut
from nqe.query.cut_search import find_cut
from nqe.query.scope import is_comparison, to_formula
from nqe.query.text import render_formula


def describe(text: str) -> list[str]:
    """The variables of the cut of a query in order, with what restricts each."""
    cut = find_cut(parse(text).graph)
    return [
        f"{step.variable}: "
        + " and ".join(render_formula(to_formula(one)) for one in (*step.tree, *step.nested))
        for step in cut.steps
    ]


def cut_of(query: QueryGraph) -> Cut:
    """The cut of a query; one that has none is rejected."""
    if query.counted is not None:
        reject()
    try:
        return find_cut(query)
    except QueryError:
        reject()


@given(query_graphs(with_literals=False))
def test_every_condition_is_checked_once(query: QueryGraph) -> None:
    cut = cut_of(query)
    own = Counter(one for step in cut.steps for one in (*step.tree, *step.nested))
    wanted = (one for one in cut.graph.scope.conditions if not is_comparison(one))
    assert own == Counter(wanted)
    filters = Counter(one for step in cut.steps for one in step.filters)
    assert set(filters) >= set(filter(is_comparison, query.scope.conditions))
    assert len(set(cut.order)) == len(cut.order)
    assert set(query.targets) <= set(cut.order)


@given(query_graphs(with_literals=False))
def test_what_is_left_for_each_variable_is_a_tree(query: QueryGraph) -> None:
    cut = cut_of(query)
    values: dict[Variable, str] = {}
    for step in cut.steps:
        asked = step.ask(values)
        assert asked is None or asked.is_tree
        loose = step.ask_loosely(values)
        assert loose is None or loose.is_tree
        values[step.variable] = "e0"


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        (
            "?x: p(?x, ?y) and q(?x, ?y)",
            ["?y: ", "?x: p(?x, ?y) and q(?x, ?y)"],
        ),
        (
            "?x: p(?x, ?y) and q(?y, ?z) and r(?x, ?z) and s(?y, a)",
            ["?y: s(?y, a)", "?x: p(?x, ?y) and q(?y, ?z) and r(?x, ?z)"],
        ),
        ("?x, ?y: p(?x, ?y) and q(?y, a)", ["?y: q(?y, a)", "?x: p(?x, ?y)"]),
        ("?x: p(?x, ?x)", ["?x_2: ", "?x: p(?x, ?x_2)"]),
        ("?x: p(?x, a) and ?x != b", ["?x: p(?x, a)"]),
        (
            "?x: p(?x, a) and not (q(?x, ?y) and r(?y, ?z) and s(?x, ?z))",
            ["?x: p(?x, a) and not (q(?x, ?y) and r(?y, ?z) and s(?x, ?z))"],
        ),
        ("?x, ?r: ?r(a, ?x)", ["?r: ", "?x: ?r(a, ?x)"]),
    ],
)
def test_few_variables_are_bound_and_those_with_names_first(text: str, steps: list[str]) -> None:
    assert describe(text) == steps


def test_a_very_long_cycle_is_given_up() -> None:
    atoms = " and ".join(f"p(?v{i}, ?v{j})" for i in range(12) for j in range(i))
    with pytest.raises(QueryError, match="no variable can be bound so that trees are left"):
        find_cut(parse(f"?v0: {atoms}").graph)

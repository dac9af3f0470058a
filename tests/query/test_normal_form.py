"""The disjunctive normal form: its form, and that it has the same answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from query_cases import fact_lists, graph_of, queries

from nqe.errors import QueryError
from nqe.graph import Fact
from nqe.query import Query, execute, parse
from nqe.query.algebra import Conjunction, Disjunction, Negation, Operator, Projection
from nqe.query.compiler import compile_tree


def _clauses(operator: Operator) -> tuple[Operator, ...]:
    return operator.inputs if isinstance(operator, Disjunction) else (operator,)


def _literals(clause: Operator) -> tuple[Operator, ...]:
    return clause.inputs if isinstance(clause, Conjunction) else (clause,)


def _below(operator: Operator) -> list[Operator]:
    return [operator, *(one for child in operator.inputs for one in _below(child))]


@given(queries())
def test_or_is_only_at_the_top_and_not_is_only_before_projections(query: Query) -> None:
    tree = compile_tree(query.dnf().graph)
    for clause in _clauses(tree):
        assert not any(isinstance(one, Disjunction) for one in _below(clause))
        for literal in _literals(clause):
            inner = literal.input if isinstance(literal, Negation) else literal
            assert isinstance(inner, Projection)


@given(queries())
def test_the_normal_form_is_its_own_normal_form(query: Query) -> None:
    assert compile_tree(query.dnf().dnf().graph) == compile_tree(query.dnf().graph)


@given(fact_lists, queries())
def test_the_disjunctive_normal_form_has_the_same_answers(facts: list[Fact], query: Query) -> None:
    graph = graph_of(facts)
    assert execute(query.dnf(), graph).ids == execute(query, graph).ids


def test_or_is_lifted_through_a_projection() -> None:
    query = parse("?x: p(?x, ?y) and (q(?y, a) or r(?y, b))")
    assert str(query.dnf()) == ("?x: p(?x, ?v1) and q(?v1, a) or p(?x, ?v2) and r(?v2, b)")


def test_a_normal_form_that_would_be_huge_is_refused() -> None:
    ors = " and ".join(f"(p{i}(?x, a) or q{i}(?x, b))" for i in range(20))
    with pytest.raises(QueryError, match="more than 10,000"):
        parse(f"?x: {ors}").dnf()

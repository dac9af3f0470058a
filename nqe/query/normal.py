"""Disjunctive normal form: `or` at the top, below it `and` of projections and negated ones."""

from __future__ import annotations

from itertools import product
from typing import assert_never

from nqe.query.formula import Query
from nqe.query.operators import (
    Anything,
    Conjunction,
    Disjunction,
    Negation,
    Operator,
    Projection,
    query_of,
)
from nqe.query.scope import operators

Literals = tuple[Operator, ...]


def dnf(query: Query) -> Query:
    """The disjunctive normal form of a query, with the same exact answers."""
    return query_of(_disjoin(_clauses(operators(query))), query.target.name)


def _clauses(operator: Operator) -> list[Literals]:
    """The conjunctions of literals of which one must hold."""
    match operator:
        case Projection():
            return [(one,) for one in _projections(operator)]
        case Conjunction(_, inputs):
            choices = product(*map(_clauses, inputs))
            return [tuple(literal for clause in choice for literal in clause) for choice in choices]
        case Disjunction(_, inputs):
            return [clause for one in inputs for clause in _clauses(one)]
        case Negation():
            return _negated(operator.input)
        case Anything():
            return [(operator,)]
        case _:
            assert_never(operator)


def _negated(operator: Operator) -> list[Literals]:
    """The clauses of a negation, by De Morgan."""
    match operator:
        case Projection():
            return [tuple(Negation(one.variable, one) for one in _projections(operator))]
        case Conjunction(_, inputs):
            return [clause for one in inputs for clause in _negated(one)]
        case Disjunction(variable, inputs):
            return _clauses(Conjunction(variable, tuple(Negation(variable, one) for one in inputs)))
        case Negation():
            return _clauses(operator.input)
        case Anything():
            return [(Negation(operator.variable, operator),)]
        case _:
            assert_never(operator)


def _projections(operator: Projection) -> list[Projection]:
    """A projection of an `or` is the `or` of projections: one for each choice of its inputs."""
    choices = product(
        *(
            [slot] if slot is None or isinstance(slot, str) else list(map(_conjoin, _clauses(slot)))
            for slot in operator.slots
        )
    )
    return [
        Projection(
            operator.variable,
            operator.relation,
            operator.attributes,
            slots,
            operator.asked,
            operator.closed,
        )
        for slots in choices
    ]


def _conjoin(literals: Literals) -> Operator:
    return literals[0] if len(literals) == 1 else Conjunction(literals[0].variable, literals)


def _disjoin(clauses: list[Literals]) -> Operator:
    parts = tuple(map(_conjoin, clauses))
    return parts[0] if len(parts) == 1 else Disjunction(parts[0].variable, parts)

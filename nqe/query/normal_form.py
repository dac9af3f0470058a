"""Disjunctive normal form: `or` at the top, below it `and` of projections and negated ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import TypeVar, assert_never

from nqe.errors import QueryError
from nqe.query.algebra import (
    Anything,
    Conjunction,
    Disjunction,
    Negation,
    Operator,
    Projection,
    query_of,
)
from nqe.query.compiler import operators
from nqe.query.formula import Query

Literals = tuple[Operator, ...]
Choice = TypeVar("Choice")

MAX_CLAUSES = 10_000


def dnf(query: Query) -> Query:
    """The disjunctive normal form of a query, with the same exact answers."""
    return query_of(_disjoin(_clauses(operators(query))), query.target.name)


def _clauses(operator: Operator) -> list[Literals]:
    """The conjunctions of literals of which one must hold."""
    match operator:
        case Projection():
            return [(one,) for one in _projections(operator)]
        case Conjunction(_, inputs):
            choices = _product(list(map(_clauses, inputs)))
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
    options: list[list[str | Operator | None]] = [
        [slot] if slot is None or isinstance(slot, str) else [*map(_conjoin, _clauses(slot))]
        for slot in operator.slots
    ]
    choices = _product(options)
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


def _product(parts: list[list[Choice]]) -> Iterator[tuple[Choice, ...]]:
    """Every choice of one of each part; refused when there are too many."""
    size = prod(map(len, parts))
    if size > MAX_CLAUSES:
        raise QueryError(
            f"the normal form would have {size:,} clauses, more than {MAX_CLAUSES:,}; "
            "ask the query as it is"
        )
    return product(*parts)


def _conjoin(literals: Literals) -> Operator:
    return literals[0] if len(literals) == 1 else Conjunction(literals[0].variable, literals)


def _disjoin(clauses: list[Literals]) -> Operator:
    parts = tuple(map(_conjoin, clauses))
    return parts[0] if len(parts) == 1 else Disjunction(parts[0].variable, parts)

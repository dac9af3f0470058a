"""Disjunctive normal form: an `or` of `and`s of projections and negated projections."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
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
    to_formula,
)
from nqe.query.compiler import compile_tree
from nqe.query.formula import Formula
from nqe.query.limits import ATOMS
from nqe.query.query_graph import QueryGraph

Literals = tuple[Operator, ...]
Choice = TypeVar("Choice")

MAX_CLAUSES = 10_000


def to_dnf(graph: QueryGraph) -> Formula:
    """The disjunctive normal form of a query graph, over the same target."""
    clauses = _clauses(compile_tree(graph))
    atoms = sum(_count_projections(literal) for clause in clauses for literal in clause)
    if atoms > ATOMS.most:
        raise QueryError(
            f"the normal form would have {atoms:,} atoms, more than {ATOMS.most:,}; "
            "ask the query as it is"
        )
    return to_formula(_disjoin(clauses), graph.targets[0])


def _count_projections(operator: Operator) -> int:
    below = sum(map(_count_projections, operator.inputs))
    return below + isinstance(operator, Projection)


def _clauses(operator: Operator) -> list[Literals]:
    """The conjunctions of literals, one of which must hold."""
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
    """The clauses of a negation, by De Morgan's laws."""
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
    """The projections of which a projection over `or`s is the `or`: one per choice of branches."""
    options: list[list[str | Operator | None]] = [
        [slot] if slot is None or isinstance(slot, str) else [*map(_conjoin, _clauses(slot))]
        for slot in operator.slots
    ]
    return [replace(operator, slots=slots) for slots in _product(options)]


def _product(parts: list[list[Choice]]) -> Iterator[tuple[Choice, ...]]:
    """Every way to choose one element of each part; an error if there are too many."""
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

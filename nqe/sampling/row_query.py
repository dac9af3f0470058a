"""Queries whose answers are rows: one query with its answers, and one target of it asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from nqe.graph.arrays import Integers
from nqe.query.builders import comparison
from nqe.query.formula import And, Atom, Comparison, Formula, Leaf, Not, Or, Term, Variable
from nqe.query.query import Query
from nqe.query.query_graph import QueryGraph
from nqe.query.scope import Condition, to_formula


@dataclass(frozen=True, eq=False)
class RowQuery:
    """A query in ids, and its answers as rows of the numbers of entities."""

    pattern: str
    """The name of its pattern."""
    query: Query
    easy: Integers  # (easy rows, targets)
    hard: Integers  # (hard rows, targets)
    missing: Integers  # (hard rows,) the facts that a row needs and that are not known
    missing_of_targets: Integers  # (hard rows, targets) with one asked for; KNOWN if it is known


def fix_all_but(query: Query, target: Variable) -> Query:
    """What a query still says about a target when the others stand for entities.

    Conditions that chains of other variables do not connect with the target are left out: they
    hold for the row that the entities are from. The targets are those that are left.
    """
    conditions = _find_about(query.graph, target, frozenset(query.targets) - {target})
    parts = tuple(map(to_formula, conditions))
    used = {name for one in conditions for name in one.variables}
    targets = tuple(one for one in query.targets if one in used)
    return Query(targets, And(parts) if len(parts) > 1 else parts[0])


def ask_for(query: Query, target: Variable, values: Mapping[Variable, str]) -> Query:
    """The question for one target of a query, with ids in place of the other targets."""
    left = fix_all_but(query, target)
    return Query(target, _put(left.formula, values))


def _find_about(
    graph: QueryGraph, target: Variable, others: frozenset[Variable]
) -> list[Condition]:
    """The conditions that are connected with a target by variables that nothing is put for."""
    groups = [frozenset(one.variables) - others for one in graph.scope.conditions]
    reached = frozenset((target,))
    while True:
        more = reached.union(*(names for names in groups if names & reached))
        if more == reached:
            break
        reached = more
    pairs = zip(graph.scope.conditions, groups, strict=True)
    return [one for one, names in pairs if names & reached]


def _put(formula: Formula, values: Mapping[Variable, str]) -> Formula:
    """A formula with ids in place of variables."""
    match formula:
        case Atom() | Comparison():
            return _put_in_leaf(formula, values)
        case Not(part):
            return Not(_put(part, values))
        case And(parts):
            return And(tuple(_put(part, values) for part in parts))
        case Or(parts):
            return Or(tuple(_put(part, values) for part in parts))
        case _:
            assert_never(formula)


def _put_in_leaf(leaf: Leaf, values: Mapping[Variable, str]) -> Leaf:
    def read(term: Term) -> Term:
        return values.get(term, term) if isinstance(term, Variable) else term

    if isinstance(leaf, Comparison):
        return comparison(read(leaf.left), leaf.operator, read(leaf.right))
    subject, object_, *terms = map(read, leaf.terms)
    pairs = tuple(zip(leaf.attributes, terms, strict=True))
    return Atom(read(leaf.relation), subject, object_, pairs, leaf.closed)

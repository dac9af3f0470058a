"""Queries whose answers are rows: one query with its answers, and one target of it asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nqe.graph.arrays import Integers
from nqe.query.formula import And, Formula, Variable
from nqe.query.query import Query
from nqe.query.scope import Condition, to_formula
from nqe.query.substitution import substitute


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
    conditions = _find_about(query, target)
    used = {name for one in conditions for name in one.variables}
    targets = tuple(one for one in query.targets if one in used)
    return Query(targets, _conjoin(conditions))


def ask_for(query: Query, target: Variable, values: Mapping[Variable, str]) -> Query:
    """The question for one target of a query, with ids in place of the other targets."""
    return Query(target, _conjoin([substitute(one, values) for one in _find_about(query, target)]))


def _find_about(query: Query, target: Variable) -> list[Condition]:
    """The conditions that variables other than the other targets connect with a target."""
    conditions, others = query.graph.scope.conditions, frozenset(query.targets) - {target}
    groups = [frozenset(one.variables) - others for one in conditions]
    reached = frozenset((target,))
    while True:
        more = reached.union(*(names for names in groups if names & reached))
        if more == reached:
            break
        reached = more
    return [one for one, names in zip(conditions, groups, strict=True) if names & reached]


def _conjoin(conditions: Sequence[Condition]) -> Formula:
    parts = tuple(map(to_formula, conditions))
    return And(parts) if len(parts) > 1 else parts[0]

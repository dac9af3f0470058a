"""Comparisons as disjunctions: the entities that pass them, named one by one in an `or`.

Vectors have no comparisons. Where one restricts a variable that stands in a single atom, the atom
becomes an `or` of atoms with the entities that pass in its place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.entity_set import EntitySet
from nqe.graph.fact_source import FactSource
from nqe.query.formula import And, Atom, Formula, Or, Variable
from nqe.query.join_plan import JoinPlan
from nqe.query.query_graph import QueryGraph
from nqe.query.scope import is_comparison, to_formula
from nqe.query.substitution import substitute_in_atom
from nqe.query.value_filters import ValueFilters

MOST_VALUES = 300
"""The most entities that an `or` may name in place of a comparison."""


@dataclass(frozen=True)
class Expanded:
    """A query without its comparisons, and the entities that may be answers; None for all."""

    graph: QueryGraph
    answers: EntitySet | None


def expand_filters(plan: JoinPlan, facts: FactSource) -> Expanded | None:
    """The query of a plan without comparisons, as a tree; None if there is no such tree."""
    graph = plan.graph
    filters = [one for one in graph.scope.conditions if is_comparison(one)]
    if len(graph.targets) != 1 or graph.counted is not None or graph.relation_variables:
        return None
    if not filters or any(len(one.variables) > 1 for one in filters):
        return None
    [target] = graph.targets
    checks = ValueFilters(graph, facts.vocabulary)
    passing: dict[Variable, Integers] = {}
    every = np.arange(facts.entity_count)
    for one in filters:
        [variable] = one.variables
        values = passing.get(variable, every)
        passing[variable] = values[checks.hold(one, {variable: values})]
    allowed = passing.pop(target, None)
    formula = _name_values(graph, passing, facts)
    if formula is None:
        return None
    found = QueryGraph.of(graph.targets, formula)
    answers = None if allowed is None else EntitySet(allowed)
    return Expanded(found, answers) if found.is_tree else None


def _name_values(
    graph: QueryGraph, passing: dict[Variable, Integers], facts: FactSource
) -> Formula | None:
    """The conditions without comparisons, in which an `or` names values of some variables."""
    ids = facts.vocabulary.entities.ids
    parts: list[Formula] = []
    for condition in graph.scope.conditions:
        if is_comparison(condition):
            continue
        compared = [one for one in condition.variables if one in passing]
        if not compared:
            parts.append(to_formula(condition))
            continue
        if not isinstance(condition, Atom) or len(compared) > 1:
            return None
        values = passing.pop(compared[0])
        if not 0 < len(values) <= MOST_VALUES:
            return None
        atoms = (substitute_in_atom(condition, {compared[0]: ids[one]}) for one in values.tolist())
        parts.append(_join(Or, tuple(atoms)))
    return None if passing else _join(And, tuple(parts))


def _join(kind: type[And] | type[Or], parts: tuple[Formula, ...]) -> Formula:
    return parts[0] if len(parts) == 1 else kind(parts)

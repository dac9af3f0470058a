"""Easy and hard rows of queries that are no trees, and the missing links of each hard row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import assert_never

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.atom_pattern import AtomPattern
from nqe.graph.binding_table import BindingTable, number_rows
from nqe.graph.fact_source import FactSource
from nqe.graph.vocabulary import Vocabulary
from nqe.query.join_binder import bind_joins
from nqe.query.join_plan import (
    BoundComparison,
    JoinBranches,
    JoinCondition,
    JoinNegation,
    JoinPlan,
    JoinScope,
)
from nqe.query.join_runner import JoinRunner, run_joins
from nqe.query.query import Query
from nqe.sampling.hard_answers import SplitGraphs
from nqe.sampling.row_query import fix_all_but

MAX_LOOKED_AT = 2_000_000
"""A query for which one step would look at more facts is refused."""
KNOWN = -1
"""Stands for the number of missing links where the known facts give an answer already."""

_ROW = -2
"""The column that numbers the rows whose links are counted."""
_UNPROVEN = 2**40
"""More links than any proof misses."""


def bind_rows(query: Query, vocabulary: Vocabulary) -> JoinPlan:
    """The join plan of a query in ids, whether it is a tree or not."""
    return bind_joins(query.graph, vocabulary, "its rows are sampled")


def find_row_numbers(
    plan: JoinPlan, graph: FactSource, max_bindings: int | None = None
) -> Integers:
    """The rows that answer a plan, in ascending order: (rows, targets)."""
    return to_rows(run_joins(plan, graph, max_bindings).rows, plan.targets)


def to_rows(table: BindingTable, variables: Sequence[int]) -> Integers:
    """Some columns of a table as an array: (rows, variables)."""
    rows = np.stack([table.columns[one] for one in variables], axis=1)
    return rows[np.lexsort(rows.T[::-1])]


def split_rows(full: Integers, known: Integers) -> tuple[Integers, Integers]:
    """The hard rows, which only the full graph gives, and the easy ones, which both give."""
    both = np.concatenate([full, known])
    numbers = number_rows([np.ascontiguousarray(column) for column in both.T])
    inside = np.isin(numbers[: len(full)], numbers[len(full) :])
    return full[~inside], full[inside]


def count_missing_links(plan: JoinPlan, graphs: SplitGraphs, rows: Integers) -> Integers:
    """Count for each hard row the least number of atoms whose fact is not known: (rows,).

    The least is over all proofs in the full graph. An `and` adds up, an `or` takes the least, and
    what is under a `not` costs nothing.
    """
    counter = _LinkCounter.of(plan, graphs)
    return counter.count(plan.scope, _to_table(plan.targets, rows))


def count_missing_of_targets(query: Query, graphs: SplitGraphs, rows: Integers) -> Integers:
    """Count missing links where one target is asked for, the others fixed: (rows, targets).

    What then says nothing about the target needs no link. KNOWN stands where the known facts give
    what is left.
    """
    found = np.zeros(rows.shape, dtype=np.int64)
    for place, target in enumerate(query.targets):
        left = fix_all_but(query, target)
        plan = bind_rows(left, graphs.full.vocabulary)
        kept = [query.targets.index(one) for one in left.targets]
        table = _to_table(plan.targets, rows[:, kept])
        counter = _LinkCounter.of(plan, graphs)
        links = counter.count(plan.scope, table)
        found[:, place] = np.where(counter.known.holds((plan.scope,), table), KNOWN, links)
    return found


def _to_table(variables: Sequence[int], rows: Integers) -> BindingTable:
    columns = (np.ascontiguousarray(column) for column in rows.T)
    return BindingTable(dict(zip(variables, columns, strict=True)), len(rows))


@dataclass(frozen=True, eq=False)
class _LinkCounter:
    """Looks for the proofs of a plan in the full graph, and for their facts in the known one."""

    full: JoinRunner
    known: JoinRunner

    @classmethod
    def of(cls, plan: JoinPlan, graphs: SplitGraphs) -> _LinkCounter:
        runners = (JoinRunner(plan, graph, MAX_LOOKED_AT) for graph in (graphs.full, graphs.known))
        return cls(*runners)

    def count(self, scope: JoinScope, bindings: BindingTable) -> Integers:
        """The least links of a scope for each row of what is bound outside of it."""
        outer = bindings.keep(scope.variables).columns
        numbered = BindingTable({**outer, _ROW: np.arange(len(bindings))}, len(bindings))
        used = dict.fromkeys(one for part in scope.conditions for one in part.variables)
        least = np.full(len(bindings), _UNPROVEN, dtype=np.int64)
        for proofs in self.full.solve(numbered, scope.conditions, (_ROW, *used)):
            links = np.zeros(len(proofs), dtype=np.int64)
            for condition in scope.conditions:
                links += self._count_condition(condition, proofs)
            np.minimum.at(least, proofs.columns[_ROW], links)
        return least

    def _count_condition(self, condition: JoinCondition, proofs: BindingTable) -> Integers | int:
        match condition:
            case AtomPattern():
                stated = JoinScope((condition,), condition.variables)
                return np.where(self.known.holds((stated,), proofs), 0, 1)
            case JoinBranches(scopes):
                return reduce(np.minimum, (self.count(scope, proofs) for scope in scopes))
            case BoundComparison() | JoinNegation():
                return 0
            case _:
                assert_never(condition)

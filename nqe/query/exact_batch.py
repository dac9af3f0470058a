"""The exact runner for many plans: computes all steps of one depth together, in arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.entity_set import EntitySet, distinct, sorted_contains
from nqe.graph.fact_source import FactSource
from nqe.graph.pattern import Kind, Patterns
from nqe.graph.ragged import offsets, ranges
from nqe.query.plan import Op, Plan
from nqe.query.step_table import StepTable

# The operators that `run_table` can compute.
_OPERATORS = (Op.PROJECTION, Op.AND, Op.OR, Op.NOT, Op.ANY)


@dataclass(eq=False)
class StepSets:
    """The sets of all steps of a table, as ranges of one array of members, the pool."""

    table: StepTable
    pool: Integers
    start: Integers  # (steps,)
    length: Integers  # (steps,)
    inverted: Booleans  # (steps,)

    @classmethod
    def of(cls, table: StepTable, sets: Sequence[EntitySet]) -> StepSets:
        """The sets of a table's steps, given one by one."""
        members = [one.members for one in sets]
        length = np.array([len(one) for one in members], dtype=np.int64)
        inverted = np.array([one.inverted for one in sets], dtype=bool)
        pool = np.concatenate([np.zeros(0, dtype=np.int64), *members])
        return cls(table, pool, offsets(length)[:-1], length, inverted)

    def sets(self) -> list[EntitySet]:
        """The sets as a list, in the order of the steps."""
        rows = zip(self.start.tolist(), self.length.tolist(), self.inverted.tolist(), strict=True)
        return [EntitySet(self.pool[a : a + n], inverted) for a, n, inverted in rows]

    def members(self, steps: Integers) -> Integers:
        """The members of the sets of some steps, concatenated."""
        return self.pool[ranges(self.start[steps], self.length[steps])]

    def store(self, steps: Integers, owner: Integers, members: Integers) -> None:
        """Store the sets of steps; `owner` is the place in `steps` of each member, ascending."""
        counts = np.bincount(owner, minlength=len(steps))
        self.start[steps] = len(self.pool) + offsets(counts)[:-1]
        self.length[steps] = counts
        self.pool = np.concatenate([self.pool, members])


def run_many(plans: Sequence[Plan], graph: FactSource, max_bindings: int | None = None) -> StepSets:
    """The sets of every step of every plan."""
    return run_table(StepTable.of(plans), graph, max_bindings)


def run_table(
    table: StepTable,
    graph: FactSource,
    max_bindings: int | None = None,
    other: FactSource | None = None,
    sees_other: Booleans | None = None,
) -> StepSets:
    """The sets of all steps of a table; steps that `sees_other` marks use the other graph."""
    count = table.step_count
    sets = StepSets(
        table,
        np.zeros(0, dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        table.op == Op.ANY,
    )
    _check_operators(table)
    for depth in range(table.depth_count):
        now = table.depth == depth
        project = now & (table.op == Op.PROJECTION)
        if other is not None and sees_other is not None:
            _project(np.flatnonzero(project & sees_other), sets, other, max_bindings)
            project &= ~sees_other
        _project(np.flatnonzero(project), sets, graph, max_bindings)
        _combine(np.flatnonzero(now & np.isin(table.op, (Op.AND, Op.OR))), sets, graph)
        _negate(np.flatnonzero(now & (table.op == Op.NOT)), sets)
    return sets


def _check_operators(table: StepTable) -> None:
    """Refuse an operator that this runner does not know, rather than give an empty set."""
    unknown = ~np.isin(table.op, _OPERATORS)
    if unknown.any():
        raise ValueError(f"unknown operator {table.op[unknown][0]} in a plan")


def _project(steps: Integers, sets: StepSets, graph: FactSource, max_bindings: int | None) -> None:
    if not len(steps):
        return
    patterns = _patterns(steps, sets)
    found = graph.match_many(patterns, max_bindings)
    sets.store(steps, found.answer_pattern, found.answer)


def _patterns(steps: Integers, sets: StepSets) -> Patterns:
    """The patterns of projections, with the sets of their inputs in the slots."""
    table = sets.table
    slots = table.slots_of(steps)
    kind, filler = table.kind[slots.values], table.filler[slots.values]
    from_step = np.flatnonzero(kind == Kind.SET)
    inputs = filler[from_step]
    filler[from_step] = np.arange(len(inputs))
    return Patterns(
        relation=table.relation[steps],
        closed=table.closed[steps],
        first_slot=slots.offset,
        asked=table.asked[steps],
        attribute=table.attribute[slots.values],
        kind=kind,
        filler=filler,
        set_offset=offsets(sets.length[inputs]),
        members=sets.members(inputs),
        inverted=sets.inverted[inputs].astype(np.int64),
    )


def _combine(steps: Integers, sets: StepSets, graph: FactSource) -> None:
    """Compute steps And and Or; an Or is the complement of the And of complements."""
    if not len(steps):
        return
    children = sets.table.children.take(steps)
    inputs, owner = children.values, children.owner
    is_or = sets.table.op[steps] == Op.OR
    inverted = sets.inverted[inputs] ^ is_or[owner]
    lengths = sets.length[inputs]
    key = np.repeat(owner, lengths) * graph.entity_count + sets.members(inputs)
    negative = np.repeat(inverted, lengths)
    positive_count = np.bincount(owner[~inverted], minlength=len(steps))
    all_negative = positive_count == 0
    kept, counts = np.unique(key[~negative], return_counts=True)
    kept = kept[counts == positive_count[kept // graph.entity_count]]
    removed = distinct(key[negative])
    if len(removed):
        kept = kept[~sorted_contains(removed, kept)]
        kept = np.sort(np.concatenate([kept, removed[all_negative[removed // graph.entity_count]]]))
    sets.store(steps, *np.divmod(kept, graph.entity_count))
    sets.inverted[steps] = all_negative ^ is_or


def _negate(steps: Integers, sets: StepSets) -> None:
    if len(steps):
        inputs = sets.table.children.take(steps).values
        sets.start[steps], sets.length[steps] = sets.start[inputs], sets.length[inputs]
        sets.inverted[steps] = ~sets.inverted[inputs]

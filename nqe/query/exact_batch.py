"""Exact answers of many plans together: all steps of one depth at a time, by array operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.entity_set import EntitySet, distinct, sorted_contains
from nqe.graph.graph import Graph
from nqe.graph.match_many import match
from nqe.graph.pattern import Kind, Patterns
from nqe.graph.ragged import offsets, ranges
from nqe.query.plan import SLOT, STEP, Op, Plan


@dataclass(frozen=True, eq=False)
class StepTable:
    """The steps and slots of many plans, numbered through."""

    steps: Integers  # (steps, 6), see STEP
    slots: Integers  # (slots, 4), see SLOT
    plan_start: Integers  # (plans + 1,) the first step of each plan

    @classmethod
    def of(cls, plans: Sequence[Plan]) -> StepTable:
        """The tables of all plans below each other."""
        columns = [plan.columns for plan in plans]
        step_counts = np.array([len(steps) for steps, _ in columns], dtype=np.int64)
        slot_counts = np.array([len(slots) for _, slots in columns], dtype=np.int64)
        start = offsets(step_counts)
        no_steps, no_slots = np.zeros((0, 6), dtype=np.int64), np.zeros((0, 4), dtype=np.int64)
        steps = np.concatenate([no_steps, *(steps for steps, _ in columns)])
        slots = np.concatenate([no_slots, *(slots for _, slots in columns)])
        step_shift = np.repeat(start[:-1], step_counts)
        slot_shift = np.repeat(start[:-1], slot_counts)
        with_parent = steps[:, STEP.PARENT] >= 0
        steps[with_parent, STEP.PARENT] += step_shift[with_parent]
        slots[:, SLOT.STEP] += slot_shift
        from_step = slots[:, SLOT.KIND] == Kind.SET
        slots[from_step, SLOT.FILLER] += slot_shift[from_step]
        return cls(steps, slots, start)


@dataclass(eq=False)
class StepSets:
    """The set of every step, as ranges of one pool of members."""

    table: StepTable
    pool: Integers
    start: Integers  # (steps,)
    length: Integers  # (steps,)
    inverted: Booleans  # (steps,)

    def sets(self) -> list[EntitySet]:
        """The sets one by one, in the order of the steps."""
        rows = zip(self.start.tolist(), self.length.tolist(), self.inverted.tolist(), strict=True)
        return [EntitySet(self.pool[a : a + n], inverted) for a, n, inverted in rows]

    def members(self, steps: Integers) -> Integers:
        """The members of these steps' sets, one after another."""
        return self.pool[ranges(self.start[steps], self.length[steps])]

    def store(self, steps: Integers, owner: Integers, members: Integers) -> None:
        """Take the sets of some steps: members sorted by their place in `steps` (the owner)."""
        counts = np.bincount(owner, minlength=len(steps))
        self.start[steps] = len(self.pool) + offsets(counts)[:-1]
        self.length[steps] = counts
        self.pool = np.concatenate([self.pool, members])


def run_many(plans: Sequence[Plan], graph: Graph, max_bindings: int | None = None) -> StepSets:
    """The sets of every step of every plan."""
    return run_table(StepTable.of(plans), graph, max_bindings)


def run_table(
    table: StepTable,
    graph: Graph,
    max_bindings: int | None = None,
    other: Graph | None = None,
    sees_other: Booleans | None = None,
) -> StepSets:
    """The sets of every step of a table; steps that `sees_other` marks run over the other graph."""
    count = len(table.steps)
    sets = StepSets(
        table,
        np.zeros(0, dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        table.steps[:, STEP.OP] == Op.ANY,
    )
    op, depths = table.steps[:, STEP.OP], table.steps[:, STEP.DEPTH]
    children = _Children.of(table)
    for depth in range(int(depths.max(initial=-1)) + 1):
        now = depths == depth
        project = now & (op == Op.PROJECTION)
        if other is not None and sees_other is not None:
            _project(np.flatnonzero(project & sees_other), sets, other, max_bindings)
            project &= ~sees_other
        _project(np.flatnonzero(project), sets, graph, max_bindings)
        _combine(np.flatnonzero(now & ((op == Op.AND) | (op == Op.OR))), sets, children, graph)
        _negate(np.flatnonzero(now & (op == Op.NOT)), sets, children)
    return sets


@dataclass(frozen=True, eq=False)
class _Children:
    """The inputs of each step."""

    child: Integers
    start: Integers
    count: Integers

    @classmethod
    def of(cls, table: StepTable) -> _Children:
        parent = table.steps[:, STEP.PARENT]
        child = np.flatnonzero(parent >= 0)
        child = child[np.argsort(parent[child], kind="stable")]
        count = np.bincount(parent[child], minlength=len(parent))
        return cls(child, offsets(count)[:-1], count)

    def among(self, steps: Integers) -> tuple[Integers, Integers]:
        """The inputs of these steps, and for each the place of its step among them."""
        counts = self.count[steps]
        owner = np.repeat(np.arange(len(steps)), counts)
        return self.child[ranges(self.start[steps], counts)], owner


def _project(steps: Integers, sets: StepSets, graph: Graph, max_bindings: int | None) -> None:
    if not len(steps):
        return
    patterns = _patterns(steps, sets)
    found = match(graph.index, patterns, max_bindings)
    sets.store(steps, found.answer_pattern, found.answer)


def _patterns(steps: Integers, sets: StepSets) -> Patterns:
    """The projections of these steps, with their inputs' sets, as patterns."""
    table = sets.table
    first = np.searchsorted(table.slots[:, SLOT.STEP], steps)
    counts = np.searchsorted(table.slots[:, SLOT.STEP], steps, side="right") - first
    slots = table.slots[ranges(first, counts)]
    kind, filler = slots[:, SLOT.KIND], slots[:, SLOT.FILLER].copy()
    from_step = np.flatnonzero(kind == Kind.SET)
    inputs = filler[from_step]
    filler[from_step] = np.arange(len(inputs))
    return Patterns(
        relation=table.steps[steps, STEP.RELATION],
        closed=table.steps[steps, STEP.CLOSED],
        first_slot=offsets(counts),
        asked=table.steps[steps, STEP.ASKED],
        attribute=slots[:, SLOT.ATTRIBUTE],
        kind=kind,
        filler=filler,
        set_offset=offsets(sets.length[inputs]),
        members=sets.members(inputs),
        inverted=sets.inverted[inputs].astype(np.int64),
    )


def _combine(steps: Integers, sets: StepSets, children: _Children, graph: Graph) -> None:
    """And and Or; an Or is the complement of the And of complements."""
    if not len(steps):
        return
    inputs, owner = children.among(steps)
    is_or = sets.table.steps[steps, STEP.OP] == Op.OR
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


def _negate(steps: Integers, sets: StepSets, children: _Children) -> None:
    if len(steps):
        inputs = children.child[children.start[steps]]
        sets.start[steps], sets.length[steps] = sets.start[inputs], sets.length[inputs]
        sets.inverted[steps] = ~sets.inverted[inputs]

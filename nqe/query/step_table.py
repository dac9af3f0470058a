"""The plan table: the steps and slots of many plans as flat columns, numbered through.

This is the only place that numbers the steps of several plans through, converts plans to columns
and back, and tells which steps lie under a negation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.pattern import FIRST_QUALIFIER, Kind, Patterns
from nqe.graph.ragged import Ragged, offsets, ranges
from nqe.query.plan import SLOT_ROW, STEP_ROW, Op, Plan, Step

STEP_COLUMNS = ("op", "depth", "parent", "relation", "asked", "closed")
SLOT_COLUMNS = ("attribute", "kind", "filler")


@dataclass(frozen=True, eq=False)
class StepTable:
    """Many plans, one after another, as columns of steps and columns of slots.

    Within a plan, inputs stand before the step that uses them, and the last step is the target.
    The slots of a projection are its subject, object and qualifier values, in this order.
    """

    plan_start: Integers  # (plans + 1,) the first step of each plan
    op: Integers  # (steps,) an Op
    depth: Integers  # (steps,) 0 for steps without inputs
    parent: Integers  # (steps,) the step that uses this one, -1 for a target
    relation: Integers  # (steps,) -1 unless a projection
    asked: Integers  # (steps,) the asked slot within the projection, -1 unless a projection
    closed: Integers  # (steps,) 1 if the projection's atom is closed
    slot_start: Integers  # (steps + 1,) the first slot of each step
    attribute: Integers  # (slots,) -1 for subject and object
    kind: Integers  # (slots,) a Kind
    filler: Integers  # (slots,) the known entity, the step that fills the slot, or -1

    @classmethod
    def of(cls, plans: Sequence[Plan]) -> StepTable:
        """The table of the given plans."""
        rows = [plan.rows for plan in plans]
        lengths = np.fromiter((len(steps) for steps, _ in rows), np.int64, count=len(rows))
        steps = np.concatenate([np.zeros((0, STEP_ROW), np.int64), *(steps for steps, _ in rows)])
        slots = np.concatenate([np.zeros((0, SLOT_ROW), np.int64), *(slots for _, slots in rows)])
        *step_columns, slot_count = np.ascontiguousarray(steps.T)
        columns = dict(zip(STEP_COLUMNS, step_columns, strict=True))
        columns |= zip(SLOT_COLUMNS, np.ascontiguousarray(slots.T), strict=True)
        return cls.of_local(offsets(lengths), slot_start=offsets(slot_count), **columns)

    @classmethod
    def of_patterns(cls, patterns: Patterns) -> StepTable:
        """One plan per pattern without sets; a free slot that is not asked for gets a step Any."""
        count = len(patterns)
        slot_counts = np.diff(patterns.first_slot)
        owner = np.repeat(np.arange(count), slot_counts)
        place = np.arange(len(owner)) - patterns.first_slot[owner]
        unrestricted = (patterns.kind == Kind.FREE) & (place != patterns.asked[owner])
        any_slots = np.flatnonzero(unrestricted)
        any_counts = np.bincount(owner[any_slots], minlength=count)
        start = offsets(any_counts + 1)
        targets, total = start[1:] - 1, int(start[-1])
        # All projections have one depth, so that they go through an encoder together.
        depth = int(any_counts.any())
        kind, filler = patterns.kind.copy(), patterns.filler.copy()
        kind[any_slots] = Kind.SET
        filler[any_slots] = ranges(start[:-1], any_counts)
        parent = np.repeat(targets, any_counts + 1)
        parent[targets] = -1
        return cls(
            plan_start=start,
            op=_scatter(total, Op.ANY, targets, Op.PROJECTION),
            depth=_scatter(total, 0, targets, depth),
            parent=parent,
            relation=_scatter(total, -1, targets, patterns.relation),
            asked=_scatter(total, -1, targets, patterns.asked),
            closed=_scatter(total, 0, targets, patterns.closed),
            slot_start=offsets(_scatter(total, 0, targets, slot_counts)),
            attribute=patterns.attribute,
            kind=kind,
            filler=filler,
        )

    @classmethod
    def of_local(cls, plan_start: Integers, **columns: Integers) -> StepTable:
        """A table whose step numbers, in `parent` and `filler`, count within each plan."""
        return cls(plan_start, **columns)._shift(plan_start[:-1])

    @classmethod
    def concatenate(cls, tables: Sequence[StepTable]) -> StepTable:
        """The plans of all tables, one table after another."""
        if not tables:
            return cls.of([])
        parts = [table.to_local() for table in tables]
        columns = {
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in (*STEP_COLUMNS, *SLOT_COLUMNS)
        }
        plan_start = offsets(np.concatenate([np.diff(part.plan_start) for part in parts]))
        slot_start = offsets(np.concatenate([np.diff(part.slot_start) for part in parts]))
        return cls.of_local(plan_start, slot_start=slot_start, **columns)

    def __len__(self) -> int:
        """The number of plans."""
        return len(self.plan_start) - 1

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same plans in the same order."""
        if not isinstance(other, StepTable):
            return NotImplemented
        names = (one.name for one in fields(self))
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    __hash__ = None  # type: ignore[assignment]

    def take(self, plans: Integers) -> StepTable:
        """The given plans, in the given order."""
        lengths = self.step_counts[plans]
        first = self.plan_start[plans]
        steps = ranges(first, lengths)
        slot_counts = np.diff(self.slot_start)[steps]
        slots = ranges(self.slot_start[steps], slot_counts)
        start = offsets(lengths)
        columns = {name: getattr(self, name)[steps] for name in STEP_COLUMNS}
        columns |= {name: getattr(self, name)[slots] for name in SLOT_COLUMNS}
        taken = StepTable(start, slot_start=offsets(slot_counts), **columns)
        return taken._shift(start[:-1] - first)

    def conjoin(self, counts: Integers) -> StepTable:
        """One plan per count: the And of that many plans, which follow one another."""
        ends = self.plan_start[np.cumsum(counts)]
        shifted = self._shift(np.repeat(np.arange(len(counts)), counts))
        new = ends + np.arange(len(ends))  # the steps And
        parent = shifted.parent
        parent[self.targets] = np.repeat(new, counts)
        depth = np.maximum.reduceat(self.depth, np.append(0, ends[:-1])) + 1
        added: dict[str, Integers | int] = {"op": Op.AND, "depth": depth, "parent": -1}
        added |= {"relation": -1, "asked": -1}
        columns = {
            name: np.insert(getattr(shifted, name), ends, added.get(name, 0))
            for name in STEP_COLUMNS
        }
        slot_start = np.insert(self.slot_start, ends, self.slot_start[ends])
        return replace(shifted, plan_start=np.append(0, new + 1), slot_start=slot_start, **columns)

    def to_local(self) -> StepTable:
        """The table with step numbers that count within each plan; for storage alone."""
        return self._shift(-self.plan_start[:-1])

    def plan(self, number: int) -> Plan:
        """One plan as an object."""
        local = self.take(np.array([number])).to_local()
        names, inputs = local._variables(), local.children
        return Plan(
            tuple(
                local._step(step, names[step], tuple(inputs[step].tolist()))
                for step in range(len(local.op))
            )
        )

    @property
    def step_count(self) -> int:
        """The number of steps of all plans."""
        return len(self.op)

    @property
    def step_counts(self) -> Integers:
        """The number of steps of each plan."""
        return np.diff(self.plan_start)

    @property
    def targets(self) -> Integers:
        """The target step of each plan."""
        return self.plan_start[1:] - 1

    @property
    def plan_of_step(self) -> Integers:
        """The plan that each step belongs to."""
        return np.repeat(np.arange(len(self)), self.step_counts)

    @property
    def step_of_slot(self) -> Integers:
        """The step that each slot belongs to."""
        return np.repeat(np.arange(self.step_count), np.diff(self.slot_start))

    @property
    def depth_count(self) -> int:
        """The number of depths, from the steps without inputs up to the highest target."""
        return int(self.depth.max(initial=-1)) + 1

    @cached_property
    def children(self) -> Ragged:
        """The inputs of each step, in ascending order."""
        child = np.flatnonzero(self.parent >= 0)
        child = child[np.argsort(self.parent[child], kind="stable")]
        return Ragged.group(child, self.parent[child], self.step_count)

    @cached_property
    def under_negation(self) -> Booleans:
        """Whether each step has a negation above it."""
        return self.has_above(self.op == Op.NOT)

    @property
    def arities(self) -> Ragged:
        """For each plan, the number of entities in the atom of each of its projections."""
        projections = self.op == Op.PROJECTION
        counts = np.bincount(self.plan_of_step[projections], minlength=len(self))
        return Ragged(offsets(counts), np.diff(self.slot_start)[projections])

    @property
    def asked_kinds(self) -> Integers:
        """For each plan, the slot the target stands in: 0 subject, 1 object, 2 qualifier value.

        If the target stands in several atoms, the first one that is not negated counts.
        """
        holds_target = ~self.has_above(self.op == Op.PROJECTION)
        atoms = np.flatnonzero(holds_target & (self.op == Op.PROJECTION))
        plan = self.plan_of_step[atoms]
        order = np.lexsort((atoms, self.under_negation[atoms], plan))
        _, first = np.unique(plan[order], return_index=True)
        kinds: Integers = np.minimum(self.asked[atoms[order[first]]], FIRST_QUALIFIER)
        return kinds

    def slots_of(self, steps: Integers) -> Ragged:
        """The numbers of the slots of each given step."""
        counts = np.diff(self.slot_start)[steps]
        return Ragged(offsets(counts), ranges(self.slot_start[steps], counts))

    def _shift(self, shift: Integers) -> StepTable:
        """The table with each plan's step numbers moved by the plan's shift."""
        of_step = np.repeat(shift, self.step_counts)
        of_slot = np.repeat(of_step, np.diff(self.slot_start))
        return replace(
            self,
            parent=np.where(self.parent >= 0, self.parent + of_step, -1),
            filler=np.where(self.kind == Kind.SET, self.filler + of_slot, self.filler),
        )

    def has_above(self, marked: Booleans) -> Booleans:
        """Whether each step has a marked step above it in its plan."""
        found = np.zeros(self.step_count, dtype=bool)
        for depth in range(self.depth_count - 2, -1, -1):
            steps = np.flatnonzero((self.depth == depth) & (self.parent >= 0))
            parent = self.parent[steps]
            found[steps] = found[parent] | marked[parent]
        return found

    def _variables(self) -> list[str]:
        """Names for the variables of one plan; the inputs of a connective share its variable."""
        names = ["x"] * self.step_count
        for step in range(self.step_count - 2, -1, -1):
            parent = int(self.parent[step])
            below_projection = self.op[parent] == Op.PROJECTION
            names[step] = f"v{step + 1}" if below_projection else names[parent]
        return names

    def _step(self, number: int, variable: str, inputs: tuple[int, ...]) -> Step:
        """One step of a table of one plan."""
        first, last = int(self.slot_start[number]), int(self.slot_start[number + 1])
        kinds, fillers = self.kind[first:last].tolist(), self.filler[first:last].tolist()
        places = {
            filler: place
            for place, (kind, filler) in enumerate(zip(kinds, fillers, strict=True))
            if kind == Kind.SET
        }
        return Step(
            Op(self.op[number]),
            inputs,
            variable,
            int(self.depth[number]),
            int(self.relation[number]),
            tuple(self.attribute[first + FIRST_QUALIFIER : last].tolist()),
            tuple(
                filler if kind == Kind.KNOWN else None
                for kind, filler in zip(kinds, fillers, strict=True)
            ),
            tuple(places[one] for one in inputs) if places else (),
            int(self.asked[number]),
            bool(self.closed[number]),
        )


def _scatter(size: int, fill: int, places: Integers, values: Integers | int) -> Integers:
    """An array with the values at the given places and `fill` elsewhere."""
    array = np.full(size, fill, dtype=np.int64)
    array[places] = values
    return array

"""Many queries with their answers in columns, without a Python object a query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.pattern import FIRST_QUALIFIER, Kind
from nqe.graph.ragged import Ragged, offsets
from nqe.graph.ragged import concatenate as join
from nqe.query.exact_batch import StepTable
from nqe.query.plan import SLOT, STEP, Op, Plan, Step


@dataclass(frozen=True, eq=False)
class QueryTable:
    """Queries as ragged tables of steps and slots (see STEP and SLOT), and their answers.

    Numbers of steps count within a query. Of training queries all answers are easy, and perhaps
    only some are kept; `answer_count` counts all. `missing` goes with `hard`: the number of
    facts an answer needs that are not known.
    """

    shape: tuple[str, ...]  # (queries,)
    steps: Ragged  # (steps, 6)
    slots: Ragged  # (slots, 4)
    easy: Ragged  # (answers,)
    hard: Ragged  # (answers,)
    missing: Ragged  # (answers,)
    answer_count: Integers  # (queries,)

    def __len__(self) -> int:
        return len(self.shape)

    def take(self, rows: Integers) -> QueryTable:
        """These queries, in this order."""
        ragged = {name: getattr(self, name).take(rows) for name in RAGGED}
        shape = tuple(map(self.shape.__getitem__, rows.tolist()))
        return replace(self, shape=shape, answer_count=self.answer_count[rows], **ragged)

    def plan(self, row: int) -> Plan:
        """One query as a plan."""
        return plan_of(self.steps[row], self.slots[row])

    def step_table(self) -> StepTable:
        """All queries numbered through, ready to be run together."""
        steps, slots = self.steps.values.copy(), self.slots.values.copy()
        step_shift = np.repeat(self.steps.offset[:-1], self.steps.lengths)
        slot_shift = np.repeat(self.steps.offset[:-1], self.slots.lengths)
        steps[:, STEP.PARENT] += np.where(steps[:, STEP.PARENT] >= 0, step_shift, 0)
        slots[:, SLOT.STEP] += slot_shift
        slots[:, SLOT.FILLER] += np.where(slots[:, SLOT.KIND] == Kind.SET, slot_shift, 0)
        return StepTable(steps, slots, self.steps.offset)

    def arities(self) -> Ragged:
        """The arity of each projection of each query: how many entities its atom holds."""
        step = self.steps.offset[self.slots.owner] + self.slots.values[:, SLOT.STEP]
        sizes = np.bincount(step, minlength=len(self.steps.values))
        projections = self.steps.values[:, STEP.OP] == Op.PROJECTION
        counts = np.bincount(self.steps.owner[projections], minlength=len(self))
        return Ragged(offsets(counts), sizes[projections])

    def asked(self) -> Integers:
        """The kind of slot that the target stands in: 0 subject, 1 object, 2 a qualifier's value.

        Where it stands in several atoms, the first that is not under a `not` counts.
        """
        steps, query = self.steps.values, self.steps.owner
        start = self.steps.offset[query]
        parent = steps[:, STEP.PARENT] + start
        about_target = steps[:, STEP.PARENT] < 0
        negated = np.zeros(len(steps), dtype=bool)
        for depth in range(int(steps[:, STEP.DEPTH].max(initial=0)) - 1, -1, -1):
            now = np.flatnonzero((steps[:, STEP.DEPTH] == depth) & (steps[:, STEP.PARENT] >= 0))
            above = parent[now]
            about_target[now] = about_target[above] & (steps[above, STEP.OP] != Op.PROJECTION)
            negated[now] = negated[above] | (steps[above, STEP.OP] == Op.NOT)
        atoms = np.flatnonzero(about_target & (steps[:, STEP.OP] == Op.PROJECTION))
        order = np.lexsort((atoms, negated[atoms], query[atoms]))
        _, first = np.unique(query[atoms][order], return_index=True)
        kinds: Integers = np.minimum(steps[atoms[order][first], STEP.ASKED], FIRST_QUALIFIER)
        return kinds


RAGGED = ("steps", "slots", "easy", "hard", "missing")


def concatenate(tables: Iterable[QueryTable]) -> QueryTable:
    """The queries of all tables, one table after another."""
    tables = list(tables)
    if not tables:
        return empty()
    ragged = {name: join([getattr(table, name) for table in tables]) for name in RAGGED}
    return QueryTable(
        shape=tuple(chain.from_iterable(table.shape for table in tables)),
        answer_count=np.concatenate([table.answer_count for table in tables]),
        **ragged,
    )


def empty() -> QueryTable:
    """No queries."""
    nothing = np.zeros(0, dtype=np.int64)
    return QueryTable(
        (), Ragged.of([], 6), Ragged.of([], 4), Ragged.of([]), Ragged.of([]), Ragged.of([]), nothing
    )


def plan_of(steps: Integers, slots: Integers) -> Plan:
    """The plan that a query's rows describe."""
    inputs: dict[int, list[int]] = {}
    for number, row in enumerate(steps.tolist()):
        inputs.setdefault(row[STEP.PARENT], []).append(number)
    of_step: dict[int, list[list[int]]] = {}
    for row in slots.tolist():
        of_step.setdefault(row[SLOT.STEP], []).append(row)
    names = _variables(steps)
    return Plan(
        tuple(
            _step(names[number], row, tuple(inputs.get(number, ())), of_step.get(number, []))
            for number, row in enumerate(steps.tolist())
        )
    )


def _variables(steps: Integers) -> list[str]:
    """The target is x; what a connective joins is about the same variable as the whole."""
    names = ["x"] * len(steps)
    for number in range(len(steps) - 2, -1, -1):
        parent = int(steps[number, STEP.PARENT])
        of_projection = steps[parent, STEP.OP] == Op.PROJECTION
        names[number] = f"v{number + 1}" if of_projection else names[parent]
    return names


def _step(variable: str, row: list[int], inputs: tuple[int, ...], slots: list[list[int]]) -> Step:
    filled = {
        one[SLOT.FILLER]: place for place, one in enumerate(slots) if one[SLOT.KIND] == Kind.SET
    }
    return Step(
        Op(row[STEP.OP]),
        inputs,
        variable,
        row[STEP.DEPTH],
        row[STEP.RELATION],
        tuple(one[SLOT.ATTRIBUTE] for one in slots[FIRST_QUALIFIER:]),
        tuple(one[SLOT.FILLER] if one[SLOT.KIND] == Kind.KNOWN else None for one in slots),
        tuple(filled[one] for one in inputs) if filled else (),
        row[STEP.ASKED],
        bool(row[STEP.CLOSED]),
    )

"""Bindings: the likeliest members of a projection's inputs, put into its slots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nqe.graph.arrays import Integers
from nqe.graph.pattern import Kind, Patterns
from nqe.graph.ragged import offsets, ranges
from nqe.model.fuzzy_logic import Logic
from nqe.query.exact_batch import StepTable
from nqe.query.plan import SLOT, STEP, Op

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Bindings:
    """Projections with their inputs bound, one after another by projection."""

    start: Integers  # (projections + 1,) the bindings of each projection
    weight: Floats  # (bindings,) how likely the inputs are what they are bound to
    relation: Integers  # (bindings,)
    asked: Integers  # (bindings,)
    closed: Integers  # (bindings,)
    slot_start: Integers  # (bindings + 1,)
    attribute: Integers  # (slots,)
    kind: Integers  # (slots,) FREE where asked or where anything may stand
    filler: Integers  # (slots,) an entity, or -1

    def __len__(self) -> int:
        return len(self.weight)

    def patterns(self) -> Patterns:
        """What the facts are asked; a slot where anything may stand is free."""
        nothing = np.zeros(0, dtype=np.int64)
        return Patterns(
            relation=self.relation,
            closed=self.closed,
            first_slot=self.slot_start,
            asked=self.asked,
            attribute=self.attribute,
            kind=self.kind,
            filler=self.filler,
            set_offset=np.zeros(1, dtype=np.int64),
            members=nothing,
            inverted=nothing,
        )

    def steps(self) -> StepTable:
        """What the model is asked: a plan a binding; where anything may stand, a step Any."""
        slots = len(self.attribute)
        owner = np.repeat(np.arange(len(self)), np.diff(self.slot_start))
        place = np.arange(slots) - self.slot_start[owner]
        anything = np.flatnonzero((self.kind == Kind.FREE) & (place != self.asked[owner]))
        before = np.bincount(owner[anything], minlength=len(self))
        plan_start = offsets(before + 1)
        last = plan_start[1:] - 1
        steps = np.zeros((int(plan_start[-1]), 6), dtype=np.int64)
        steps[:, STEP.OP], steps[:, STEP.RELATION], steps[:, STEP.ASKED] = Op.ANY, -1, -1
        steps[:, STEP.PARENT] = np.repeat(last, before + 1)
        steps[last] = np.stack(
            [
                np.full(len(self), Op.PROJECTION),
                # All at one depth, so that they go through the encoder together.
                np.full(len(self), bool(before.any())),
                np.full(len(self), -1),
                self.relation,
                self.asked,
                self.closed,
            ],
            axis=1,
        )
        filler, kind = self.filler.copy(), self.kind.copy()
        kind[anything] = Kind.SET
        filler[anything] = ranges(plan_start[:-1], before)
        columns = (last[owner], self.attribute, kind, filler)
        return StepTable(steps, np.stack(columns, axis=1), plan_start)


def choose_bindings(
    table: StepTable, steps: Integers, rows: Tensor, logic: Logic, beam: int, least: float
) -> Bindings:
    """The best bindings of each of some projections, at most so many and not less likely."""
    first = np.searchsorted(table.slots[:, SLOT.STEP], steps)
    last = np.searchsorted(table.slots[:, SLOT.STEP], steps, side="right")
    parts = [
        _of_projection(table, table.slots[a:b], rows, logic, beam, least)
        for a, b in zip(first.tolist(), last.tolist(), strict=True)
    ]
    counts = np.array([len(weight) for weight, _ in parts], dtype=np.int64)
    repeated = np.repeat(steps, counts)
    slots = np.repeat(last - first, counts)
    source = ranges(np.repeat(first, counts), slots)
    return Bindings(
        start=offsets(counts),
        weight=np.concatenate([weight for weight, _ in parts]),
        relation=table.steps[repeated, STEP.RELATION],
        asked=table.steps[repeated, STEP.ASKED],
        closed=table.steps[repeated, STEP.CLOSED],
        slot_start=offsets(slots),
        attribute=table.slots[source, SLOT.ATTRIBUTE],
        kind=np.where(
            np.concatenate([filler.ravel() for _, filler in parts]) < 0, Kind.FREE, Kind.KNOWN
        ).astype(np.int64),
        filler=np.concatenate([filler.ravel() for _, filler in parts]),
    )


def _of_projection(
    table: StepTable, slots: Integers, rows: Tensor, logic: Logic, beam: int, least: float
) -> tuple[Floats, Integers]:
    """The weights of a projection's bindings, and what stands in its slots, -1 where nothing."""
    from_step = np.flatnonzero(slots[:, SLOT.KIND] == Kind.SET)
    inputs = slots[from_step, SLOT.FILLER]
    filled = from_step[table.steps[inputs, STEP.OP] != Op.ANY]
    base = np.where(slots[:, SLOT.KIND] == Kind.KNOWN, slots[:, SLOT.FILLER], -1)
    weight, chosen = _joint([rows[int(slots[one, SLOT.FILLER])] for one in filled], logic, beam)
    kept = weight >= least
    if not kept.any():
        kept[:1] = True
    filler = np.tile(base, (int(kept.sum()), 1))
    filler[:, filled] = chosen[kept]
    return weight[kept], filler


def _joint(rows: list[Tensor], logic: Logic, beam: int) -> tuple[Floats, Integers]:
    """The best joint choices of one member a row: how likely they are, and the members."""
    weight, members = torch.ones(1), torch.zeros(1, 0, dtype=torch.int64)
    for row in rows:
        top = row.topk(min(beam, len(row)))
        values, indices = top.values.cpu(), top.indices.cpu()
        pairs = torch.cartesian_prod(weight, values)  # (pairs, 2)
        best = logic.conjoin(pairs.T[None])[0] if members.shape[1] else values
        best, place = best.topk(min(beam, len(best)))
        before, now = place // len(values), place % len(values)
        members = torch.cat([members[before], indices[now, None]], dim=1)
        weight = best
    return weight.numpy(), members.numpy()

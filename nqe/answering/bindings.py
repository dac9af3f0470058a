"""Bindings: the most likely members of a projection's inputs, inserted into its slots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nqe.graph.arrays import Integers
from nqe.graph.pattern import Kind, Patterns
from nqe.graph.ragged import offsets
from nqe.model.fuzzy_logic import Logic
from nqe.query.plan import Op
from nqe.query.step_table import StepTable

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Bindings:
    """Projections whose inputs are bound to entities, ordered by projection."""

    start: Integers  # (projections + 1,) the range of bindings of each projection
    weight: Floats  # (bindings,) the probability that the inputs are the bound entities
    patterns: Patterns
    """One pattern per binding; a slot that may hold any entity is free."""

    def __len__(self) -> int:
        return len(self.weight)

    def to_plans(self) -> StepTable:
        """Return one plan per binding for the model; a free slot becomes a step Any."""
        return StepTable.of_patterns(self.patterns)


def choose_bindings(
    table: StepTable, steps: Integers, rows: Tensor, logic: Logic, beam: int, least: float
) -> Bindings:
    """Choose the most likely bindings of some projections.

    Each projection gets at most `beam` bindings with a probability of at least `least`, and
    always at least one.
    """
    slots = table.slots_of(steps)
    parts = [
        _choose_for_projection(table, slots[place], rows, logic, beam, least)
        for place in range(len(steps))
    ]
    counts = np.array([len(weight) for weight, _ in parts], dtype=np.int64)
    repeated = np.repeat(np.arange(len(steps)), counts)
    bound = slots.take(repeated)
    patterns = Patterns.without_sets(
        relation=table.relation[steps[repeated]],
        closed=table.closed[steps[repeated]],
        asked=table.asked[steps[repeated]],
        first_slot=bound.offset,
        attribute=table.attribute[bound.values],
        filler=np.concatenate([filler.ravel() for _, filler in parts]),
    )
    return Bindings(offsets(counts), np.concatenate([weight for weight, _ in parts]), patterns)


def _choose_for_projection(
    table: StepTable, slots: Integers, rows: Tensor, logic: Logic, beam: int, least: float
) -> tuple[Floats, Integers]:
    """Return the weights of one projection's bindings, and the entities in its slots.

    A free slot holds -1.
    """
    kind, fillers = table.kind[slots], table.filler[slots]
    from_step = np.flatnonzero(kind == Kind.SET)
    filled = from_step[table.op[fillers[from_step]] != Op.ANY]
    base = np.where(kind == Kind.KNOWN, fillers, -1)
    weight, chosen = _choose_jointly([rows[int(fillers[slot])] for slot in filled], logic, beam)
    likely = weight >= least
    if not likely.any():
        likely[:1] = True
    filler = np.tile(base, (int(likely.sum()), 1))
    filler[:, filled] = chosen[likely]
    return weight[likely], filler


def _choose_jointly(rows: list[Tensor], logic: Logic, beam: int) -> tuple[Floats, Integers]:
    """Choose the best combinations of one member per row: their probabilities and members."""
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

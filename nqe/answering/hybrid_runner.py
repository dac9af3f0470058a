"""The hybrid runner as evaluation wants it: queries in, scores of entities out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nqe.answering.answerer import Answerer
from nqe.answering.hybrid import parts
from nqe.graph.pattern import Kind
from nqe.query.exact_batch import StepTable
from nqe.query.plan import SLOT, STEP


@dataclass(frozen=True, eq=False)
class HybridRunner:
    """Scores entities as an answerer does in the mode hybrid."""

    answerer: Answerer

    @property
    def entity_count(self) -> int:
        """How many entities it scores."""
        return self.answerer.graph.entity_count

    def run(self, plans: StepTable) -> RowScores:
        """The probabilities of all entities for each plan."""
        blocks = parts(np.diff(plans.plan_start), self.entity_count)
        tables = [_slice(plans, block) for block in blocks]
        return RowScores(torch.cat([self.answerer.run_table(one).targets() for one in tables]))


@dataclass(frozen=True, eq=False)
class RowScores:
    """Probabilities of all entities."""

    rows: Tensor  # (queries, entities)

    def block(self, first: int, last: int) -> Tensor:
        """Those of a range of entities."""
        return self.rows[:, first:last]


def _slice(table: StepTable, plans: slice) -> StepTable:
    """Consecutive plans of a table, numbered from 0."""
    plan_start = table.plan_start[plans.start : plans.stop + 1]
    first, last = int(plan_start[0]), int(plan_start[-1])
    inside = (table.slots[:, SLOT.STEP] >= first) & (table.slots[:, SLOT.STEP] < last)
    steps, slots = table.steps[first:last].copy(), table.slots[inside]
    steps[steps[:, STEP.PARENT] >= 0, STEP.PARENT] -= first
    slots[:, SLOT.STEP] -= first
    slots[slots[:, SLOT.KIND] == Kind.SET, SLOT.FILLER] -= first
    return StepTable(steps, slots, plan_start - first)

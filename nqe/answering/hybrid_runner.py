"""The hybrid runner as evaluation wants it: queries in, scores of entities out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nqe.answering.answerer import Answerer
from nqe.answering.hybrid import split_plans
from nqe.query.step_table import StepTable


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
        every = np.arange(len(plans))
        blocks = split_plans(plans.step_counts, self.entity_count)
        tables = [plans.take(every[block]) for block in blocks]
        return RowScores(
            torch.cat([self.answerer.neural.run_table(one).targets() for one in tables])
        )


@dataclass(frozen=True, eq=False)
class RowScores:
    """Probabilities of all entities."""

    rows: Tensor  # (queries, entities)

    def block(self, first: int, last: int) -> Tensor:
        """Those of a range of entities."""
        return self.rows[:, first:last]

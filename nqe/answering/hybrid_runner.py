"""The hybrid runner for evaluation: plans in, scores of entities out."""

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
    """Scores entities by the probabilities of an answerer's mode hybrid."""

    answerer: Answerer

    @property
    def entity_count(self) -> int:
        """The number of entities it scores."""
        return self.answerer.graph.entity_count

    def run(self, plans: StepTable) -> RowScores:
        """Compute the probabilities of all entities for each plan."""
        numbers = np.arange(len(plans))
        parts = split_plans(plans.step_counts, self.entity_count)
        tables = [plans.take(numbers[part]) for part in parts]
        return RowScores(
            torch.cat([self.answerer.neural.run_table(table).target_rows for table in tables])
        )


@dataclass(frozen=True, eq=False)
class RowScores:
    """Probabilities of all entities, held in memory."""

    rows: Tensor  # (queries, entities)

    def block(self, first: int, last: int) -> Tensor:
        """The probabilities of a range of entities."""
        return self.rows[:, first:last]

"""The hybrid runner for evaluation: plans in, scores of entities out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nqe.answering.answerer import Answerer
from nqe.answering.fuzzy_set import FuzzySet
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

    def run(self, plans: StepTable) -> SetScores:
        """Compute the probabilities of all entities for each plan."""
        numbers = np.arange(len(plans))
        tables = [plans.take(numbers[part]) for part in split_plans(plans.step_counts)]
        runs = (self.answerer.neural.run_table(table) for table in tables)
        return SetScores([one for run in runs for one in run.targets])


@dataclass(frozen=True, eq=False)
class SetScores:
    """The probabilities of entities in fuzzy sets."""

    sets: list[FuzzySet]

    def block(self, first: int, last: int) -> Tensor:
        """The probabilities of a range of entities, (queries, entities)."""
        rows = np.empty((len(self.sets), last - first))
        for row, one in zip(rows, self.sets, strict=True):
            start, end = np.searchsorted(one.entities, (first, last))
            row[:] = one.rest
            row[one.entities[start:end] - first] = one.values[start:end]
        return torch.from_numpy(rows)

"""The hybrid runner as evaluation wants it: queries in, scores of entities out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from nqe.answering.calibration import Calibration
from nqe.answering.hybrid import HybridOptions, HybridRun
from nqe.answering.knowledge import Knowledge
from nqe.errors import choose
from nqe.model.logic import LOGICS
from nqe.sampling.table import QueryTable

ROWS = 2**26
"""So many probabilities of steps exist at a time."""


@dataclass(frozen=True, eq=False)
class HybridRunner:
    """Scores entities by stated facts and the model together."""

    knowledge: Knowledge
    calibration: Calibration
    logic: str = "product"
    options: HybridOptions = field(default_factory=HybridOptions)

    @property
    def entity_count(self) -> int:
        """How many entities it scores."""
        return self.knowledge.entity_count

    def run(self, queries: QueryTable) -> RowScores:
        """The probabilities of all entities for each query."""
        rows = [self._some(queries.take(part)) for part in self._parts(queries)]
        return RowScores(torch.cat(rows))

    def _some(self, queries: QueryTable) -> Tensor:
        logic = choose(LOGICS, self.logic, "logic")()
        table = queries.step_table()
        return HybridRun(
            table, self.knowledge, self.calibration, logic, self.options
        ).targets()

    def _parts(self, queries: QueryTable) -> list[np.ndarray]:
        """Queries in parts with few enough steps to be held together."""
        most = max(1, ROWS // max(self.entity_count, 1))
        part = np.cumsum(queries.steps.lengths) // most
        return np.split(np.arange(len(queries)), np.flatnonzero(np.diff(part)) + 1)


@dataclass(frozen=True, eq=False)
class RowScores:
    """Probabilities of all entities."""

    rows: Tensor  # (queries, entities)

    def block(self, first: int, last: int) -> Tensor:
        """Those of a range of entities."""
        return self.rows[:, first:last]

"""The hybrid runner as evaluation wants it: queries in, scores of entities out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nqe.answering.answerer import Answerer
from nqe.answering.hybrid import HybridRun, parts
from nqe.sampling.query_table import QueryTable


@dataclass(frozen=True, eq=False)
class HybridRunner:
    """Scores entities as an answerer does in the mode hybrid."""

    answerer: Answerer

    @property
    def entity_count(self) -> int:
        """How many entities it scores."""
        return self.answerer.graph.entity_count

    def run(self, queries: QueryTable) -> RowScores:
        """The probabilities of all entities for each query."""
        sizes = queries.plans.step_counts
        everything = np.arange(len(queries))
        some = [queries.take(everything[part]) for part in parts(sizes, self.entity_count)]
        return RowScores(torch.cat([self._run(table).targets() for table in some]))

    def _run(self, queries: QueryTable) -> HybridRun:
        return self.answerer.run_table(queries.plans)


@dataclass(frozen=True, eq=False)
class RowScores:
    """Probabilities of all entities."""

    rows: Tensor  # (queries, entities)

    def block(self, first: int, last: int) -> Tensor:
        """Those of a range of entities."""
        return self.rows[:, first:last]

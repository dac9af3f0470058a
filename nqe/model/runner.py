"""The embedding runner: a plan's query vector, and from it a score for every entity."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from nqe.model.batch import Batch
from nqe.model.model import Model
from nqe.sampling.table import QueryTable


@dataclass(frozen=True, eq=False)
class EmbeddingRunner:
    """Scores entities by the model alone, as the paper does."""

    model: Model

    @property
    def entity_count(self) -> int:
        """How many entities it scores."""
        return self.model.entity_count

    def run(self, queries: QueryTable) -> VectorScores:
        """The queries' vectors, ready to score entities."""
        batch = Batch.of(queries.step_table())
        batch.check(self.model.entity_count, self.model.relation_count)
        self.model.eval()
        with torch.inference_mode():
            return VectorScores(self.model, self.model(batch.to(self.model.device)))


@dataclass(frozen=True, eq=False)
class VectorScores:
    """Query vectors that score any range of entities."""

    model: Model
    vectors: Tensor  # (queries, width)

    def block(self, first: int, last: int) -> Tensor:
        """The scores of a range of entities, (queries, entities of the range)."""
        with torch.inference_mode():
            return self.model.compare(self.vectors, slice(first, last)).scores()

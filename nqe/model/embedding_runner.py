"""The embedding runner: a plan's query vector, and from it a score for every entity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nqe.model.batch import Batch
from nqe.model.model import Model
from nqe.query.plan import Plan
from nqe.sampling.query_table import QueryTable


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
        batch = Batch.of(queries.plans)
        batch.check(self.model.entity_count, self.model.relation_count)
        self.model.eval()
        with torch.inference_mode():
            return VectorScores(self.model, self.model(batch.to(self.model.device)))

    def best(self, plan: Plan, count: int, without: Sequence[int] = ()) -> list[tuple[int, float]]:
        """The entities that score highest, with their scores (the paper's softmax).

        `without` are entities to leave out, such as answers that facts state.
        """
        batch = Batch.of([plan])
        batch.check(self.model.entity_count, self.model.relation_count)
        self.model.eval()
        with torch.inference_mode():
            vector = self.model(batch.to(self.model.device))
            scores = self.model.compare(vector).scores()[0].softmax(0)  # (entities,)
            scores[torch.tensor(without, dtype=torch.int64, device=scores.device)] = -1
            top = scores.topk(min(count, len(scores) - len(without)))
        return list(zip(top.indices.tolist(), top.values.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class VectorScores:
    """Query vectors that score any range of entities."""

    model: Model
    vectors: Tensor  # (queries, width)

    def block(self, first: int, last: int) -> Tensor:
        """The scores of a range of entities, (queries, entities of the range)."""
        with torch.inference_mode():
            return self.model.compare(self.vectors, slice(first, last)).scores()

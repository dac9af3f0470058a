"""The embedding runner: scores of all entities for many queries, by a model alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from nqe.graph.fact_columns import Facts
from nqe.model.model import Model
from nqe.query.step_table import StepTable


@dataclass(frozen=True, eq=False)
class EmbeddingRunner:
    """Scores entities by the model alone, as the paper does."""

    model: Model

    @property
    def entity_count(self) -> int:
        """The number of entities that it scores."""
        return self.model.entity_count

    @property
    def predicts_relations(self) -> bool:
        """Whether the model can be asked for relations."""
        return self.model.predicts_relations

    @property
    def relation_count(self) -> int:
        """The number of relations that it scores."""
        return self.model.relation_count

    def check_expressible(self, plans: StepTable, shapes: Sequence[str]) -> None:
        """Refuse plans that the model cannot express; `shapes` are their names."""
        self.model.check_expressible(plans, shapes)

    def run_relations(self, facts: Facts) -> KnownScores:
        """Score all relations for the one that each fact misses, which is -1 in it."""
        self.model.eval()
        return KnownScores(self.model.score_relations(facts))

    def run(self, plans: StepTable) -> VectorScores:
        """Encode queries; the result scores any range of entities."""
        self.model.eval()
        with torch.inference_mode():
            return VectorScores(self.model, self.model.encode_finite(plans))


@dataclass(frozen=True, eq=False)
class VectorScores:
    """Query vectors that score any range of entities."""

    model: Model
    vectors: Tensor  # (queries, width)

    def block(self, first: int, last: int) -> Tensor:
        """The scores of a range of entities, (queries, entities of the range)."""
        with torch.inference_mode():
            return self.model.score(self.vectors, self.model.entity_block(slice(first, last)))


@dataclass(frozen=True, eq=False)
class KnownScores:
    """Scores that are computed already."""

    scores: Tensor  # (queries, candidates)

    def block(self, first: int, last: int) -> Tensor:
        """The scores of a range of candidates, (queries, candidates of the range)."""
        return self.scores[:, first:last]

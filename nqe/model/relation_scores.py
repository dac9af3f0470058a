"""Scores of relations: what predicts the masked relation of a fact, beside the encoder."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nqe.errors import choose
from nqe.model.embedding_table import FuzzyTable
from nqe.model.model import Comparison
from nqe.model.scorer import SCORERS, Scorer
from nqe.settings import ModelSettings


class RelationScores(nn.Module):
    """A mask of its own, and the map and the score that follow the encoder's layers.

    They are those of entities in form: q = σ(LN(MLP(x_mask))) is compared with the vectors of all
    relations by the score that the settings name.
    """

    def __init__(self, settings: ModelSettings, relation_count: int) -> None:
        super().__init__()
        width = settings.width
        self.mask = FuzzyTable(1, width, settings.steepness)
        self.mlp = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
        self.norm = nn.LayerNorm(width)
        new_scorer = choose(SCORERS, settings.score, "score")
        self.scorer: Scorer = new_scorer(relation_count, settings.temperature)

    def forward(self, masked: Tensor, relations: FuzzyTable) -> Comparison:
        """Compare masked elements after all layers, (facts, width), with all relations."""
        queries = torch.sigmoid(self.norm(self.mlp(masked)))  # (facts, width)
        block = self.scorer.make_block(relations(None, self.scorer.centre), None)
        return Comparison(self.scorer.prepare(queries), block.vectors, block.bias)

"""Scores: how near a query's vector is to an entity's."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True, eq=False)
class Comparison:
    """Queries and entities brought to where scores are queries · entitiesᵀ + bias."""

    queries: Tensor  # (queries, width)
    entities: Tensor  # (entities, width)
    bias: Tensor  # (entities,)

    def scores(self) -> Tensor:
        """All scores, (queries, entities)."""
        return torch.addmm(self.bias, self.queries, self.entities.T)


class CentredScorer(nn.Module):
    """τ(q-½)·(x-½) and a bias an entity: q·x without its query-only term, the other one freed."""

    centre = 0.5

    def __init__(self, entity_count: int, temperature: float) -> None:
        super().__init__()
        self.temperature = nn.Parameter(torch.tensor(temperature))
        self.bias = nn.Parameter(torch.zeros(entity_count))

    def forward(self, queries: Tensor, vectors: Tensor, rows: Tensor | slice | None) -> Comparison:
        """Ready to be compared with entities: their vectors less the centre, and their rows."""
        bias = self.bias if rows is None else self.bias[rows]
        return Comparison((queries - self.centre) * self.temperature, vectors, bias)


class DotScorer(nn.Module):
    """The paper's q·x."""

    centre = 0.0

    def __init__(self, entity_count: int, temperature: float) -> None:  # noqa: ARG002
        super().__init__()

    def forward(self, queries: Tensor, vectors: Tensor, rows: Tensor | slice | None) -> Comparison:  # noqa: ARG002
        """Ready to be compared with entities."""
        return Comparison(queries, vectors, vectors.new_zeros(len(vectors)))


SCORERS: dict[str, type[CentredScorer] | type[DotScorer]] = {
    "centred": CentredScorer,
    "dot": DotScorer,
}

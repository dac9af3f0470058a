"""Scores: how near a query's vector is to an entity's."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from nqe.model.tables import FuzzyTable

_CENTRE = 0.5


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

    def __init__(self, entity_count: int, temperature: float) -> None:
        super().__init__()
        self.temperature = nn.Parameter(torch.tensor(temperature))
        self.bias = nn.Parameter(torch.zeros(entity_count))

    def forward(
        self, queries: Tensor, table: FuzzyTable, rows: Tensor | slice | None
    ) -> Comparison:
        """Ready to be compared with these entities, or with all."""
        bias = self.bias if rows is None else self.bias[rows]
        return Comparison((queries - _CENTRE) * self.temperature, table(rows, _CENTRE), bias)


class DotScorer(nn.Module):
    """The paper's q·x."""

    def __init__(self, entity_count: int, temperature: float) -> None:  # noqa: ARG002
        super().__init__()

    def forward(
        self, queries: Tensor, table: FuzzyTable, rows: Tensor | slice | None
    ) -> Comparison:
        """Ready to be compared with these entities, or with all."""
        entities = table(rows)
        return Comparison(queries, entities, entities.new_zeros(len(entities)))


SCORERS: dict[str, type[CentredScorer] | type[DotScorer]] = {
    "centred": CentredScorer,
    "dot": DotScorer,
}

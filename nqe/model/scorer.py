"""Scores of the NQE model: how a query vector and entity vectors are compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor, nn

from nqe.model.model import Entities, EntityBlock


class Scorer(nn.Module, ABC):
    """Transforms queries and entities so that the score is an inner product plus a bias."""

    centre: float
    """What is subtracted from each value of an entity vector before `make_block`."""

    @abstractmethod
    def prepare(self, queries: Tensor) -> Tensor:
        """The transformed query vectors, (queries, width)."""

    @abstractmethod
    def make_block(self, vectors: Tensor, entities: Entities) -> EntityBlock:
        """The block of entities whose vectors, minus the centre, are given."""


class CentredScorer(Scorer):
    """τ(q-½)·(x-½) plus a bias for each entity.

    This is q·x without the term that depends on q alone, and with a free parameter in place of
    the term that depends on x alone.
    """

    centre = 0.5

    def __init__(self, entity_count: int, temperature: float) -> None:
        super().__init__()
        self.temperature = nn.Parameter(torch.tensor(temperature))
        self.bias = nn.Parameter(torch.zeros(entity_count))

    def prepare(self, queries: Tensor) -> Tensor:
        """τ(q-½)."""
        return (queries - self.centre) * self.temperature

    def make_block(self, vectors: Tensor, entities: Entities) -> EntityBlock:
        """The vectors with the bias of each entity."""
        return EntityBlock(vectors, self.bias if entities is None else self.bias[entities])


class DotScorer(Scorer):
    """The paper's q·x."""

    centre = 0.0

    def __init__(self, entity_count: int, temperature: float) -> None:  # noqa: ARG002
        super().__init__()

    def prepare(self, queries: Tensor) -> Tensor:
        """The query vectors, unchanged."""
        return queries

    def make_block(self, vectors: Tensor, entities: Entities) -> EntityBlock:  # noqa: ARG002
        """The vectors with a bias of 0."""
        return EntityBlock(vectors, vectors.new_zeros(len(vectors)))


SCORERS: dict[str, Callable[[int, float], Scorer]] = {
    "centred": CentredScorer,
    "dot": DotScorer,
}
"""Scorers by the value of `model.score`, built from the number of entities and the temperature."""

"""Scores of the NQE model: how a query vector and entity vectors are compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

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


_DEVIATION = 0.05
"""What is added to the deviation of every vector; one-hop vectors have 0.07 to 0.2 of their own."""
_LEAST_DEVIATION = 1e-6
"""The smallest deviation, relative to the largest value, that is more than rounding."""
_LEAST_VALUE = 1e-20
"""A vector whose largest value is smaller counts as zero, so that gradients stay finite."""


class CentredScorer(Scorer):
    """τ(c + s·c/deviation(c) + o)·(x-½) plus a bias for each entity; c = q - mean(q), s = 0.05.

    This is q·x without the term that depends on q alone, and with a free parameter in place of
    the term that depends on x alone. A conjunction of many parts has small values everywhere. The
    part that is divided by the deviation keeps its order and its size, so that the bias does not
    outweigh it; the other part lets a one-hop vector express how sure it is. The learnt number o
    is the same for all queries, and tells frequent entities from rare ones, as the bias does.
    """

    centre = 0.5

    def __init__(self, entity_count: int, temperature: float) -> None:
        super().__init__()
        self.temperature = nn.Parameter(torch.tensor(temperature))
        self.offset = nn.Parameter(torch.tensor(0.0))
        self.bias = nn.Parameter(torch.zeros(entity_count))

    def prepare(self, queries: Tensor) -> Tensor:
        """τ(c + s·c/deviation(c) + o), with c = q - mean(q)."""
        centred = queries - queries.mean(-1, keepdim=True)
        return (centred + _DEVIATION * standardise(queries) + self.offset) * self.temperature

    def make_block(self, vectors: Tensor, entities: Entities) -> EntityBlock:
        """The vectors with the bias of each entity."""
        return EntityBlock(vectors, self.bias if entities is None else self.bias[entities])


def standardise(vectors: Tensor) -> Tensor:
    """Each vector minus its mean, divided by its deviation; a constant vector becomes zero."""
    # The scale has no influence on the result, so it needs no gradient.
    scale = vectors.detach().amax(-1, keepdim=True).clamp_min(_LEAST_VALUE)
    return functional.layer_norm(vectors / scale, vectors.shape[-1:], eps=_LEAST_DEVIATION**2)


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

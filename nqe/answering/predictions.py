"""Predictions of a model for bindings: the entities that have a chance, and how large it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nqe.answering.bindings import Bindings
from nqe.answering.calibration import Curve
from nqe.answering.entity_index import EntityIndex
from nqe.answering.entity_scores import IndexedScores, RoughScores, Scores
from nqe.answering.predictor import Predictor
from nqe.graph.arrays import Integers
from nqe.model.model import Comparison

Floats = npt.NDArray[np.float64]

MAX_SCORES = 2**22
"""About this many scores exist at once."""
SCORED_AT_ONCE = 2**16
"""With an index, so few bindings are scored at once that those of one projection share blocks."""


@dataclass(frozen=True, eq=False)
class Predicted:
    """Pairs of a binding and an entity that it may lead to, with the model's probability."""

    binding: Integers  # (pairs,)
    entity: Integers  # (pairs,)
    probability: Floats  # (pairs,)


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model says about bindings, calibrated; what facts state is left out."""

    predictor: Predictor
    curve: Curve
    bindings: Bindings
    vectors: Tensor  # (bindings, width), NaN for a binding with a name that the model lacks
    shift: Floats  # (bindings,)
    stated: tuple[Integers, Integers]
    """Pairs of a binding and an entity that facts state, ordered by binding."""
    totals: Floats  # (bindings,)
    """The log-sum of the scores of each binding, once its likely entities were found."""
    index: EntityIndex | None
    """Where to look for entities with a chance; None to look at all."""

    @classmethod
    def of(
        cls, bindings: Bindings, predictor: Predictor, curve: Curve, *, with_index: bool = False
    ) -> Predictions:
        """Encode all bindings in one call, and find what the facts state for them."""
        vectors = predictor.encode(bindings.to_plans())
        stated = predictor.find_stated(bindings)
        counts = np.bincount(stated[0], minlength=len(bindings))
        patterns = bindings.patterns
        relation = predictor.to_model_relations(patterns.relation)
        shift = curve.compute_shift(relation, patterns.asked, counts)
        totals = np.full(len(bindings), np.nan)
        index = predictor.index if with_index else None
        return cls(predictor, curve, bindings, vectors, shift, stated, totals, index)

    def find_likely(self, first: int, last: int, least: Floats) -> Iterator[Predicted]:
        """Yield the pairs of a range of bindings that have at least some probability.

        `least` is the least probability of each of the bindings.
        """
        for rows in self._split(first, last):
            limit = least[rows.start - first : rows.stop - first]
            scores = self._score(rows, limit)
            self.totals[rows] = scores.total[:, 0].double().cpu().numpy()
            binding, entity, logs = scores.select(limit)
            yield Predicted(binding, entity, self.to_probabilities(binding, entity, logs))

    def look_up(self, entity: int) -> Floats:
        """The probability of one entity given each binding, (bindings,); 1 if facts state it."""
        found = np.zeros(len(self.bindings))
        for rows in self._split(0, len(found)):
            found[rows] = self._score(rows).look_up(entity)
        binding, stated = self.stated
        found[binding[stated == entity]] = 1
        return found

    @torch.no_grad()
    def look_up_pairs(self, binding: Integers, entity: Integers) -> Floats:
        """The probabilities of pairs whose entities facts do not state, after `find_likely`."""
        used, place = np.unique(binding, return_inverse=True)
        vectors = self.vectors[torch.from_numpy(used).to(self.vectors.device)]
        comparison = self.predictor.compare(vectors, self.curve.temperature)
        scores = _compare_pairs(comparison, place, entity).double().cpu().numpy()
        found = self.to_probabilities(binding, entity, scores - self.totals[binding])
        unseen = vectors[:, 0].isnan().cpu().numpy()
        return np.where(unseen[place], 0.0, found)

    def _split(self, first: int, last: int) -> Iterator[slice]:
        """Split a range of bindings into parts whose scores fit into memory."""
        width = self.predictor.entity_count if self.index is None else SCORED_AT_ONCE
        height = max(1, MAX_SCORES // max(width, 1))
        return (slice(one, min(one + height, last)) for one in range(first, last, height))

    def _score(self, rows: slice, least: Floats | None = None) -> Scores:
        """Score the entities that have at least some probability, or all of them."""
        if self.index is not None:
            return IndexedScores(self, rows, self.index)
        if least is not None and self.predictor.can_score_roughly:
            return RoughScores(self, rows, least)
        return Scores(self, rows)

    def to_probabilities(self, binding: Integers, entity: Integers, logs: Floats) -> Floats:
        """Turn logs of softmax values into probabilities."""
        elsewhere = ~self.predictor.has_stood(self.bindings.patterns, binding, entity)
        return self.curve.to_probabilities(logs, self.shift[binding], elsewhere)


def _compare_pairs(comparison: Comparison, query: Integers, entity: Integers) -> Tensor:
    """The score of each query and the entity beside it, (pairs,)."""
    device, width = comparison.queries.device, comparison.queries.shape[1]
    parts = torch.split(torch.from_numpy(np.stack((query, entity))), MAX_SCORES // width, dim=1)
    scores = [comparison.bias.new_empty(0)]
    for row, column in (part.to(device) for part in parts):
        products = comparison.queries[row] * comparison.entities[column]
        scores.append(products.sum(1) + comparison.bias[column])
    return torch.cat(scores)

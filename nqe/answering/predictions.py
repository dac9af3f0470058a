"""Predictions of a model for bindings: the entities that have a chance, and how large it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nqe.answering.bindings import Bindings
from nqe.answering.calibration import Curve
from nqe.answering.entity_index import EntityIndex, Look
from nqe.answering.entity_scores import AllEntities, EntityColumns, Scores, are_small
from nqe.answering.predictor import Predictor
from nqe.answering.rough_scores import RoughColumns
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
    """The log-sum of the scores of each binding, once its entities were scored."""
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
        index = predictor.entities.index if with_index else None
        return cls(predictor, curve, bindings, vectors, shift, stated, totals, index)

    def find_likely(self, first: int, last: int, least: Floats) -> Iterator[Predicted]:
        """Yield the pairs of a range of bindings that have at least some probability.

        `least` is the least probability of each of the bindings.
        """
        for rows in self._split(first, last):
            some = least[rows.start - first : rows.stop - first]
            scores = self._score(rows, some)
            row, entity, logs = scores.select(self._find_limits(rows, some, scores.total))
            binding = row + rows.start
            yield Predicted(binding, entity, self.to_probabilities(binding, entity, logs))

    def look_up(self, entity: int) -> Floats:
        """The probability of one entity given each binding, (bindings,); 1 if facts state it."""
        for rows in self._split(0, len(self.bindings)):
            self._score(rows)
        binding, stated = self.stated
        others = np.setdiff1d(np.arange(len(self.bindings)), binding[stated == entity])
        found = np.ones(len(self.bindings))
        found[others] = self.look_up_pairs(others, np.full_like(others, entity))
        return found

    @torch.no_grad()
    def look_up_pairs(self, binding: Integers, entity: Integers) -> Floats:
        """The probabilities of pairs whose entities facts do not state, once those were scored."""
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

    @torch.no_grad()
    def _score(self, rows: slice, least: Floats | None = None) -> Scores:
        """Score entities for a range of bindings, and keep the log-sums.

        With the least probability of each binding, what is less likely may be left out.
        """
        comparison = self.predictor.compare(self.vectors[rows], self.curve.temperature)
        binding, entity = self.stated
        first, last = np.searchsorted(binding, (rows.start, rows.stop))
        stated = binding[first:last] - rows.start, entity[first:last]
        small = are_small(comparison, self.predictor, self.curve.temperature)
        columns: EntityColumns = AllEntities(comparison)
        if self.index is not None:
            columns = self._look(self.index, comparison.queries, rows)
        elif least is not None and small and self.predictor.entities.are_rough_quick:
            find_limit = partial(self._find_limits, rows, least)
            columns = RoughColumns.choose(comparison, self.predictor, find_limit)
        scores = Scores(comparison.queries, columns, stated, self.predictor, small=small)
        self.totals[rows] = scores.total.double().cpu().numpy()
        return scores

    def _look(self, index: EntityIndex, queries: Tensor, rows: slice) -> Look:
        weight = torch.from_numpy(self.bindings.weight[rows]).to(queries)
        memory = self.predictor.lend_memory(len(queries) * len(index))
        return index.look(queries, weight, self.curve.temperature, memory)

    def _find_limits(self, rows: slice, least: Floats, total: Tensor) -> Tensor:
        """The least scores that give bindings at least some probability, given their log-sums."""
        logs = self.curve.find_least_logs(least, self.shift[rows])
        limit = total.double() + torch.from_numpy(logs).to(total.device)
        return limit.masked_fill(self.vectors[rows][:, 0].isnan(), torch.inf)

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

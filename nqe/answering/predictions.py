"""Predictions for bindings by a model and rules: which entities have a chance, and how large."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
from nqe.answering.joining import Evidence
from nqe.answering.predictor import Predictor
from nqe.answering.rough_scores import RoughColumns
from nqe.graph.arrays import Booleans, Integers
from nqe.model.model import Comparison

Floats = npt.NDArray[np.float64]

MAX_SCORES = 2**22
"""About this many scores exist at once."""
SCORED_AT_ONCE = 2**16
"""With an index, so few bindings are scored at once that those of one projection share blocks."""


@dataclass(frozen=True, eq=False)
class Predicted:
    """Pairs of a binding and an entity that it may lead to, with their probability."""

    binding: Integers  # (pairs,)
    entity: Integers  # (pairs,)
    probability: Floats  # (pairs,)

    def keep_likely(self, least: Floats) -> Predicted:
        """The pairs that reach the least probability beside them."""
        kept = self.probability >= least
        return Predicted(self.binding[kept], self.entity[kept], self.probability[kept])


@dataclass(frozen=True, eq=False)
class Joined:
    """The evidence of rules for bindings, joined with the model's softmax once that is known."""

    evidence: Evidence
    logs: Floats  # (pairs,) the logs of the joined distribution
    mass: Floats  # (bindings,) the log of what the model's distribution is divided by
    unseen: Booleans  # (bindings,) whether the model knows nothing about the binding

    @classmethod
    def of(cls, evidence: Evidence, bindings: int, unseen: Booleans) -> Joined:
        """Evidence that is not joined yet, except where the model knows nothing."""
        return cls(evidence, np.log(evidence.strength), np.zeros(bindings), unseen)

    def join(self, rows: slice, logs: Callable[[Integers, Integers], Floats]) -> None:
        """Join the evidence of a range of bindings with the logs of the model's softmax."""
        pairs = self.evidence.select(rows.start, rows.stop)
        binding = self.evidence.pattern[pairs]
        own = logs(binding, self.evidence.entity[pairs])
        some = self.evidence.take(rows.start, rows.stop)
        joined, self.mass[rows] = some.join(own, rows.stop - rows.start)
        self.logs[pairs] = np.where(self.unseen[binding], self.logs[pairs], joined)

    def raise_total(self, rows: slice, scores: Scores) -> Tensor:
        """The log-sums of scores with what rules have added."""
        return scores.total + torch.from_numpy(self.mass[rows]).to(scores.total)

    def replace(
        self, rows: slice, binding: Integers, entity: Integers, logs: Floats
    ) -> tuple[Integers, Integers, Floats]:
        """The pairs of a range of bindings that a model finds likely and those of rules."""
        others = self.evidence.find(binding, entity) < 0
        pairs = self.evidence.select(rows.start, rows.stop)
        return (
            np.concatenate([binding[others], self.evidence.pattern[pairs]]),
            np.concatenate([entity[others], self.evidence.entity[pairs]]),
            np.concatenate([logs[others] - self.mass[binding[others]], self.logs[pairs]]),
        )

    def look_up(self, binding: Integers, entity: Integers, logs: Floats) -> Floats:
        """The logs of the joined distribution for pairs, given those of the model's."""
        place = self.evidence.find(binding, entity)
        of_rules = np.append(self.logs, 0.0)[place]
        others = np.where(self.unseen[binding], -np.inf, logs - self.mass[binding])
        return np.where(place >= 0, of_rules, others)


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model and rules say about bindings, calibrated; what facts state is left out."""

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
    joined: Joined | None
    """What rules say about the bindings; None if there are no rules."""

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
        joined = None
        if predictor.rules is not None:
            found = predictor.rules.find(patterns, relation, predictor.left_out)
            evidence = found.leave_out(*stated)
            joined = Joined.of(evidence, len(bindings), vectors[:, 0].isnan().cpu().numpy())
        return cls(predictor, curve, bindings, vectors, shift, stated, totals, index, joined)

    def find_likely(self, first: int, last: int, least: Floats) -> Iterator[Predicted]:
        """Yield the pairs of a range of bindings that have at least some probability.

        `least` is the least probability of each of the bindings.
        """
        for rows in self._split(first, last):
            some = least[rows.start - first : rows.stop - first]
            scores = self._score(rows, some)
            total = scores.total if self.joined is None else self.joined.raise_total(rows, scores)
            row, entity, logs = scores.select(self._find_limits(rows, some, total))
            binding = row + rows.start
            if self.joined is not None:
                binding, entity, logs = self.joined.replace(rows, binding, entity, logs)
            found = Predicted(binding, entity, self.to_probabilities(binding, entity, logs))
            yield found if self.joined is None else found.keep_likely(least[binding - first])

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
        logs = self._look_up_logs(binding, entity)
        if self.joined is not None:
            logs = self.joined.look_up(binding, entity, logs)
        found = self.to_probabilities(binding, entity, logs)
        return np.where(np.isneginf(logs), 0.0, found)

    @torch.no_grad()
    def look_up_model(self, binding: int, entity: int) -> float | None:
        """What the model alone gives a pair that was scored; None if it knows nothing about it."""
        pair = np.array([binding]), np.array([entity])
        logs = self._look_up_logs(*pair)
        known = np.isfinite(logs).all()
        return float(self.to_probabilities(*pair, logs)[0]) if known else None

    def _look_up_logs(self, binding: Integers, entity: Integers) -> Floats:
        """The logs of the model's softmax for pairs; -∞ where it knows nothing of the binding."""
        used, place = np.unique(binding, return_inverse=True)
        vectors = self.vectors[torch.from_numpy(used).to(self.vectors.device)]
        comparison = self.predictor.compare(vectors, self.curve.temperature)
        scores = _compare_pairs(comparison, place, entity).double().cpu().numpy()
        unseen = vectors[:, 0].isnan().cpu().numpy()
        return np.where(unseen[place], -np.inf, scores - self.totals[binding])

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
        if self.joined is not None:
            self.joined.join(rows, self._look_up_logs)
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

"""Predictions of a model for bindings: the entities that have a chance, and how large it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nqe.answering.bindings import Bindings
from nqe.answering.calibration import Curve
from nqe.answering.entity_index import EntityIndex, Look
from nqe.answering.predictor import Predictor
from nqe.graph.arrays import Integers
from nqe.model.log_sum import LogSum
from nqe.model.model import Comparison, EntityBlock

Floats = npt.NDArray[np.float64]

MAX_SCORES = 2**22
"""About this many scores exist at once."""
SMALL = 60.0
"""Exponentials of numbers up to this size can be added up in single precision."""
COLUMNS = 2**13
"""Entities that are scored at once, few enough that the scores stay in the processor's cache."""
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
            yield self._score(rows).select(least[rows.start - first : rows.stop - first])

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

    def _score(self, rows: slice) -> _Scores:
        """Score entities for a range of bindings, and keep the log-sums."""
        scores = _Scores(self, rows)
        self.totals[rows] = scores.total[:, 0].double().cpu().numpy()
        return scores

    def choose_columns(self, comparison: Comparison, rows: slice) -> _AllEntities | Look:
        """Choose the entities that are scored for a range of bindings."""
        if self.index is None:
            return _AllEntities(comparison)
        queries = comparison.queries
        weight = torch.from_numpy(self.bindings.weight[rows]).to(queries)
        memory = self.predictor.lend_memory(len(queries) * len(self.index))
        return self.index.look(queries, weight, self.curve.temperature, memory)

    def to_probabilities(self, binding: Integers, entity: Integers, logs: Floats) -> Floats:
        """Turn logs of softmax values into probabilities."""
        elsewhere = ~self.predictor.has_stood(self.bindings.patterns, binding, entity)
        return self.curve.to_probabilities(logs, self.shift[binding], elsewhere)


class _Scores:
    """The scores of entities for some bindings, in blocks of entities."""

    @torch.no_grad()
    def __init__(self, predictions: Predictions, rows: slice) -> None:
        self.predictions, self.rows = predictions, rows
        vectors = predictions.vectors[rows]
        self.unseen = vectors[:, 0].isnan()
        self.comparison = predictions.predictor.compare(vectors, predictions.curve.temperature)
        self.columns = predictions.choose_columns(self.comparison, rows)
        self.blocks, total = [], _choose_sum(self.comparison, predictions)
        count, entities = len(vectors), len(self.columns)
        # The last scores are no longer needed, and memory that was used before is at hand.
        memory = predictions.predictor.lend_memory(count * (entities + COLUMNS))
        scratch = memory[count * entities :]
        for start in range(0, entities, COLUMNS):
            columns = slice(start, min(start + COLUMNS, entities))
            block = memory[count * start : count * columns.stop].view(count, -1)
            some = self.columns.read(columns)
            torch.addmm(some.bias, self.comparison.queries, some.vectors.T, out=block)
            self._mask_stated(block, columns)
            total.add(block, out=scratch[: block.numel()].view_as(block))
            self.blocks.append(block)
        lowest = torch.finfo(vectors.dtype).min
        every = torch.logaddexp(total.total, self.columns.rest)
        self.total = every.clamp_min(lowest)[:, None]  # (bindings, 1)

    def select(self, least: Floats) -> Predicted:
        """The pairs with at least some probability, which may differ by binding."""
        predictions, rows = self.predictions, self.rows
        logs = predictions.curve.find_least_logs(least, predictions.shift[rows])
        limit = self.total[:, 0].double() + torch.from_numpy(logs).to(self.total.device) - 1e-6
        limit[self.unseen] = torch.inf
        limit = limit[:, None].to(self.total.dtype)
        parts = [self._select(block, number, limit) for number, block in enumerate(self.blocks)]
        binding, column, logs = (np.concatenate(part) for part in zip(*parts, strict=True))
        binding, entity = binding + rows.start, self.columns.to_entities(column)
        found = predictions.to_probabilities(binding, entity, logs)
        return Predicted(binding, entity, found)

    def _select(
        self, block: Tensor, number: int, limit: Tensor
    ) -> tuple[Integers, Integers, Floats]:
        # NumPy finds few true values among many several times faster than PyTorch.
        found = np.flatnonzero((block >= limit).cpu().numpy())
        row, column = np.divmod(found, block.shape[1])
        scores = block.view(-1)[torch.from_numpy(found).to(block.device)].double()
        logs = scores.cpu().numpy() - self.total[:, 0].double().cpu().numpy()[row]
        return row, column + number * COLUMNS, logs

    def _mask_stated(self, block: Tensor, columns: slice) -> None:
        row, column = self._stated[0], self._stated[1] - columns.start
        inside = (column >= 0) & (column < columns.stop - columns.start)
        if inside.any():
            block[torch.from_numpy(row[inside]), torch.from_numpy(column[inside])] = -torch.inf

    @cached_property
    def _stated(self) -> tuple[Integers, Integers]:
        """The rows and columns of what facts state, -1 for a column that is not looked at."""
        binding, entity = self.predictions.stated
        first, last = np.searchsorted(binding, (self.rows.start, self.rows.stop))
        return binding[first:last] - self.rows.start, self.columns.to_columns(entity[first:last])


@dataclass(frozen=True, eq=False)
class _AllEntities:
    """All entities as columns of scores: what an index's `Look` is for some of them."""

    comparison: Comparison

    def __len__(self) -> int:
        return len(self.comparison.bias)

    @property
    def rest(self) -> Tensor:
        """The log-sum over no entities, (queries,)."""
        queries = self.comparison.queries
        return queries.new_full((len(queries),), -torch.inf)

    def read(self, columns: slice) -> EntityBlock:
        """The vectors of some entities, with the bias for divided scores."""
        return EntityBlock(self.comparison.entities[columns], self.comparison.bias[columns])

    def to_columns(self, entity: Integers) -> Integers:
        """The columns of entities: their numbers."""
        return entity

    def to_entities(self, column: Integers) -> Integers:
        """The entities in columns."""
        return column


class SmallLogSum:
    """The same as `LogSum` for scores so small that their exponentials can be added as they are."""

    def __init__(self) -> None:
        self._sums: list[Tensor] = []

    def add(self, scores: Tensor, out: Tensor) -> None:
        """Add a block of scores, (rows, columns); `out` is memory of the same shape."""
        self._sums.append(torch.exp(scores, out=out).sum(1))

    @property
    def total(self) -> Tensor:
        """The log-sum over all blocks added so far, (rows,)."""
        return torch.stack(self._sums).sum(0).log()


def _choose_sum(comparison: Comparison, predictions: Predictions) -> LogSum | SmallLogSum:
    """The quickest way to add up exponentials that cannot overflow."""
    entities = predictions.predictor.entities
    longest = float(comparison.queries.norm(dim=1).max()) * entities.longest
    largest = entities.largest_bias / predictions.curve.temperature
    return SmallLogSum() if longest + largest < SMALL else LogSum()


def _compare_pairs(comparison: Comparison, query: Integers, entity: Integers) -> Tensor:
    """The score of each query and the entity beside it, (pairs,)."""
    device, width = comparison.queries.device, comparison.queries.shape[1]
    parts = torch.split(torch.from_numpy(np.stack((query, entity))), MAX_SCORES // width, dim=1)
    scores = [comparison.bias.new_empty(0)]
    for row, column in (part.to(device) for part in parts):
        products = comparison.queries[row] * comparison.entities[column]
        scores.append(products.sum(1) + comparison.bias[column])
    return torch.cat(scores)

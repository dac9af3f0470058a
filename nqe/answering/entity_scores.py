"""Scores of entities for some bindings: of all entities, or of those that may have a chance."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nqe.answering.entity_index import EntityIndex
from nqe.answering.predictor import Predictor
from nqe.graph.arrays import Integers
from nqe.model.log_sum import LogSum
from nqe.model.model import Comparison

if TYPE_CHECKING:
    from nqe.answering.predictions import Predictions

Floats = npt.NDArray[np.float64]

SMALL = 60.0
"""Exponentials of numbers up to this size can be added up in single precision."""
COLUMNS = 2**13
"""Entities that are scored at once, few enough that the scores stay in the processor's cache."""
MARGIN = 0.25
"""A rough score may be this far from the true one."""


class Scores:
    """The scores of all entities for some bindings, in blocks of entities."""

    @torch.no_grad()
    def __init__(self, predictions: Predictions, rows: slice) -> None:
        self.predictions, self.rows = predictions, rows
        vectors = predictions.vectors[rows]
        self.unseen = vectors[:, 0].isnan()
        self.comparison = predictions.predictor.compare(vectors, predictions.curve.temperature)
        self.blocks, total = [], _choose_sum(self.comparison, predictions.predictor)
        count, entities = len(vectors), self._count_places()
        # The last scores are no longer needed, and memory that was used before is at hand.
        memory = predictions.predictor.lend_memory(count * (entities + COLUMNS))
        scratch = memory[count * entities :]
        for start in range(0, entities, COLUMNS):
            columns = slice(start, min(start + COLUMNS, entities))
            block = memory[count * start : count * columns.stop].view(count, -1)
            self._score(columns, block)
            self._mask_stated(block, columns)
            total.add(block, out=scratch[: block.numel()].view_as(block))
            self.blocks.append(block)
        lowest = torch.finfo(vectors.dtype).min
        self.total = self._complete(total.total).clamp_min(lowest)[:, None]  # (bindings, 1)

    def select(self, least: Floats) -> tuple[Integers, Integers, Floats]:
        """The pairs with at least some probability, which may differ by binding.

        Returns the binding, the entity and the log of its softmax value.
        """
        limit = self._find_limits(least, self.total[:, 0]) - 1e-6
        limit = limit[:, None].to(self.total.dtype)
        parts = [self._select(block, number, limit) for number, block in enumerate(self.blocks)]
        row, place, logs = (np.concatenate(part) for part in zip(*parts, strict=True))
        return row + self.rows.start, self._to_entities(place), logs

    def _find_limits(self, least: Floats, total: Tensor) -> Tensor:
        """The least score of an entity that has at least some probability, (bindings,)."""
        logs = self.predictions.curve.find_least_logs(least, self.predictions.shift[self.rows])
        limit = total.double() + torch.from_numpy(logs).to(total.device)
        return limit.masked_fill(self.unseen, torch.inf)

    def _select(
        self, block: Tensor, number: int, limit: Tensor
    ) -> tuple[Integers, Integers, Floats]:
        # NumPy finds few true values among many several times faster than PyTorch.
        found = np.flatnonzero((block >= limit).cpu().numpy())
        row, column = np.divmod(found, block.shape[1])
        scores = block.view(-1)[torch.from_numpy(found).to(block.device)].double()
        logs = scores.cpu().numpy() - self.total[:, 0].double().cpu().numpy()[row]
        return row, column + number * COLUMNS, logs

    def look_up(self, entity: int) -> Floats:
        """The probability of one entity for each binding."""
        scores = self.comparison.queries @ self.comparison.entities[entity]
        scores += self.comparison.bias[entity]
        logs = (scores - self.total[:, 0]).double().cpu().numpy()
        binding = np.arange(self.rows.start, self.rows.stop)
        found = self.predictions.to_probabilities(binding, np.full_like(binding, entity), logs)
        return np.where(self.unseen.cpu().numpy(), 0.0, found)

    def _mask_stated(self, block: Tensor, columns: slice) -> None:
        _fill(block, *self._stated, columns, -torch.inf)

    @cached_property
    def _stated(self) -> tuple[Integers, Integers]:
        """The pairs of a binding and a stated entity, as rows and columns of all blocks."""
        row, entity = self._find_stated()
        return row, self._to_places(entity)

    def _find_stated(self) -> tuple[Integers, Integers]:
        """The pairs of a binding, counted from the first of these, and a stated entity."""
        binding, entity = self.predictions.stated
        first, last = np.searchsorted(binding, (self.rows.start, self.rows.stop))
        return binding[first:last] - self.rows.start, entity[first:last]

    def _count_places(self) -> int:
        """The number of columns of all blocks."""
        return len(self.comparison.bias)

    def _to_places(self, entity: Integers) -> Integers:
        """The columns of some entities, -1 for one that is not looked at."""
        return entity

    def _to_entities(self, place: Integers) -> Integers:
        """The entities in some columns."""
        return place

    def _score(self, columns: slice, out: Tensor) -> None:
        """Score the entities in some columns."""
        entities = self.comparison.entities[columns]
        bias = self.comparison.bias[columns]
        torch.addmm(bias, self.comparison.queries, entities.T, out=out)

    def _complete(self, total: Tensor) -> Tensor:
        """The log-sum over all entities, given that over all columns."""
        return total


class IndexedScores(Scores):
    """The scores of the entities that an index finds."""

    def __init__(self, predictions: Predictions, rows: slice, index: EntityIndex) -> None:
        self.index = index
        super().__init__(predictions, rows)

    @cached_property
    def _chosen(self) -> Tensor:
        queries, temperature = self.comparison.queries, self.predictions.curve.temperature
        weight = torch.from_numpy(self.predictions.bindings.weight[self.rows]).to(queries)
        return self.index.choose_blocks(queries, weight.log(), temperature)

    def _count_places(self) -> int:
        return len(self._chosen) * self.index.entities.shape[1]

    def _to_places(self, entity: Integers) -> Integers:
        return self.index.find_columns(self._chosen, torch.from_numpy(entity)).numpy()

    def _to_entities(self, place: Integers) -> Integers:
        block, column = np.divmod(place, self.index.entities.shape[1])
        return self.index.entities[self._chosen[block], column].numpy()

    def _score(self, columns: slice, out: Tensor) -> None:
        size = self.index.entities.shape[1]
        blocks = self._chosen[columns.start // size : columns.stop // size]
        self.index.score(self.comparison.queries, blocks, self.predictions.curve.temperature, out)

    def _complete(self, total: Tensor) -> Tensor:
        temperature = self.predictions.curve.temperature
        rest = self.index.estimate_rest(self.comparison.queries, self._chosen, temperature)
        return torch.logaddexp(total, rest)


class RoughScores(Scores):
    """The scores of the entities that may have a chance by scores of half the precision.

    Processors that have instructions for such numbers compute them several times as fast. They
    only say which entities to score in full, and how much all the others add up to.
    """

    def __init__(self, predictions: Predictions, rows: slice, least: Floats) -> None:
        self.least = least
        super().__init__(predictions, rows)

    @cached_property
    def _chosen(self) -> tuple[Tensor, Tensor]:
        """The entities to score, ascending, and the log-sum of all others, (bindings,)."""
        if not _are_small(self.comparison, self.predictions.predictor):
            every = torch.arange(len(self.comparison.bias))
            return every, torch.full_like(self.comparison.queries[:, 0], -torch.inf)
        blocks = list(self._compute_exponentials())
        sums = [block.sum(1, dtype=torch.float32) for block in blocks]
        total = torch.stack(sums).sum(0)
        limit = self._find_limits(self.least, total.log()) - MARGIN
        # Where everything is stated, nothing has a chance.
        scale = (-limit).exp().masked_fill(total == 0, 0.0).bfloat16()[:, None]
        chosen, rest = [], torch.zeros_like(total)
        for number, (block, whole) in enumerate(zip(blocks, sums, strict=True)):
            columns = ((block * scale).amax(0) >= 1).nonzero()[:, 0]
            rest += whole - block.index_select(1, columns).sum(1, dtype=torch.float32)
            chosen.append(columns + number * COLUMNS)
        entities = torch.cat(chosen)
        return entities if len(entities) else entities.new_zeros(1), rest.clamp_min(0).log()

    def _compute_exponentials(self) -> Iterator[Tensor]:
        """Yield the exponentials of rough scores in blocks, 0 for what is stated."""
        predictor, comparison = self.predictions.predictor, self.comparison
        queries, bias = comparison.queries.bfloat16(), comparison.bias.bfloat16()
        row, entity = self._find_stated()
        count, entities = len(queries), len(bias)
        memory = predictor.lend_memory((count * entities + 1) // 2).view(torch.bfloat16)
        for start in range(0, entities, COLUMNS):
            columns = slice(start, min(start + COLUMNS, entities))
            block = memory[count * start : count * columns.stop].view(count, -1)
            torch.addmm(bias[columns], queries, predictor.rough_vectors[columns].T, out=block)
            _fill(block.exp_(), row, entity, columns, 0.0)
            yield block

    def _count_places(self) -> int:
        return len(self._chosen[0])

    def _to_places(self, entity: Integers) -> Integers:
        chosen = self._chosen[0].numpy()
        place = np.minimum(chosen.searchsorted(entity), len(chosen) - 1)
        found: Integers = np.where(chosen[place] == entity, place, -1)
        return found

    def _to_entities(self, place: Integers) -> Integers:
        found: Integers = self._chosen[0].numpy()[place]
        return found

    def _score(self, columns: slice, out: Tensor) -> None:
        some = self._chosen[0][columns]
        vectors, bias = self.comparison.entities[some], self.comparison.bias[some]
        torch.addmm(bias, self.comparison.queries, vectors.T, out=out)

    def _complete(self, total: Tensor) -> Tensor:
        return torch.logaddexp(total, self._chosen[1])


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


def _choose_sum(comparison: Comparison, predictor: Predictor) -> LogSum | SmallLogSum:
    """The quickest way to add up exponentials that cannot overflow."""
    return SmallLogSum() if _are_small(comparison, predictor) else LogSum()


def _are_small(comparison: Comparison, predictor: Predictor) -> bool:
    """Whether the exponentials of all scores can be added up as they are."""
    longest = float(comparison.queries.norm(dim=1).max()) * predictor.longest_vector
    return longest + float(comparison.bias.nan_to_num(neginf=0.0).abs().max()) < SMALL


def _fill(block: Tensor, row: Integers, column: Integers, columns: slice, value: float) -> None:
    """Fill some places of a block of columns, each given by its row and column of all blocks."""
    inside = (column >= columns.start) & (column < columns.stop)
    if inside.any():
        place = torch.from_numpy(column[inside] - columns.start)
        block[torch.from_numpy(row[inside]), place] = value

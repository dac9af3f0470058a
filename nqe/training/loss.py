"""The training loss: label-smoothed cross-entropy, computed over blocks of scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from nqe.model.log_sum import LogSum
from nqe.model.model import Comparison

BLOCK = 2**25
"""At most this many scores exist at once, or the scores of one query if these are more."""
_COLUMNS = 4096
"""Entities processed at once, few enough that their scores stay in the CPU's cache."""

CombineLogSums = Callable[[Tensor], Tensor]
"""Turns the log-sums over one part of the entities, (queries,), into those over all parts."""


@dataclass(frozen=True, eq=False)
class Targets:
    """The correct answers of a batch, as pairs of a query and a column of its comparison."""

    query: Tensor  # (pairs,) ascending
    entity: Tensor  # (pairs,)
    count: Tensor  # (queries,) number of answers per query


class SoftmaxLoss:
    """Cross-entropy with label smoothing (the paper's loss, with its minus sign).

    The k answers of a query share 1-ε evenly, all other entities share ε evenly. The memory for
    a block of scores is allocated once and reused.

    The entities may be divided into parts, for example one per process: then each part is
    compared on its own, with the pairs of `Targets` that lie in it and `combine` to join the
    log-sums. The losses of the parts add up to the loss of the whole, and so do the gradients
    of the queries; the gradients of the entities are those of the part.
    """

    def __init__(
        self,
        smoothing: float,
        entity_count: int,
        block: int = BLOCK,
        combine: CombineLogSums | None = None,
    ) -> None:
        self.smoothing = smoothing
        self.entity_count = entity_count
        self.block = block
        self.combine = combine
        self._memory = torch.empty(0)

    def __call__(
        self,
        comparison: Comparison,
        targets: Targets,
        scale: float = 1.0,
        weight: Tensor | None = None,
    ) -> Tensor:
        """Return the sum of the losses of all queries, times `scale`.

        When the entities compared are a sample, `weight` says how many entities each of them
        represents. The sums over all entities, in the softmax and in the smoothing, are then
        estimated without bias.
        """
        loss: Tensor = _SoftmaxLoss.apply(  # type: ignore[no-untyped-call]
            comparison.queries, comparison.entities, comparison.bias, self, targets, scale, weight
        )
        return loss

    def allocate(self, queries: Tensor, rows: int, columns: int) -> Tensor:
        """Return memory for a block of scores, (rows · columns,)."""
        fits = (self._memory.device, self._memory.dtype) == (queries.device, queries.dtype)
        if not fits or self._memory.numel() < rows * columns:
            self._memory = queries.new_empty(rows * columns)
        return self._memory[: rows * columns]


class _SoftmaxLoss(torch.autograd.Function):
    """Computes the gradients in the forward pass, block by block, so that no scores are kept."""

    @staticmethod
    def forward(
        ctx: Any,
        queries: Tensor,
        entities: Tensor,
        bias: Tensor,
        loss: SoftmaxLoss,
        targets: Targets,
        scale: float,
        weight: Tensor | None,
    ) -> Tensor:
        with torch.autocast(queries.device.type, enabled=False):
            precise = torch.promote_types(queries.dtype, torch.float32)
            comparison = Comparison(queries.to(precise), entities.to(precise), bias.to(precise))
            sums = _Sums(comparison, loss, targets, scale, weight)
            most = max(1, loss.block // max(1, len(entities)))
            blocks = max(1, -(-len(queries) // most))
            rows = max(1, -(-len(queries) // blocks))
            for first in range(0, len(queries), rows):
                sums.add(first, min(first + rows, len(queries)))
            ctx.save_for_backward(sums.of_queries, sums.of_entities, sums.of_bias)
        return sums.loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor | None, ...]:
        gradients = ctx.saved_tensors
        if float(above[0]) != 1:
            gradients = tuple(gradient * above[0] for gradient in gradients)
        return (*gradients, None, None, None, None)


@dataclass(frozen=True, eq=False)
class _Exponentials:
    """The scores of some queries as exp(score - highest), in blocks of entities."""

    blocks: list[Tensor]  # each (queries, columns)
    highest: Tensor  # (blocks, queries)
    log_sum: Tensor  # (queries,)


@dataclass(frozen=True, eq=False)
class _Pairs:
    """The answers of some queries."""

    row: Tensor  # (pairs,) the query, counted from the first of them
    column: Tensor  # (pairs,) the entity
    extra: Tensor  # (pairs,) how much larger the label is than that of an entity that is none


class _Sums:
    """Adds up the loss and its gradients over blocks of queries."""

    def __init__(
        self,
        comparison: Comparison,
        loss: SoftmaxLoss,
        targets: Targets,
        scale: float,
        weight: Tensor | None,
    ) -> None:
        queries, entities, bias = comparison.queries, comparison.entities, comparison.bias
        self.queries, self.entities, self.targets, self.scale = queries, entities, targets, scale
        self.settings = loss
        self.weight = torch.ones_like(bias) if weight is None else weight.to(bias.dtype)
        self.plain_bias = bias
        self.bias = bias if weight is None else bias + self.weight.log()
        # `even` is the label of each other entity (per unit of weight), `own` that of each answer.
        # A query whose entities are all answers, or none of them, gives everything to that kind.
        others = loss.entity_count - targets.count
        smoothing = queries.new_full((len(queries),), loss.smoothing)
        smoothing = smoothing.masked_fill(others == 0, 0.0).masked_fill(targets.count == 0, 1.0)
        self.even = smoothing / others.clamp_min(1)  # (queries,)
        self.own = (1 - smoothing) / targets.count.clamp_min(1)  # (queries,)
        rows = torch.arange(len(queries) + 1, device=queries.device)
        self.pair_start = torch.searchsorted(targets.query, rows).tolist()
        self.weighted_sum = self.weight @ entities  # (width,)
        self.bias_sum = self.weight @ bias
        self.loss = queries.new_zeros(())
        self.of_queries = torch.zeros_like(queries)
        self.of_entities = (
            torch.empty_like(entities) if len(queries) else torch.zeros_like(entities)
        )
        self.of_bias = torch.zeros_like(bias)

    def add(self, first: int, last: int) -> None:
        """Add the queries from `first` up to `last`."""
        exponentials = self._exponentiate(first, last)
        total = exponentials.log_sum  # (queries,)
        if self.settings.combine is not None:
            total = self.settings.combine(total)
        pairs = self._pairs(first, last)
        self._add_loss(first, last, exponentials.log_sum, total, pairs)
        self._add_softmax_gradients(first, last, exponentials, total)
        self._add_answer_gradients(first, last, pairs)

    def _pairs(self, first: int, last: int) -> _Pairs:
        chosen = slice(self.pair_start[first], self.pair_start[last])
        row, column = self.targets.query[chosen] - first, self.targets.entity[chosen]
        even = self.even[first:last][row] * self.weight[column]
        return _Pairs(row, column, self.own[first:last][row] - even)

    def _exponentiate(self, first: int, last: int) -> _Exponentials:
        """Compute the scores of some queries with all entities, in blocks, and their log-sum."""
        queries, rows, count = self.queries[first:last], last - first, len(self.bias)
        memory = self.settings.allocate(queries, rows, count)
        log_sum, blocks, highest = LogSum(), [], []
        for start in range(0, count, _COLUMNS):
            end = min(start + _COLUMNS, count)
            block = memory[start * rows : end * rows].view(rows, end - start)
            torch.addmm(self.bias[start:end], queries, self.entities[start:end].T, out=block)
            highest.append(log_sum.add(block, out=block))
            blocks.append(block)
        return _Exponentials(blocks, torch.stack(highest), log_sum.total)

    def _add_loss(
        self, first: int, last: int, log_sum: Tensor, total: Tensor, pairs: _Pairs
    ) -> None:
        queries, row, column = self.queries[first:last], pairs.row, pairs.column
        chosen = (queries[row] * self.entities[column]).sum(1) + self.plain_bias[column]
        smooth = self.even[first:last] * (queries @ self.weighted_sum + self.bias_sum)
        # All parts together count the total once, each by its share; a single part's is 1.
        share = (log_sum - total).exp()
        self.loss += self.scale * ((share * total - smooth).sum() - (pairs.extra * chosen).sum())

    def _add_softmax_gradients(
        self, first: int, last: int, exponentials: _Exponentials, total: Tensor
    ) -> None:
        """Add the gradients of the log-sum and of the smoothing; the exponentials are used up."""
        queries, even = self.queries[first:last], self.even[first:last]
        of_queries = self.of_queries[first:last]
        factors = (exponentials.highest - total).exp_().mul_(self.scale)  # (blocks, queries)
        starts = range(0, len(self.bias), _COLUMNS)
        for start, block, factor in zip(starts, exponentials.blocks, factors, strict=True):
            columns = slice(start, start + _COLUMNS)
            block.mul_(factor[:, None])  # the softmax, times the scale
            block.addr_(even, self.weight[columns], alpha=-self.scale)
            of_queries.addmm_(block, self.entities[columns])
            # The first block of queries overwrites memory that is not initialised.
            self.of_entities[columns].addmm_(block.T, queries, beta=int(first > 0))
            self.of_bias[columns] += block.sum(0)

    def _add_answer_gradients(self, first: int, last: int, pairs: _Pairs) -> None:
        queries, row, column = self.queries[first:last], pairs.row, pairs.column
        extra = pairs.extra * self.scale
        of_queries = self.of_queries[first:last]
        of_queries.index_add_(0, row, self.entities[column] * extra[:, None], alpha=-1)
        self.of_entities.index_add_(0, column, queries[row] * extra[:, None], alpha=-1)
        self.of_bias.index_add_(0, column, extra, alpha=-1)

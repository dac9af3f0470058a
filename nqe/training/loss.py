"""The loss: label-smoothed cross-entropy, its scores never more than a block of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from nqe.model.model import Comparison

BLOCK = 2**25
"""How many scores exist at a time."""
_COLUMNS = 4096
"""Entities worked on at a time, so that their scores stay in the cache."""


@dataclass(frozen=True, eq=False)
class Targets:
    """The right answers of a batch: pairs of a query and a place among the entities compared."""

    query: Tensor  # (pairs,) ascending
    entity: Tensor  # (pairs,)
    count: Tensor  # (queries,) how many each query has


class SoftmaxLoss:
    """Cross-entropy with label smoothing (the paper's loss, with its minus sign).

    A query's k answers share 1-ε evenly, all other entities share ε evenly. The memory for a
    block of scores is taken once and used again.
    """

    def __init__(self, smoothing: float, entity_count: int, block: int = BLOCK) -> None:
        self.smoothing = smoothing
        self.entity_count = entity_count
        self.block = block
        self._memory = torch.empty(0)

    def __call__(
        self,
        comparison: Comparison,
        targets: Targets,
        scale: float = 1.0,
        weight: Tensor | None = None,
    ) -> Tensor:
        """The losses of all queries added up, times the scale.

        When the entities compared are a sample, `weight` says how many each of them stands for:
        then the sums over all entities, in the softmax and in the smoothing, are estimated
        without bias.
        """
        loss: Tensor = _SoftmaxLoss.apply(  # type: ignore[no-untyped-call]
            comparison.queries, comparison.entities, comparison.bias, self, targets, scale, weight
        )
        return loss

    def memory(self, queries: Tensor, rows: int, columns: int) -> Tensor:
        """Room for a block of scores, (rows · columns,)."""
        fits = (self._memory.device, self._memory.dtype) == (queries.device, queries.dtype)
        if not fits or self._memory.numel() < rows * columns:
            self._memory = queries.new_empty(rows * columns)
        return self._memory[: rows * columns]


class _SoftmaxLoss(torch.autograd.Function):
    """Forward does the work of backward too, block by block, so that no scores are kept."""

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
            exact = torch.promote_types(queries.dtype, torch.float32)
            comparison = Comparison(queries.to(exact), entities.to(exact), bias.to(exact))
            work = _Work(comparison, loss, targets, scale, weight)
            most = max(1, loss.block // max(1, len(entities)))
            blocks = max(1, -(-len(queries) // most))
            rows = max(1, -(-len(queries) // blocks))
            for first in range(0, len(queries), rows):
                work.add(first, min(first + rows, len(queries)))
            ctx.save_for_backward(work.of_queries, work.of_entities, work.of_bias)
        return work.loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor | None, ...]:
        gradients = ctx.saved_tensors
        if float(above[0]) != 1:
            gradients = tuple(gradient * above[0] for gradient in gradients)
        return (*gradients, None, None, None, None)


class _Work:
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
        # What the smoothing gives each entity (times its weight), and each answer's own share.
        # Without others, or without answers, all is for those there are.
        others = loss.entity_count - targets.count
        smoothing = queries.new_full((len(queries),), loss.smoothing)
        smoothing = smoothing.masked_fill(others == 0, 0.0).masked_fill(targets.count == 0, 1.0)
        self.even = smoothing / others.clamp_min(1)  # (queries,)
        self.own = (1 - smoothing) / targets.count.clamp_min(1)  # (queries,)
        every = torch.arange(len(queries) + 1, device=queries.device)
        self.pair_start = torch.searchsorted(targets.query, every).tolist()
        self.weighted_sum = self.weight @ entities  # (width,)
        self.bias_sum = self.weight @ bias
        self.loss = queries.new_zeros(())
        self.of_queries = torch.zeros_like(queries)
        self.of_entities = (
            torch.empty_like(entities) if len(queries) else torch.zeros_like(entities)
        )
        self.of_bias = torch.zeros_like(bias)

    def add(self, first: int, last: int) -> None:
        """The queries of a block."""
        queries, even = self.queries[first:last], self.even[first:last]
        blocks, factor, total = self._softmax(first, last)
        pairs = slice(self.pair_start[first], self.pair_start[last])
        row, column = self.targets.query[pairs] - first, self.targets.entity[pairs]
        extra = self.own[first:last][row] - even[row] * self.weight[column]
        chosen = (queries[row] * self.entities[column]).sum(1) + self.plain_bias[column]
        smooth = even * (queries @ self.weighted_sum + self.bias_sum)
        self.loss += self.scale * ((total - smooth).sum() - (extra * chosen).sum())
        of_queries = self.of_queries[first:last]
        for start, block, part in zip(
            range(0, len(self.bias), _COLUMNS), blocks, factor, strict=True
        ):
            here = slice(start, start + _COLUMNS)
            block.mul_(part[:, None])  # the softmax, times the scale
            block.addr_(even, self.weight[here], alpha=-self.scale)
            of_queries.addmm_(block, self.entities[here])
            # The first block of queries finds nothing there to add to.
            self.of_entities[here].addmm_(block.T, queries, beta=int(first > 0))
            self.of_bias[here] += block.sum(0)
        extra = extra * self.scale
        of_queries.index_add_(0, row, self.entities[column] * extra[:, None], alpha=-1)
        self.of_entities.index_add_(0, column, queries[row] * extra[:, None], alpha=-1)
        self.of_bias.index_add_(0, column, extra, alpha=-1)

    def _softmax(self, first: int, last: int) -> tuple[list[Tensor], Tensor, Tensor]:
        """exp(score - the block's highest) by blocks, what makes it the softmax, the log-sum."""
        queries, rows, count = self.queries[first:last], last - first, len(self.bias)
        memory = self.settings.memory(queries, rows, count)
        blocks, highest, sums = [], [], []
        for start in range(0, count, _COLUMNS):
            end = min(start + _COLUMNS, count)
            block = memory[start * rows : end * rows].view(rows, end - start)
            torch.addmm(self.bias[start:end], queries, self.entities[start:end].T, out=block)
            highest.append(block.amax(1))
            block.sub_(highest[-1][:, None]).exp_()
            sums.append(block.sum(1))
            blocks.append(block)
        top = torch.stack(highest)  # (blocks, queries)
        total = (top + torch.stack(sums).log()).logsumexp(0)  # (queries,)
        return blocks, (top - total).exp_().mul_(self.scale), total

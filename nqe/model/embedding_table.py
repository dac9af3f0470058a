"""Embedding tables: the vectors of entities and relations, in [0,1]^d."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

_SPREAD = 0.05
"""The standard deviation of the initial weights."""
_CACHED = 2**19
"""The number of values in a chunk that stays in the cache of a CPU."""


class FuzzyTable(nn.Module):
    """A table of vectors sigmoid(steepness · (weights - mean of the row)).

    The steepness lets a step of Adam move a vector noticeably. The mean is subtracted because the
    LayerNorm before the encoder's sigmoid does the same to query vectors: conjunctions have small
    values everywhere and negations large ones, and without it the sum of an entity's vector would
    decide the entity's rank.
    """

    def __init__(self, count: int, width: int, steepness: float) -> None:
        super().__init__()
        self.weights = nn.Parameter(new_weights(count, width, _SPREAD))
        self.steepness = steepness

    def forward(self, rows: Tensor | slice | None = None, centre: float = 0.0) -> Tensor:
        """The vectors of the given rows, or of all rows (None), minus the centre."""
        weights: Tensor = self.weights
        if isinstance(rows, slice):
            weights = weights[rows]
        elif rows is not None:
            weights = nn.functional.embedding(rows, weights)
        vectors: Tensor = _Fuzzy.apply(  # type: ignore[no-untyped-call]
            weights, self.steepness, centre
        )
        return vectors

    def read_twice(
        self, anchors: Tensor, candidates: Tensor | None, centre: float
    ) -> tuple[Tensor, Tensor]:
        """The vectors of the anchors, and those of the candidates (None: all) minus the centre.

        Reading both in one operation makes a single gradient of the table's size instead of two.
        """
        vectors: tuple[Tensor, Tensor] = _FuzzyTwice.apply(  # type: ignore[no-untyped-call]
            self.weights, anchors, candidates, self.steepness, centre
        )
        return vectors

    def __len__(self) -> int:
        return len(self.weights)


def new_weights(count: int, width: int, spread: float) -> Tensor:
    """Random weights with this standard deviation.

    On the device "meta", where tensors have no values, they only have a shape.
    """
    weights = torch.empty(count, width)
    if weights.is_meta:
        return weights  # normal_ would load torch's compiler, which takes a second
    return weights.normal_().mul_(spread)


class _Fuzzy(torch.autograd.Function):
    """The vectors minus the centre; autograd would keep four large tensors instead of one."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, steepness: float, centre: float) -> Tensor:
        vectors = _fuzzy(weights, steepness, centre)
        ctx.save_for_backward(vectors)
        ctx.steepness, ctx.centre = steepness, centre
        return vectors

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor, None, None]:
        (vectors,) = ctx.saved_tensors
        return _fuzzy_backward(above[0], vectors, ctx.steepness, ctx.centre), None, None


class _FuzzyTwice(torch.autograd.Function):
    """`_Fuzzy` for two selections of rows of one table; the centre applies to the second."""

    @staticmethod
    def forward(
        ctx: Any,
        weights: Tensor,
        anchors: Tensor,
        candidates: Tensor | None,
        steepness: float,
        centre: float,
    ) -> tuple[Tensor, Tensor]:
        first = _fuzzy(weights[anchors], steepness, 0.0)
        chosen = weights if candidates is None else weights[candidates]
        second = _fuzzy(chosen, steepness, centre)
        ctx.save_for_backward(anchors, candidates, first, second)
        ctx.steepness, ctx.centre, ctx.shape = steepness, centre, weights.shape
        return first, second

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor | None, ...]:
        anchors, candidates, first, second = ctx.saved_tensors
        gradient = _fuzzy_backward(above[1], second, ctx.steepness, ctx.centre)
        if candidates is not None:
            gradient = gradient.new_zeros(ctx.shape).index_add_(0, candidates, gradient)
        gradient.index_add_(0, anchors, _fuzzy_backward(above[0], first, ctx.steepness, 0.0))
        return gradient, None, None, None, None


def _fuzzy(weights: Tensor, steepness: float, centre: float) -> Tensor:
    vectors = torch.empty_like(weights)
    for chunk, result in _chunks(weights, vectors):
        torch.sub(chunk, chunk.mean(-1, keepdim=True), out=result)
        result.mul_(steepness).sigmoid_()
        if centre:
            result.sub_(centre)
    return vectors


def _fuzzy_backward(above: Tensor, vectors: Tensor, steepness: float, centre: float) -> Tensor:
    gradient = torch.empty_like(vectors)
    for chunk, of_output, result in _chunks(vectors, above, gradient):
        outputs = chunk + centre if centre else chunk
        torch.ops.aten.sigmoid_backward.grad_input(of_output, outputs, grad_input=result)
        result.sub_(result.mean(-1, keepdim=True)).mul_(steepness)
    return gradient


def _chunks(*tables: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """The same rows of all tables, on a CPU in chunks that fit into the cache."""
    first = tables[0]
    rows = len(first) if first.device.type != "cpu" else max(1, _CACHED // first.shape[-1])
    for start in range(0, len(first), rows or 1):
        yield tuple(table[start : start + rows] for table in tables)

"""The vectors of entities and relations, in [0,1]^d."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

_SPREAD = 0.05
_CACHED = 2**19


class FuzzyTable(nn.Module):
    """Vectors sigmoid(steepness · (weights - their mean)), a mean a row, in [0,1].

    The factor lets them move against Adam's step. The mean is taken away as the LayerNorm before
    the projector's sigmoid does it: products of queries' vectors are small everywhere, those of
    complements large, and an entity must not gain or lose by that alone.
    """

    def __init__(self, count: int, width: int, steepness: float) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.randn(count, width) * _SPREAD)
        self.steepness = steepness

    def forward(self, rows: Tensor | slice | None = None, centre: float = 0.0) -> Tensor:
        """The vectors of these rows, or of all, less the centre."""
        weights: Tensor = self.weights
        if isinstance(rows, slice):
            weights = weights[rows]
        elif rows is not None:
            weights = nn.functional.embedding(rows, weights)
        vectors: Tensor = _Fuzzy.apply(  # type: ignore[no-untyped-call]
            weights, self.steepness, centre
        )
        return vectors

    def both(self, some: Tensor, others: Tensor | None, centre: float) -> tuple[Tensor, Tensor]:
        """The vectors of some rows, and those of others (None: all) less the centre.

        At once, so that there is one gradient of the size of the table and not two.
        """
        vectors: tuple[Tensor, Tensor] = _FuzzyBoth.apply(  # type: ignore[no-untyped-call]
            self.weights, some, others, self.steepness, centre
        )
        return vectors

    def __len__(self) -> int:
        return len(self.weights)


class _Fuzzy(torch.autograd.Function):
    """The vectors less a centre, with one large tensor instead of four."""

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


class _FuzzyBoth(torch.autograd.Function):
    """The same for some rows of a table and for others, or all, less a centre."""

    @staticmethod
    def forward(
        ctx: Any,
        weights: Tensor,
        some: Tensor,
        others: Tensor | None,
        steepness: float,
        centre: float,
    ) -> tuple[Tensor, Tensor]:
        first = _fuzzy(weights[some], steepness, 0.0)
        second = _fuzzy(weights if others is None else weights[others], steepness, centre)
        ctx.save_for_backward(some, others, first, second)
        ctx.steepness, ctx.centre, ctx.shape = steepness, centre, weights.shape
        return first, second

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor | None, ...]:
        some, others, first, second = ctx.saved_tensors
        gradient = _fuzzy_backward(above[1], second, ctx.steepness, ctx.centre)
        if others is not None:
            gradient = gradient.new_zeros(ctx.shape).index_add_(0, others, gradient)
        gradient.index_add_(0, some, _fuzzy_backward(above[0], first, ctx.steepness, 0.0))
        return gradient, None, None, None, None


def _fuzzy(weights: Tensor, steepness: float, centre: float) -> Tensor:
    vectors = torch.empty_like(weights)
    for some, result in _chunks(weights, vectors):
        torch.sub(some, some.mean(-1, keepdim=True), out=result)
        result.mul_(steepness).sigmoid_()
        if centre:
            result.sub_(centre)
    return vectors


def _fuzzy_backward(above: Tensor, vectors: Tensor, steepness: float, centre: float) -> Tensor:
    gradient = torch.empty_like(vectors)
    for some, given, result in _chunks(vectors, above, gradient):
        outputs = some + centre if centre else some
        torch.ops.aten.sigmoid_backward.grad_input(given, outputs, grad_input=result)
        result.sub_(result.mean(-1, keepdim=True)).mul_(steepness)
    return gradient


def _chunks(*tables: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """The same rows of all tables, few enough at a time to stay in the cache on a CPU."""
    first = tables[0]
    rows = len(first) if first.device.type != "cpu" else max(1, _CACHED // first.shape[-1])
    for start in range(0, len(first), rows or 1):
        yield tuple(table[start : start + rows] for table in tables)

"""The vectors of entities and relations, in [0,1]^d."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

_SPREAD = 0.05


class FuzzyTable(nn.Module):
    """Vectors sigmoid(steepness · weights): in [0,1], and able to move against Adam's step."""

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

    def __len__(self) -> int:
        return len(self.weights)


class _Fuzzy(torch.autograd.Function):
    """sigmoid(steepness · weights) - centre with one large tensor instead of three."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, steepness: float, centre: float) -> Tensor:
        vectors = (weights * steepness).sigmoid_().sub_(centre)
        ctx.save_for_backward(vectors)
        ctx.steepness, ctx.centre = steepness, centre
        return vectors

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor, None, None]:
        (vectors,) = ctx.saved_tensors
        outputs = vectors if not ctx.centre else vectors + ctx.centre
        gradient = torch.ops.aten.sigmoid_backward(above[0], outputs)
        return gradient.mul_(ctx.steepness), None, None

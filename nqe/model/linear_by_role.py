"""Linear maps by role: one for entities and one for relations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


def linear_by_role(
    elements: Tensor,
    entity_count: int,
    entity_weight: Tensor,
    entity_bias: Tensor,
    relation_weight: Tensor,
    relation_bias: Tensor,
) -> Tensor:
    """Map the first `entity_count` elements by the entity map, the others by the relation map."""
    inputs: tuple[Tensor, ...] = (
        elements,
        entity_weight,
        entity_bias,
        relation_weight,
        relation_bias,
    )
    if torch.is_autocast_enabled(elements.device.type):
        half = torch.get_autocast_dtype(elements.device.type)
        inputs = tuple(tensor.to(half) for tensor in inputs)
    mapped: Tensor = _LinearByRole.apply(  # type: ignore[no-untyped-call]
        inputs[0], entity_count, *inputs[1:]
    )
    return mapped


class _LinearByRole(torch.autograd.Function):
    """Writes both parts into one result, which avoids splitting and concatenating tensors."""

    @staticmethod
    def forward(ctx: Any, elements: Tensor, entity_count: int, *maps: Tensor) -> Tensor:
        result = elements.new_empty(len(elements), len(maps[0]))
        for rows, weight, bias in _roles(entity_count, maps):
            torch.addmm(bias, elements[rows], weight.T, out=result[rows])
        ctx.save_for_backward(elements, *maps)
        ctx.entity_count = entity_count
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor | None, ...]:
        elements, *maps = ctx.saved_tensors
        of_result = above[0]
        of_elements = torch.empty_like(elements)
        of_maps: list[Tensor] = []
        for rows, weight, _ in _roles(ctx.entity_count, maps):
            torch.mm(of_result[rows], weight, out=of_elements[rows])
            of_maps += (of_result[rows].T @ elements[rows], of_result[rows].sum(0))
        return (of_elements, None, *of_maps)


def _roles(entity_count: int, maps: Sequence[Tensor]) -> tuple[tuple[slice, Tensor, Tensor], ...]:
    """The rows of each role, with the weight and bias of its map."""
    return (
        (slice(None, entity_count), maps[0], maps[1]),
        (slice(entity_count, None), maps[2], maps[3]),
    )

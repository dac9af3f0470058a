"""A linear map a role: entities first, relations after them."""

from __future__ import annotations

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
    """The first rows through the entities' map, the others through the relations'."""
    inputs: tuple[Tensor, ...] = (
        elements,
        entity_weight,
        entity_bias,
        relation_weight,
        relation_bias,
    )
    if torch.is_autocast_enabled(elements.device.type):
        shorter = torch.get_autocast_dtype(elements.device.type)
        inputs = tuple(one.to(shorter) for one in inputs)
    mapped: Tensor = _LinearByRole.apply(  # type: ignore[no-untyped-call]
        inputs[0], entity_count, *inputs[1:]
    )
    return mapped


class _LinearByRole(torch.autograd.Function):
    """Both halves are written where they belong, instead of put together and cut apart again."""

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
        given = above[0]
        of_elements = torch.empty_like(elements)
        of_maps: list[Tensor] = []
        for rows, weight, _ in _roles(ctx.entity_count, maps):
            torch.mm(given[rows], weight, out=of_elements[rows])
            of_maps += (given[rows].T @ elements[rows], given[rows].sum(0))
        return (of_elements, None, *of_maps)


def _roles(entity_count: int, maps: Any) -> tuple[tuple[slice, Tensor, Tensor], ...]:
    """The rows of each role, with the weight and bias of its map."""
    return (
        (slice(None, entity_count), maps[0], maps[1]),
        (slice(entity_count, None), maps[2], maps[3]),
    )

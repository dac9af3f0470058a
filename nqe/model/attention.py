"""Attention within facts: a map a role, biases an edge kind; forward and backward by hand.

    m_ij = (q_i + bQ_ij)·(k_j + bK_ij) / √d,   α = softmax(m),   x_i = Σ_j α_ij (v_j + bV_ij)

As all pairs of one kind share a bias, m_ij = (q_i·k_j + q_i·bK + bQ·k_j + bQ·bK) / √d with the
last three computed once a vector and kind, not once a pair. Autograd would do the same with
three times the operations, most of them copies, which on a CPU is most of the time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from nqe.model.batch import FactGroup, Projections
from nqe.model.edges import EDGES


@dataclass(frozen=True, eq=False)
class GroupLayout:
    """Where a group's queries, keys and values are among the rows, and its edges' kinds."""

    queries: Tensor  # (heads, facts, i)
    keys: Tensor  # (heads, facts, j)
    values: Tensor  # (heads, facts, j)
    kinds: Tensor  # (1 or heads, 1 or facts, i, j)
    padding: Tensor | None  # (facts, j)
    pads_queries: bool
    """Whether padding stands among the queries too."""


@dataclass(frozen=True, eq=False)
class Layout:
    """How the rows of maps (a row a head of an element) are grouped by fact, and back."""

    groups: tuple[GroupLayout, ...]
    rows: Tensor  # (rows,) where each row is among the groups' queries, keys and values
    outputs: Tensor  # (outputs,) where each output's row is among the groups' outputs


def full_layout(projections: Projections, heads: int) -> Layout:
    """Every element attends; an element's row holds its query, key and value."""
    head = torch.arange(heads, device=projections.asked.device)[:, None, None]
    groups = []
    for group in projections.groups:
        first = group.tokens * (3 * heads) + head  # (heads, facts, elements)
        groups.append(
            GroupLayout(
                first,
                first + heads,
                first + 2 * heads,
                group.kinds[None, None],
                group.padding,
                group.padding is not None,
            )
        )
    elements = len(projections.entities) + len(projections.relations)
    return Layout(tuple(groups), *_back(projections, groups, 3 * elements * heads, heads))


def masked_layout(projections: Projections, heads: int) -> Layout:
    """The masked elements attend; their queries come first, then rows of keys and values."""
    device = projections.asked.device
    head = torch.arange(heads, device=device)[:, None]
    count = len(projections.asked)
    groups, start = [], 0
    for group in projections.groups:
        fact = torch.arange(start, start + len(group.asked), device=device)
        keys = (count + group.tokens * 2) * heads + head[..., None]
        queries = (fact * heads + head)[..., None]  # (heads, facts, 1)
        kinds = group.kinds[group.asked][None, :, None]  # (1, facts, 1, j)
        groups.append(GroupLayout(queries, keys, keys + heads, kinds, group.padding, False))
        start += len(group.asked)
    elements = len(projections.entities) + len(projections.relations)
    rows, _ = _back(projections, groups, (count + 2 * elements) * heads, heads)
    outputs = torch.cat([one.queries.flatten() for one in groups])
    return Layout(tuple(groups), rows, _inverse(outputs, count * heads))


def _back(
    projections: Projections, groups: list[GroupLayout], rows: int, heads: int
) -> tuple[Tensor, Tensor]:
    """Where rows, and where elements' outputs, are among the groups."""
    used, outputs = [], []
    for group, layout in zip(projections.groups, groups, strict=True):
        parts = (layout.queries, layout.keys, layout.values)
        padded = group.padding
        for part in parts:
            real = padded is None or part.shape[-1] == 1
            used.append(part.flatten() if real else _without(part, padded, rows).flatten())
        # An element's output row is by its number and the head.
        if layout.queries.shape[-1] > 1:
            row = group.tokens * heads + layout.queries[:, :1, :1] % heads
            outputs.append(_without(row, padded, rows).flatten())
    elements = len(projections.entities) + len(projections.relations)
    back = _inverse(torch.cat(outputs), elements * heads) if outputs else projections.asked
    return _inverse(torch.cat(used), rows), back


def _without(index: Tensor, padding: Tensor | None, nowhere: int) -> Tensor:
    return index if padding is None else index.masked_fill(padding, nowhere)


def _inverse(index: Tensor, count: int) -> Tensor:
    """The place of each number below the count in an index; numbers beyond it are padding."""
    inverse = index.new_empty(count + index.numel())
    places = torch.arange(index.numel(), device=index.device)
    inverse[torch.where(index < count, index, count)] = places
    return inverse[:count]


def attend(rows: Tensor, edges: Tensor | None, layout: Layout) -> Tensor:
    """What each query attends to, a row a head: (outputs · heads, width of a head).

    Edges are the biases bQ, bK, bV, (3, heads, kinds, width of a head), or None for none.
    """
    attended: Tensor = _Attention.apply(rows, edges, layout)  # type: ignore[no-untyped-call]
    return attended


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, edges: Tensor | None, layout: Layout) -> Tensor:
        done = [_Group(rows, edges, group) for group in layout.groups]
        ctx.groups, ctx.edges, ctx.layout = done, edges, layout
        return torch.cat([one.output.flatten(0, 2) for one in done])[layout.outputs]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor, Tensor | None, None]:
        edges, layout = ctx.edges, ctx.layout
        of_edges = None if edges is None else torch.zeros_like(edges)
        of_outputs = _spread(above[0], layout)
        parts: list[Tensor] = []
        for one, of_output in zip(ctx.groups, of_outputs, strict=True):
            parts += (part.flatten(0, 2) for part in one.gradients(of_output, edges, of_edges))
        return torch.cat(parts)[layout.rows], of_edges, None


def _spread(above: Tensor, layout: Layout) -> list[Tensor]:
    """Gradients on the outputs, as the groups have them; 0 on padding."""
    sizes = [group.queries.numel() for group in layout.groups]
    everywhere = above.new_zeros(sum(sizes), above.shape[1])
    everywhere[layout.outputs] = above
    return [
        part.view(*group.queries.shape, -1)
        for part, group in zip(everywhere.split(sizes), layout.groups, strict=True)
    ]


class _Group:
    """The facts of a group; tensors are (heads, facts, elements, …)."""

    def __init__(self, rows: Tensor, edges: Tensor | None, layout: GroupLayout) -> None:
        self.layout = layout
        self.scale = 1 / math.sqrt(rows.shape[1])
        self.query = rows[layout.queries].mul_(self.scale)
        self.key, self.value = rows[layout.keys], rows[layout.values]
        scores = self.query @ self.key.transpose(2, 3)  # (heads, facts, i, j)
        if edges is not None:
            shape = scores.shape
            self.kinds = layout.kinds.expand(shape)
            self.kinds_back = layout.kinds.transpose(2, 3).expand(*shape[:2], shape[3], shape[2])
            on_query, on_key, _ = edges
            constant = (on_query * on_key).sum(-1)[:, None] * self.scale  # (heads, 1, kinds)
            of_query = _by_heads(self.query, on_key.transpose(1, 2)) + constant[:, None]
            of_key = _by_heads(self.key, on_query.transpose(1, 2) * self.scale)
            scores += of_query.gather(3, self.kinds)
            scores += of_key.gather(3, self.kinds_back).transpose(2, 3)
        if layout.padding is not None:
            scores.masked_fill_(layout.padding[None, :, None], -math.inf)
        self.weights = torch.softmax(scores, -1)
        self.output = self.weights @ self.value
        if edges is not None:
            self.by_kind = _added_by_kind(self.weights, self.kinds)
            self.output += _by_heads(self.by_kind, edges[2])

    def gradients(
        self, of_output: Tensor, edges: Tensor | None, of_edges: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """On queries, keys and values; those on the edges are added where they are kept."""
        of_value = self.weights.transpose(2, 3) @ of_output
        of_weights = of_output @ self.value.transpose(2, 3)
        if edges is not None and of_edges is not None:
            of_weights += _by_heads(of_output, edges[2].transpose(1, 2)).gather(3, self.kinds)
            of_edges[2] += _products(self.by_kind, of_output)
        of_scores = torch._softmax_backward_data(of_weights, self.weights, -1, of_weights.dtype)
        of_query = of_scores @ self.key
        of_key = of_scores.transpose(2, 3) @ self.query
        if edges is not None and of_edges is not None:
            on_query, on_key, _ = edges
            by_query = _added_by_kind(of_scores, self.kinds)
            by_key = _added_by_kind(of_scores.transpose(2, 3), self.kinds_back)
            of_query += _by_heads(by_query, on_key)
            of_key += _by_heads(by_key, on_query * self.scale)
            total = by_query.sum((1, 2))[..., None] * self.scale  # (heads, kinds, 1)
            of_edges[0] += _products(by_key, self.key) * self.scale + total * on_key
            of_edges[1] += _products(by_query, self.query) + total * on_query
        return of_query.mul_(self.scale), of_key, of_value


def _by_heads(vectors: Tensor, maps: Tensor) -> Tensor:
    """Each head's vectors through its own map."""
    heads, facts, elements, _ = vectors.shape
    return torch.bmm(vectors.reshape(heads, facts * elements, -1), maps).view(
        heads, facts, elements, -1
    )


def _products(left: Tensor, right: Tensor) -> Tensor:
    """Σ left ⊗ right over facts and elements, head by head."""
    return torch.bmm(left.flatten(1, 2).transpose(1, 2), right.flatten(1, 2))


def _added_by_kind(values: Tensor, kinds: Tensor) -> Tensor:
    """Values of pairs added up by the kind of edge, (heads, facts, elements, kinds)."""
    return values.new_zeros(*values.shape[:3], len(EDGES)).scatter_add_(3, kinds, values)


__all__ = ["FactGroup", "Layout", "attend", "full_layout", "masked_layout"]

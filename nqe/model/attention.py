"""Attention between the elements of a fact, with biases by kind of edge (the paper's equations).

    m_ij = (q_i + bQ_ij)·(k_j + bK_ij) / √d,   α = softmax(m),   x_i = Σ_j α_ij (v_j + bV_ij)

All pairs of one kind share their biases, so m_ij = (q_i·k_j + q_i·bK + bQ·k_j + bQ·bK) / √d, where
the last three terms are computed once per vector and kind instead of once per pair.

Forward and backward are written by hand: autograd needs three times as many operations, most of
them copies, which take most of the time on a CPU.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from nqe.model.batch import FactGroup, Projections
from nqe.model.edge_kinds import EDGES


@dataclass(frozen=True, eq=False)
class GroupLayout:
    """The shape of attention within one group of facts, and the kinds of edges in them."""

    shape: tuple[int, int, int, int]
    """Heads, facts, attending elements i, attended elements j."""
    kinds: Tensor  # (1, 1 or facts, i, j)
    padding: Tensor | None  # (facts, j)


@dataclass(frozen=True, eq=False)
class Layout:
    """Where each row goes in the groups of facts, and where it comes from.

    A row is one head of one query, key, value or output. Grouped rows are those of all groups,
    one group after another; they include padding.
    """

    groups: tuple[GroupLayout, ...]
    gathered: Tensor  # (grouped inputs,) the query, key or value row at each grouped position
    rows: Tensor  # (rows,) the grouped position of each query, key or value row
    outputs: Tensor  # (output rows,) the grouped position of each output row
    spread: Tensor  # (grouped outputs,) the output row at each position; arbitrary for padding


def full_layout(projections: Projections, heads: int) -> Layout:
    """The layout in which every element attends.

    The rows of an element are its query, its key and its value, one after another.
    """
    count = len(projections.entities) + len(projections.relations)
    layout = _Builder(heads, 3 * count, count)
    for group in projections.groups:
        first = group.tokens * 3
        layout.add(group, group.kinds[None, None], first, first + 1, first + 2, group.tokens)
    return layout.finish()


def masked_layout(projections: Projections, heads: int) -> Layout:
    """The layout in which only the masked elements attend.

    Their queries come first, followed by the key and the value of every element.
    """
    count = len(projections.asked)
    elements = len(projections.entities) + len(projections.relations)
    layout = _Builder(heads, count + 2 * elements, count)
    queries = torch.arange(count, device=projections.asked.device)[:, None]  # (projections, 1)
    start = 0
    for group in projections.groups:
        own = queries[start : start + len(group.asked)]
        keys = count + group.tokens * 2
        layout.add(group, group.kinds[group.asked][None, :, None], own, keys, keys + 1, own)
        start += len(group.asked)
    return layout.finish()


class _Builder:
    """Builds a layout group by group, from numbers of whole vectors (one row per head)."""

    def __init__(self, heads: int, vectors: int, outputs: int) -> None:
        self.heads, self.vectors, self.output_count = heads, vectors, outputs
        self.groups: list[GroupLayout] = []
        self.places: list[Tensor] = []
        self.real: list[Tensor] = []
        self.outputs: list[Tensor] = []

    def add(
        self,
        group: FactGroup,
        kinds: Tensor,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        outputs: Tensor,
    ) -> None:
        """Add a group: the numbers of its queries, (facts, i), keys and values, (facts, j)."""
        shape = (self.heads, *queries.shape, keys.shape[1])
        self.groups.append(GroupLayout(shape, kinds, group.padding))
        for vectors in (queries, keys, values):
            self.places.append(self._rows(vectors))
            # Padding positions receive no gradient.
            self.real.append(self._rows(_mark_padding(vectors, group, self.vectors)))
        self.outputs.append(self._rows(_mark_padding(outputs, group, self.output_count)))

    def finish(self) -> Layout:
        """The layout of all groups that were added."""
        rows = _inverse(torch.cat(self.real), self.vectors * self.heads)
        count = self.output_count * self.heads
        spread = torch.cat(self.outputs)
        outputs = _inverse(spread, count)
        spread = torch.where(spread < count, spread, 0)
        return Layout(tuple(self.groups), torch.cat(self.places), rows, outputs, spread)

    def _rows(self, vectors: Tensor) -> Tensor:
        """The rows of the given vectors, ordered by head: (heads · facts · elements,)."""
        head = torch.arange(self.heads, device=vectors.device)[:, None, None]
        return (vectors * self.heads + head).flatten()


def _mark_padding(vectors: Tensor, group: FactGroup, mark: int) -> Tensor:
    """The vectors of a group with `mark` for padding; a masked element alone is never padding."""
    if group.padding is None or vectors.shape[1] == 1:
        return vectors
    return vectors.masked_fill(group.padding, mark)


def _inverse(index: Tensor, count: int) -> Tensor:
    """The position of each number below `count` in an index; larger numbers are padding."""
    inverse = index.new_empty(count + 1)
    positions = torch.arange(index.numel(), device=index.device)
    inverse[index.clamp_max(count)] = positions
    return inverse[:count]


def attend(rows: Tensor, edges: Tensor | None, layout: Layout) -> Tensor:
    """The output of each query, one row per head: (outputs · heads, width of a head).

    `edges` are the biases bQ, bK and bV, (3, heads, kinds, width of a head), or None.
    """
    if edges is not None:
        edges = edges.to(rows.dtype)  # half precision under autocast
    attended: Tensor = _Attention.apply(rows, edges, layout)  # type: ignore[no-untyped-call]
    return attended


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, edges: Tensor | None, layout: Layout) -> Tensor:
        gathered = rows.index_select(0, layout.gathered)
        groups, start = [], 0
        # Autocast does not apply to backward, so all tensors must have one type.
        with torch.autocast(rows.device.type, enabled=False):
            for group in layout.groups:
                heads, facts, i, j = group.shape
                end = start + heads * facts * (i + 2 * j)
                groups.append(_Group(gathered[start:end], edges, group))
                start = end
        ctx.groups, ctx.edges, ctx.layout = groups, edges, layout
        outputs = torch.cat([done.output.flatten(0, 2) for done in groups])
        return outputs.index_select(0, layout.outputs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor, Tensor | None, None]:
        edges, layout = ctx.edges, ctx.layout
        of_edges = None if edges is None else torch.zeros_like(edges)
        parts: list[Tensor] = []
        for group, of_output in zip(ctx.groups, _spread(above[0], layout), strict=True):
            parts += (part.flatten(0, 2) for part in group.gradients(of_output, edges, of_edges))
        return torch.cat(parts).index_select(0, layout.rows), of_edges, None


def _spread(above: Tensor, layout: Layout) -> list[Tensor]:
    """The gradients of the outputs of each group, 0 for padding."""
    grouped = above.index_select(0, layout.spread)
    parts = torch.split(grouped, [math.prod(group.shape[:3]) for group in layout.groups])
    result = []
    for part, group in zip(parts, layout.groups, strict=True):
        gradients = part.view(*group.shape[:3], -1)
        if group.padding is not None and group.shape[2] == group.shape[3]:
            gradients.masked_fill_(group.padding[None, :, :, None], 0)
        result.append(gradients)
    return result


class _Group:
    """Attention within one group of facts; tensors are (heads, facts, elements, …)."""

    def __init__(self, rows: Tensor, edges: Tensor | None, layout: GroupLayout) -> None:
        heads, facts, i, j = layout.shape
        sizes = [heads * facts * count for count in (i, j, j)]
        self.query, self.key, self.value = (
            part.view(heads, facts, count, -1)
            for part, count in zip(torch.split(rows, sizes), (i, j, j), strict=True)
        )
        self.scale = 1 / math.sqrt(rows.shape[1])
        self.query.mul_(self.scale)
        scores = self.query @ self.key.transpose(2, 3)  # (heads, facts, i, j)
        if edges is not None:
            self.kinds = layout.kinds.expand(heads, facts, i, j)
            self.kinds_back = layout.kinds.transpose(2, 3).expand(heads, facts, j, i)
            on_query, on_key, _ = edges
            constant = (on_query * on_key).sum(-1) * self.scale  # (heads, kinds)
            of_query = _by_heads(self.query, on_key.transpose(1, 2)) + constant[:, None, None]
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
        """The gradients of queries, keys and values; those of the edges are added to `of_edges`."""
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
    """The vectors of each head multiplied by the matrix of the head."""
    heads, facts, elements, _ = vectors.shape
    return torch.bmm(vectors.reshape(heads, facts * elements, -1), maps).view(
        heads, facts, elements, -1
    )


def _products(left: Tensor, right: Tensor) -> Tensor:
    """Σ left ⊗ right over facts and elements, for each head."""
    return torch.bmm(left.flatten(1, 2).transpose(1, 2), right.flatten(1, 2))


def _added_by_kind(values: Tensor, kinds: Tensor) -> Tensor:
    """The values of pairs summed by kind of edge, (heads, facts, elements, kinds)."""
    return values.new_zeros(*values.shape[:3], len(EDGES)).scatter_add_(3, kinds, values)

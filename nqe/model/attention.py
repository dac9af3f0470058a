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
from nqe.model.edge_kinds import EDGES


@dataclass(frozen=True, eq=False)
class GroupLayout:
    """How the queries and keys of a group's facts lie, and the kinds of the edges between them."""

    shape: tuple[int, int, int, int]
    """Heads, facts, elements i that attend, elements j that are attended to."""
    kinds: Tensor  # (1, 1 or facts, i, j)
    padding: Tensor | None  # (facts, j)


@dataclass(frozen=True, eq=False)
class Layout:
    """How rows (a head of a query, key or value each) are brought together by fact, and back."""

    groups: tuple[GroupLayout, ...]
    gathered: Tensor  # (places,) the row in each place of the groups' queries, keys and values
    rows: Tensor  # (rows,) the place of each row
    outputs: Tensor  # (outputs,) where each output's row is among the groups' outputs
    spread: Tensor  # (places,) the output in each place of the groups' outputs, any for padding


def full_layout(projections: Projections, heads: int) -> Layout:
    """Every element attends; an element has a query, a key and a value one after another."""
    count = len(projections.entities) + len(projections.relations)
    layout = _Builder(heads, 3 * count, count)
    for group in projections.groups:
        first = group.tokens * 3
        layout.add(group, group.kinds[None, None], first, first + 1, first + 2, group.tokens)
    return layout.finish()


def masked_layout(projections: Projections, heads: int) -> Layout:
    """The masked elements attend; their queries come first, then every element's key and value."""
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
    """Puts a layout together, group by group; vectors are counted in whole, a row a head."""

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
        """A group: which vectors are its queries, (facts, i), keys and values, (facts, j)."""
        shape = (self.heads, *queries.shape, keys.shape[1])
        self.groups.append(GroupLayout(shape, kinds, group.padding))
        for vectors in (queries, keys, values):
            self.places.append(self._rows(vectors))
            # What is gathered into padding is never given back.
            self.real.append(self._rows(_without(vectors, group, self.vectors)))
        self.outputs.append(self._rows(_without(outputs, group, self.output_count)))

    def finish(self) -> Layout:
        """The layout of all groups."""
        rows = _inverse(torch.cat(self.real), self.vectors * self.heads)
        count = self.output_count * self.heads
        spread = torch.cat(self.outputs)
        outputs = _inverse(spread, count)
        spread = torch.where(spread < count, spread, 0)
        return Layout(tuple(self.groups), torch.cat(self.places), rows, outputs, spread)

    def _rows(self, vectors: Tensor) -> Tensor:
        """The rows of vectors, heads first: (heads · facts · elements,)."""
        head = torch.arange(self.heads, device=vectors.device)[:, None, None]
        return (vectors * self.heads + head).flatten()


def _without(vectors: Tensor, group: FactGroup, nowhere: int) -> Tensor:
    """The vectors of a group, nowhere where they are padding; a mask by itself never is."""
    if group.padding is None or vectors.shape[1] == 1:
        return vectors
    return vectors.masked_fill(group.padding, nowhere)


def _inverse(index: Tensor, count: int) -> Tensor:
    """The place of each number below the count in an index; numbers beyond it are padding."""
    inverse = index.new_empty(count + 1)
    places = torch.arange(index.numel(), device=index.device)
    inverse[index.clamp_max(count)] = places
    return inverse[:count]


def attend(rows: Tensor, edges: Tensor | None, layout: Layout) -> Tensor:
    """What each query attends to, a row a head: (outputs · heads, width of a head).

    Edges are the biases bQ, bK, bV, (3, heads, kinds, width of a head), or None for none.
    """
    if edges is not None:
        edges = edges.to(rows.dtype)  # which is a shorter one under autocast
    attended: Tensor = _Attention.apply(rows, edges, layout)  # type: ignore[no-untyped-call]
    return attended


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor, edges: Tensor | None, layout: Layout) -> Tensor:
        gathered = rows.index_select(0, layout.gathered)
        groups, start = [], 0
        # All in one type, as backward, which autocast does not see, needs them.
        with torch.autocast(rows.device.type, enabled=False):
            for group in layout.groups:
                heads, facts, i, j = group.shape
                end = start + heads * facts * (i + 2 * j)
                groups.append(_Group(gathered[start:end], edges, group))
                start = end
        ctx.groups, ctx.edges, ctx.layout = groups, edges, layout
        outputs = torch.cat([one.output.flatten(0, 2) for one in groups])
        return outputs.index_select(0, layout.outputs)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *above: Tensor) -> tuple[Tensor, Tensor | None, None]:
        edges, layout = ctx.edges, ctx.layout
        of_edges = None if edges is None else torch.zeros_like(edges)
        parts: list[Tensor] = []
        for one, of_output in zip(ctx.groups, _spread(above[0], layout), strict=True):
            parts += (part.flatten(0, 2) for part in one.gradients(of_output, edges, of_edges))
        return torch.cat(parts).index_select(0, layout.rows), of_edges, None


def _spread(above: Tensor, layout: Layout) -> list[Tensor]:
    """Gradients on the outputs, as the groups have them; 0 on padding."""
    everywhere = above.index_select(0, layout.spread)
    parts = torch.split(everywhere, [math.prod(group.shape[:3]) for group in layout.groups])
    result = []
    for part, group in zip(parts, layout.groups, strict=True):
        gradients = part.view(*group.shape[:3], -1)
        if group.padding is not None and group.shape[2] == group.shape[3]:
            gradients.masked_fill_(group.padding[None, :, :, None], 0)
        result.append(gradients)
    return result


class _Group:
    """The facts of a group; tensors are (heads, facts, elements, …)."""

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

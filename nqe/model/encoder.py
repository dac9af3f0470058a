"""The n-ary projector: a dual-heterogeneous Transformer over the elements of a fact."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional

from nqe.model.batch import FactGroup, Projections
from nqe.model.dropout import Dropout
from nqe.model.edges import EDGES, edge_kinds
from nqe.settings import ModelSettings


class Encoder(nn.Module):
    """What the model asks of an encoder: a query vector a projection.

    Register a class in ENCODERS to use one of your own; it is built from the model's settings.
    """

    def forward(self, entities: Tensor, relations: Tensor, projections: Projections) -> Tensor:
        """Vectors in [0,1]^d, (projections, width), of facts with a masked element."""
        raise NotImplementedError


class TransformerEncoder(Encoder):
    """K layers, then the masked element through an MLP, a LayerNorm and a sigmoid."""

    def __init__(self, settings: ModelSettings) -> None:
        super().__init__()
        width = settings.width
        self.layers = nn.ModuleList(
            Layer(
                width,
                settings.heads,
                settings.feed_forward,
                settings.dropout,
                roles=settings.heterogeneity != "edge",
                edges=settings.heterogeneity != "node",
            )
            for _ in range(settings.layers)
        )
        self.norm = nn.LayerNorm(width)
        self.drop = Dropout(settings.dropout)
        self.mlp = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
        self.out_norm = nn.LayerNorm(width)

    def forward(self, entities: Tensor, relations: Tensor, projections: Projections) -> Tensor:
        """P(X) = σ(LN(MLP(x of the mask after K layers))), as the paper has it."""
        elements = self.drop(self.norm(torch.cat([entities, relations])))  # (elements, width)
        *layers, last = self.layers
        for layer in layers:
            elements = layer(elements, projections)
        masked = last(elements, projections, only_asked=True)  # (projections, width)
        return torch.sigmoid(self.out_norm(self.mlp(masked)))


class Layer(nn.Module):
    """Attention with a map a role and biases an edge kind, then a feed-forward network."""

    def __init__(
        self, width: int, heads: int, feed_forward: int, dropout: float, *, roles: bool, edges: bool
    ) -> None:
        super().__init__()
        self.heads = heads
        self.entity_maps = nn.Linear(width, 3 * width)
        self.relation_maps = nn.Linear(width, 3 * width) if roles else self.entity_maps
        # b^Q, b^K and b^V of every edge kind but the first: self carries no bias.
        self.edges = nn.Parameter(torch.zeros(3, len(EDGES) - 1, width)) if edges else None
        self.out = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width)
        self.feed_forward = nn.Sequential(
            nn.Linear(width, feed_forward),
            nn.GELU(),
            Dropout(dropout),
            nn.Linear(feed_forward, width),
        )
        self.feed_forward_norm = nn.LayerNorm(width)
        self.drop = Dropout(dropout)

    def forward(
        self, elements: Tensor, projections: Projections, *, only_asked: bool = False
    ) -> Tensor:
        """The elements' new vectors; of the last layer only those of the masked ones are needed."""
        if only_asked:
            attended = self._attend_from_masks(elements, projections)
            elements = functional.embedding(projections.asked, elements)  # (projections, width)
        else:
            attended = self._attend(elements, projections)
        elements = self.attention_norm(elements + self.drop(self.out(attended)))
        result: Tensor = self.feed_forward_norm(elements + self.drop(self.feed_forward(elements)))
        return result

    def _attend(self, elements: Tensor, projections: Projections) -> Tensor:
        maps = self._maps(elements, projections, 0, 3)  # (elements, 3 width)
        edges = self._edges()
        attended = []
        for group in projections.groups:
            grouped = functional.embedding(group.tokens, maps)  # (elements, facts, 3 width)
            query, key, value = self._heads(grouped, 3)
            attended.append(attend(query, key, value, edges, group).flatten(0, 1))
        return functional.embedding(projections.elements, torch.cat(attended))

    def _attend_from_masks(self, elements: Tensor, projections: Projections) -> Tensor:
        maps = self._maps(elements, projections, 1, 3)  # (elements, 2 width)
        width = elements.shape[1]
        weight, bias = self.entity_maps.weight[:width], self.entity_maps.bias[:width]
        queries = functional.linear(functional.embedding(projections.asked, elements), weight, bias)
        edges = self._edges()
        attended, start = [], 0
        for group in projections.groups:
            count = len(group.asked)
            grouped = functional.embedding(group.tokens, maps)  # (elements, facts, 2 width)
            key, value = self._heads(grouped, 2)
            query = queries[start : start + count].view(count, self.heads, -1)
            attended.append(attend_from_masks(query, key, value, edges, group))
            start += count
        return torch.cat(attended)

    def _maps(self, elements: Tensor, projections: Projections, first: int, last: int) -> Tensor:
        """W^Q x, W^K x and W^V x (or some of them), each role by its own map."""
        count, width = len(projections.entities), elements.shape[1]
        chosen = slice(first * width, last * width)
        return torch.cat(
            [
                functional.linear(some, maps.weight[chosen], maps.bias[chosen])
                for some, maps in (
                    (elements[:count], self.entity_maps),
                    (elements[count:], self.relation_maps),
                )
            ]
        )

    def _heads(self, grouped: Tensor, parts: int) -> tuple[Tensor, ...]:
        """Queries, keys, values, each (elements, facts, heads, width of a head)."""
        return grouped.view(*grouped.shape[:2], parts, self.heads, -1).unbind(2)

    def _edges(self) -> Tensor | None:
        """The biases of all edge kinds by head, (3, kinds, heads, width of a head)."""
        if self.edges is None:
            return None
        return functional.pad(self.edges, (0, 0, 1, 0)).view(3, len(EDGES), self.heads, -1)


def attend(
    query: Tensor, key: Tensor, value: Tensor, edges: Tensor | None, group: FactGroup
) -> Tensor:
    """Attention of every element to every element of its fact, (elements, facts, width)."""
    length, _, heads, _ = query.shape
    query = query / math.sqrt(query.shape[-1])
    # (facts, heads, elements i, elements j)
    scores = query.permute(1, 2, 0, 3) @ key.permute(1, 2, 3, 0)
    if edges is not None:
        kinds = edge_kinds((length + 1) // 2).to(query.device)
        index = kinds.expand(len(scores), heads, length, length)
        of_query, of_key = _edge_scores(query, key, edges)  # (facts, heads, elements, kinds)
        scores = scores + of_query.gather(3, index) + of_key.gather(3, index).transpose(2, 3)
    if group.padding is not None:
        scores = scores.masked_fill(group.padding[:, None, None], -math.inf)
    weights = scores.softmax(-1)
    attended = weights @ value.permute(1, 2, 0, 3)  # (facts, heads, i, width of a head)
    if edges is not None:
        attended = attended + _by_kind(weights, index) @ edges[2].transpose(0, 1)
    return attended.permute(2, 0, 1, 3).flatten(2)


def attend_from_masks(
    query: Tensor, key: Tensor, value: Tensor, edges: Tensor | None, group: FactGroup
) -> Tensor:
    """The same for the masked element of each fact alone, (facts, width)."""
    query = query / math.sqrt(query.shape[-1])  # (facts, heads, width of a head)
    scores = query[:, :, None] @ key.permute(1, 2, 3, 0)  # (facts, heads, 1, j)
    if edges is not None:
        kinds = edge_kinds((len(key) + 1) // 2).to(query.device)[group.asked]  # (facts, j)
        index = kinds[:, None, None].expand(-1, query.shape[1], -1, -1)  # (facts, heads, 1, j)
        of_query, of_key = _edge_scores(query[None], key, edges)
        scores = scores + of_query.gather(3, index)
        scores = scores + of_key.gather(3, index.transpose(2, 3)).transpose(2, 3)
    if group.padding is not None:
        scores = scores.masked_fill(group.padding[:, None, None], -math.inf)
    weights = scores.softmax(-1)
    attended = weights @ value.permute(1, 2, 0, 3)  # (facts, heads, 1, width of a head)
    if edges is not None:
        attended = attended + _by_kind(weights, index) @ edges[2].transpose(0, 1)
    return attended.flatten(1)


def _edge_scores(query: Tensor, key: Tensor, edges: Tensor) -> tuple[Tensor, Tensor]:
    """What the edges' biases add to the scores, for every kind, (facts, heads, elements, kinds).

    (q_i + bQ)·(k_j + bK) = q_i·k_j + (q_i·bK + bQ·bK) + bQ·k_j: the middle by i, the last by j.
    """
    on_query, on_key = edges[0] / math.sqrt(query.shape[-1]), edges[1]
    constant = (on_query * on_key).sum(-1).T[:, None]  # (heads, 1, kinds)
    of_query = query.permute(1, 2, 0, 3) @ on_key.permute(1, 2, 0) + constant
    return of_query, key.permute(1, 2, 0, 3) @ on_query.permute(1, 2, 0)


def _by_kind(weights: Tensor, index: Tensor) -> Tensor:
    """Attention weights added up by the kind of edge, (facts, heads, elements, kinds)."""
    return weights.new_zeros(*weights.shape[:3], len(EDGES)).scatter_add(3, index, weights)


ENCODERS: dict[str, Callable[[ModelSettings], Encoder]] = {"transformer": TransformerEncoder}

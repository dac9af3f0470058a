"""The n-ary projector: a dual-heterogeneous Transformer over the elements of a fact."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from nqe.model.attention import Layout, attend, full_layout, masked_layout
from nqe.model.batch import Projections
from nqe.model.dropout import Dropout
from nqe.model.edge_kinds import EDGES
from nqe.model.linear_by_role import linear_by_role
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
        self.heads = settings.heads
        self.norm = nn.LayerNorm(width)
        self.drop = Dropout(settings.dropout)
        self.mlp = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
        self.out_norm = nn.LayerNorm(width)

    def forward(self, entities: Tensor, relations: Tensor, projections: Projections) -> Tensor:
        """P(X) = σ(LN(MLP(x of the mask after K layers))), as the paper has it."""
        elements = self.drop(self.norm(torch.cat([entities, relations])))  # (elements, width)
        *layers, last = self.layers
        if layers:
            layout = full_layout(projections, self.heads)
        for layer in layers:
            elements = layer(elements, projections, layout)
        masked = cast(Layer, last).only_masked(elements, projections)  # (projections, width)
        return torch.sigmoid(self.out_norm(self.mlp(masked)))


class Layer(nn.Module):
    """Attention with a map a role and biases an edge kind, then a feed-forward network."""

    def __init__(
        self, width: int, heads: int, feed_forward: int, dropout: float, *, roles: bool, edges: bool
    ) -> None:
        super().__init__()
        self.heads = heads
        self.head_width = width // heads
        self.entity_maps = nn.Linear(width, 3 * width)
        self.relation_maps = nn.Linear(width, 3 * width) if roles else self.entity_maps
        # b^Q, b^K and b^V of every edge kind but self.
        self.edges = nn.Parameter(torch.zeros(3, len(EDGES) - 1, width)) if edges else None
        self.out = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width)
        self.feed_forward = nn.Sequential(
            nn.Linear(width, feed_forward), nn.GELU(), nn.Linear(feed_forward, width)
        )
        self.feed_forward_norm = nn.LayerNorm(width)
        self.drop = Dropout(dropout)

    def forward(self, elements: Tensor, projections: Projections, layout: Layout) -> Tensor:
        """The new vectors of all elements, (elements, width)."""
        maps = self._maps(elements, len(projections.entities), 0)  # (elements, 3 width)
        return self._rest(elements, self._attend(maps.view(-1, self.head_width), layout))

    def only_masked(self, elements: Tensor, projections: Projections) -> Tensor:
        """The new vectors of the masked elements alone, (projections, width)."""
        width = elements.shape[1]
        masked = functional.embedding(projections.asked, elements)
        maps = self.entity_maps
        queries = functional.linear(masked, maps.weight[:width], maps.bias[:width])
        others = self._maps(elements, len(projections.entities), width)  # (elements, 2 width)
        rows = torch.cat([one.view(-1, self.head_width) for one in (queries, others)])
        return self._rest(masked, self._attend(rows, masked_layout(projections, self.heads)))

    def _attend(self, rows: Tensor, layout: Layout) -> Tensor:
        edges = None
        if self.edges is not None:
            # Self, the first kind, carries no bias.
            padded = functional.pad(self.edges, (0, 0, 1, 0))
            edges = padded.view(3, len(EDGES), self.heads, -1).transpose(1, 2)
        return attend(rows, edges, layout).view(-1, self.heads * self.head_width)

    def _rest(self, elements: Tensor, attended: Tensor) -> Tensor:
        elements = self.attention_norm(elements + self.drop(self.out(attended)))
        result: Tensor = self.feed_forward_norm(elements + self.drop(self.feed_forward(elements)))
        return result

    def _maps(self, elements: Tensor, entity_count: int, first: int) -> Tensor:
        """W^Q x, W^K x and W^V x (those from the first row on), each role by its own map."""
        return linear_by_role(
            elements,
            entity_count,
            self.entity_maps.weight[first:],
            self.entity_maps.bias[first:],
            self.relation_maps.weight[first:],
            self.relation_maps.bias[first:],
        )


ENCODERS: dict[str, Callable[[ModelSettings], Encoder]] = {"transformer": TransformerEncoder}

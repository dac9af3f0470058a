"""Encoders: projections as a dual-heterogeneous Transformer over the elements of a fact."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from nqe.errors import NqeError
from nqe.model.attention import Layout, attend, full_layout, masked_layout
from nqe.model.batch import Projections
from nqe.model.context import ContextAttention, ContextVectors
from nqe.model.dropout import Dropout
from nqe.model.edge_kinds import EDGES
from nqe.model.linear_by_role import linear_by_role
from nqe.settings import ModelSettings


class Encoder(nn.Module):
    """Computes one vector per projection.

    To use an encoder of your own, register a class or function in ENCODERS that takes the model's
    settings.
    """

    def forward(
        self,
        entities: Tensor,
        relations: Tensor,
        projections: Projections,
        context: ContextVectors | None = None,
    ) -> Tensor:
        """The vectors in [0,1]^d of facts with one masked element each, (projections, width).

        `context` is given if the settings ask for it.
        """
        raise NotImplementedError

    def encode_masked(
        self,
        entities: Tensor,  # noqa: ARG002
        relations: Tensor,  # noqa: ARG002
        projections: Projections,  # noqa: ARG002
    ) -> Tensor:
        """The masked elements after all layers, (projections, width), to predict relations from.

        Here the masked elements may be relations. An encoder needs this only for a model that
        predicts relations.
        """
        raise NqeError(
            f"the encoder {type(self).__name__} has no encode_masked, which predicting relations "
            "needs; set train.relation_share to 0, or add it"
        )


class TransformerEncoder(Encoder):
    """The paper's encoder: layers of attention, then an MLP, a LayerNorm and a sigmoid."""

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
        self.context = (
            ContextAttention(width, settings.heads, settings.feed_forward, settings.dropout)
            if settings.context
            else None
        )

    def forward(
        self,
        entities: Tensor,
        relations: Tensor,
        projections: Projections,
        context: ContextVectors | None = None,
    ) -> Tensor:
        """P(X) = σ(LN(MLP(x_mask))), where x_mask is the masked element after all layers.

        With context, it attends to the context facts after the last layer.
        """
        masked = self.encode_masked(entities, relations, projections)  # (projections, width)
        if self.context is not None and context is not None:
            masked = self.context(masked, context)
        return torch.sigmoid(self.out_norm(self.mlp(masked)))

    def encode_masked(
        self, entities: Tensor, relations: Tensor, projections: Projections
    ) -> Tensor:
        """The masked elements after all layers, (projections, width)."""
        elements = self.drop(self.norm(torch.cat([entities, relations])))  # (elements, width)
        *layers, last = self.layers
        if layers:
            layout = full_layout(projections, self.heads)
        for layer in layers:
            elements = layer(elements, projections, layout)
        return cast(Layer, last).forward_masked(elements, projections)


class Layer(nn.Module):
    """Attention with maps by role and biases by kind of edge, then a feed-forward network."""

    def __init__(
        self, width: int, heads: int, feed_forward: int, dropout: float, *, roles: bool, edges: bool
    ) -> None:
        super().__init__()
        self.heads = heads
        self.head_width = width // heads
        self.entity_maps = nn.Linear(width, 3 * width)
        self.relation_maps = nn.Linear(width, 3 * width) if roles else self.entity_maps
        # bQ, bK and bV of every kind of edge except self.
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
        maps = self._map(elements, len(projections.entities), 0)  # (elements, 3 width)
        return self._finish(elements, self._attend(maps.view(-1, self.head_width), layout))

    def forward_masked(self, elements: Tensor, projections: Projections) -> Tensor:
        """The new vectors of the masked elements alone, (projections, width)."""
        width = elements.shape[1]
        masked = functional.embedding(projections.asked, elements)
        maps = self.relation_maps if projections.asks_relations else self.entity_maps
        queries = functional.linear(masked, maps.weight[:width], maps.bias[:width])
        others = self._map(elements, len(projections.entities), width)  # (elements, 2 width)
        rows = torch.cat([part.view(-1, self.head_width) for part in (queries, others)])
        return self._finish(masked, self._attend(rows, masked_layout(projections, self.heads)))

    def _attend(self, rows: Tensor, layout: Layout) -> Tensor:
        edges = None
        if self.edges is not None:
            # The first kind of edge, self, has no bias.
            padded = functional.pad(self.edges, (0, 0, 1, 0))
            edges = padded.view(3, len(EDGES), self.heads, -1).transpose(1, 2)
        return attend(rows, edges, layout).view(-1, self.heads * self.head_width)

    def _finish(self, elements: Tensor, attended: Tensor) -> Tensor:
        """The output map and the feed-forward network, each with a residual and a LayerNorm."""
        elements = self.attention_norm(elements + self.drop(self.out(attended)))
        result: Tensor = self.feed_forward_norm(elements + self.drop(self.feed_forward(elements)))
        return result

    def _map(self, elements: Tensor, entity_count: int, first: int) -> Tensor:
        """W^Q x, W^K x and W^V x by the maps of each role; `first` skips rows of the maps."""
        return linear_by_role(
            elements,
            entity_count,
            self.entity_maps.weight[first:],
            self.entity_maps.bias[first:],
            self.relation_maps.weight[first:],
            self.relation_maps.bias[first:],
        )


ENCODERS: dict[str, Callable[[ModelSettings], Encoder]] = {"transformer": TransformerEncoder}
"""Encoders by the value of `model.encoder`, built from the model's settings."""

"""The layer of StarE: message passing over edges that have qualifiers."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from nqe.model.dropout import Dropout
from nqe.model.embedding_table import new_weights
from nqe.model.graph_batch import Edges, GraphBatch, Qualifiers

RELATION_SHARE = 0.5
"""StarE's α: the share of the relation itself in the vector of an edge with qualifiers."""
_LOOP_SPREAD = 0.5
"""The standard deviation of the initial self-loop."""
_LEAST_NODES = 2
"""Batch norm in training needs as many nodes to compute a variance."""


class StarELayer(nn.Module):
    """Sends messages along the edges, against them, and from each node to itself.

    The last layer of a model does not transform the relations, because nothing reads them.
    """

    def __init__(self, width: int, dropout: float, *, is_last: bool) -> None:
        super().__init__()
        self.along = nn.Linear(width, width, bias=False)
        self.against = nn.Linear(width, width, bias=False)
        self.itself = nn.Linear(width, width, bias=False)
        self.qualifiers = nn.Linear(width, width, bias=False)
        self.relations = None if is_last else nn.Linear(width, width, bias=False)
        self.loop = nn.Parameter(new_weights(1, width, _LOOP_SPREAD))
        self.drop = Dropout(dropout)
        self.norm = NodeNorm(width)

    def forward(self, nodes: Tensor, relations: Tensor, batch: GraphBatch) -> tuple[Tensor, Tensor]:
        """The new vectors of all nodes, (nodes, width), and of all relations.

        The relations are those of the batch, followed by their inverses.
        """
        edges = batch.edges
        direct, inverse = relations.chunk(2)  # (relations, width) each
        added = self._qualify(nodes, direct, batch.qualifiers)
        along = self._send(nodes, edges.subject, direct, edges, added, self.along)
        against = self._send(nodes, edges.object, inverse, edges, added, self.against)
        itself = self.itself(compose(nodes, self.loop))
        total = (
            self.drop(edges.into_object.add_up(along))
            + self.drop(edges.into_subject.add_up(against))
            + itself
        )  # (nodes, width)
        changed = relations if self.relations is None else self.relations(relations)
        return torch.relu(self.norm(total / 3)), changed

    def _qualify(self, nodes: Tensor, relations: Tensor, qualifiers: Qualifiers) -> Tensor:
        """W Σ comp(value, attribute) of the qualifiers of each edge, (edges, width)."""
        values = functional.embedding(qualifiers.value, nodes)
        pairs = compose(values, functional.embedding(qualifiers.attribute, relations))
        result: Tensor = self.qualifiers(qualifiers.of_edge.add_up(pairs))
        return result

    def _send(
        self,
        nodes: Tensor,
        source: Tensor,
        relations: Tensor,
        edges: Edges,
        added: Tensor,
        weights: nn.Linear,
    ) -> Tensor:
        """The messages of all edges in one direction, (edges, width)."""
        own = functional.embedding(edges.relation, relations)
        blended = RELATION_SHARE * own + (1 - RELATION_SHARE) * added
        blended = torch.where(edges.qualified, blended, own)
        messages: Tensor = weights(compose(functional.embedding(source, nodes), blended))
        return messages * edges.weight


class NodeNorm(nn.BatchNorm1d):
    """Batch norm over all nodes of a batch.

    In training the mean and variance are those of the batch. In eval mode they are running means
    of those, so that a vector does not depend on the batch.
    """

    def forward(self, nodes: Tensor) -> Tensor:
        """The normalised nodes, (nodes, width)."""
        if self.training and len(nodes) < _LEAST_NODES:
            # A process may have no queries of a batch.
            return functional.batch_norm(
                nodes, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
            )
        return super().forward(nodes)


def compose(one: Tensor, other: Tensor) -> Tensor:
    """The product of vectors of complex numbers; their first half are the real parts."""
    real, imaginary = one.chunk(2, -1)
    other_real, other_imaginary = other.chunk(2, -1)
    return torch.cat(
        [
            real * other_real - imaginary * other_imaginary,
            real * other_imaginary + imaginary * other_real,
        ],
        -1,
    )

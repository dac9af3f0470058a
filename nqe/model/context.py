"""Context of projections: one vector per fact about their known entities, and attention to it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from nqe.model.context_facts import ROLES
from nqe.model.dropout import Dropout

_CENTRE = 0.5
_STEEPNESS = 4.0
"""Entity vectors lie in [0,1]; this brings them to about the size of the roles' vectors."""
_SPREAD = 0.5
"""The largest absolute value of the initial vectors of roles."""


@dataclass(frozen=True, eq=False)
class ContextElements:
    """The other entities of the facts that are the context of some projections."""

    entities: Tensor  # (elements,) indices of sources
    roles: Tensor  # (elements,) relation or attribute, and role, as one number
    places: Tensor  # (elements,) projection * facts + number of the fact
    padding: Tensor  # (projections, facts) True where there is no fact


@dataclass(frozen=True, eq=False)
class ContextVectors:
    """The facts that are the context of some projections."""

    facts: Tensor  # (projections, facts, width) arbitrary for padding
    padding: Tensor  # (projections, facts)


class FactVectors(nn.Module):
    """Computes one vector per context fact: the sum of its entities, each changed by its role.

    The role of an entity, with its relation or attribute, scales and shifts the entity's vector.
    """

    def __init__(self, relation_count: int, width: int) -> None:
        super().__init__()
        shape = relation_count * ROLES, width
        self.scales = nn.Parameter(torch.ones(shape))
        self.shifts = nn.Parameter(torch.empty(shape).uniform_(-_SPREAD, _SPREAD))
        self.norm = nn.LayerNorm(width)

    def forward(self, sources: Tensor, context: ContextElements) -> ContextVectors:
        """The vectors of all facts."""
        entities = functional.embedding(context.entities, sources) - _CENTRE  # (elements, width)
        scales = functional.embedding(context.roles, self.scales)
        shifts = functional.embedding(context.roles, self.shifts)
        elements = torch.addcmul(shifts, entities, scales, value=_STEEPNESS)
        width = elements.shape[1]
        facts = elements.new_zeros(context.padding.numel(), width)
        facts = self.norm(facts.index_add(0, context.places, elements))
        return ContextVectors(facts.view(*context.padding.shape, width), context.padding)


class ContextAttention(nn.Module):
    """Lets the masked elements attend to their context, then applies a feed-forward network."""

    def __init__(self, width: int, heads: int, feed_forward: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.head_width = heads, width // heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width)
        self.feed_forward = nn.Sequential(
            nn.Linear(width, feed_forward), nn.GELU(), nn.Linear(feed_forward, width)
        )
        self.feed_forward_norm = nn.LayerNorm(width)
        self.drop = Dropout(dropout)

    def forward(self, masked: Tensor, context: ContextVectors) -> Tensor:
        """The new vectors of the masked elements, (projections, width)."""
        attended = self._attend(masked, context)
        masked = self.attention_norm(masked + self.drop(self.out(attended)))
        result: Tensor = self.feed_forward_norm(masked + self.drop(self.feed_forward(masked)))
        return result

    def _attend(self, masked: Tensor, context: ContextVectors) -> Tensor:
        """What each masked element takes from its facts, (projections, width).

        As q·(Wx) = (Wᵀq)·x and Σ α (Wx) = W (Σ α x), no map is applied to each of the facts.
        """
        queries = self._by_heads(self.query(masked).view(-1, self.heads, self.head_width), self.key)
        scores = torch.bmm(queries, context.facts.transpose(1, 2)) / math.sqrt(self.head_width)
        scores = scores.masked_fill(context.padding[:, None], -math.inf)
        # The first column lets a head attend to nothing.
        weights = torch.softmax(functional.pad(scores, (1, 0)), 2)[:, :, 1:]
        mixed = torch.bmm(weights, context.facts)  # (projections, heads, width)
        return self._by_heads(mixed, self.value, back=True).flatten(1)

    def _by_heads(self, vectors: Tensor, map_: nn.Linear, *, back: bool = False) -> Tensor:
        """Map the vectors of each head, (projections, heads, …), by its rows of a map."""
        rows = map_.weight.view(self.heads, self.head_width, -1)
        rows = rows.transpose(1, 2) if back else rows
        return torch.bmm(vectors.transpose(0, 1), rows).transpose(0, 1)

"""A model that knows nothing, for graphs that are asked with rules alone."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nqe.graph.graph import Graph
from nqe.model.model import Entities, EntityBlock, Model
from nqe.query.step_table import StepTable
from nqe.settings import ModelSettings


class BlankModel(Model):
    """Encodes every query as NaN, which means that it has nothing to say about it."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(ModelSettings(), graph.entity_count, graph.relation_count)
        self.nothing = nn.Parameter(torch.zeros(1), requires_grad=False)

    def encode(self, plans: StepTable) -> Tensor:
        """NaN for every query, (queries, 1)."""
        return torch.full((len(plans), 1), torch.nan)

    def encode_finite(self, plans: StepTable) -> Tensor:
        """The same; here NaN is no error."""
        return self.encode(plans)

    def entity_block(self, entities: Entities = None) -> EntityBlock:
        """Vectors and biases of 0."""
        bias = torch.zeros(self.entity_count)[slice(None) if entities is None else entities]
        return EntityBlock(bias[:, None], bias)

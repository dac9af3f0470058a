"""The smallest model that fulfils the interface: a query is the sum of the names in it.

It implements only what is abstract in `Model` and depends on nothing of the NQE model.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from nqe.graph.arrays import Integers
from nqe.graph.pattern import Kind
from nqe.graph.vocabulary import Vocabulary
from nqe.model import EntityBlock, Model
from nqe.model.model import Entities
from nqe.query.step_table import StepTable
from nqe.settings import ModelSettings


class BagModel(Model):
    """Adds up the vectors of a query's operators, relations, attributes and anchors."""

    def __init__(
        self,
        settings: ModelSettings,
        entity_count: int,
        relation_count: int,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        super().__init__(settings, entity_count, relation_count, vocabulary)
        self.entities = nn.Embedding(entity_count, settings.width)
        self.relations = nn.Embedding(relation_count, settings.width)
        self.operators = nn.Embedding(8, settings.width)
        self.bias = nn.Parameter(torch.zeros(entity_count))

    def encode(self, plans: StepTable) -> Tensor:
        self.check(plans)
        of_step, of_slot = plans.plan_of_step, plans.plan_of_step[plans.step_of_slot]
        anchor, attribute = plans.kind == Kind.KNOWN, plans.attribute >= 0
        projection = plans.relation >= 0
        vectors = torch.zeros(len(plans), self.settings.width, device=self.device)
        for table, plan, rows in (
            (self.operators, of_step, plans.op),
            (self.relations, of_step[projection], plans.relation[projection]),
            (self.relations, of_slot[attribute], plans.attribute[attribute]),
            (self.entities, of_slot[anchor], plans.filler[anchor]),
        ):
            vectors = vectors.index_add(0, self._tensor(plan), table(self._tensor(rows)))
        return vectors

    def entity_block(self, entities: Entities = None) -> EntityBlock:
        rows = slice(None) if entities is None else entities
        return EntityBlock(self.entities.weight[rows], self.bias[rows])

    def _tensor(self, numbers: Integers) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(numbers)).to(self.device)

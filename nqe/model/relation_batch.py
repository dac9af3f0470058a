"""A batch of facts that each miss one relation, as the tensors of the NQE model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nqe.graph.arrays import Integers
from nqe.graph.fact_columns import Facts
from nqe.graph.pattern import FIRST_QUALIFIER
from nqe.graph.ragged import offsets
from nqe.model.batch import Projections, group_facts
from nqe.model.devices import move


@dataclass(frozen=True, eq=False)
class RelationBatch:
    """Facts with one masked relation each, in the order of their lengths.

    The sources of the projections are the anchors. A masked relation has the number of the last
    relation plus one.
    """

    anchors: Tensor  # (anchors,) the distinct entities
    projections: Projections
    order: Tensor  # (facts,) the place of each fact among the projections

    @classmethod
    def of(cls, facts: Facts, relation_count: int) -> RelationBatch:
        """Lay out facts in which -1 stands for the masked relation."""
        order = np.argsort(facts.qualifier_count, kind="stable")
        facts = facts.take(order)
        arity = facts.qualifier_count + FIRST_QUALIFIER
        first_entity, first_relation = offsets(arity)[:-1], offsets(arity - 1)[:-1]
        entities = _join(first_entity, (facts.subject, facts.object), facts.value)
        relations = _join(first_relation, (facts.relation,), facts.attribute)
        masked = np.flatnonzero(relations < 0)  # one per fact, in their order
        relations[masked] = relation_count
        anchors, sources = np.unique(entities, return_inverse=True)
        place = 2 * (masked - first_relation) + 1  # relations are the odd elements of a fact
        projections = Projections(
            torch.from_numpy(sources),
            torch.from_numpy(relations),
            group_facts(arity, first_entity, first_relation + len(entities), place),
            torch.from_numpy(masked + len(entities)),
            asks_relations=True,
        )
        return cls(torch.from_numpy(anchors), projections, torch.from_numpy(np.argsort(order)))

    def to(self, device: torch.device | str) -> RelationBatch:
        """The same batch on a device."""
        return self if torch.device(device) == self.order.device else move(self, device)


def _join(starts: Integers, main: tuple[Integers, ...], pairs: Integers) -> Integers:
    """The columns of the main triple and one of the qualifiers as one array, fact by fact."""
    joined = np.empty(len(main) * len(starts) + len(pairs), dtype=np.int64)
    is_pair = np.ones(len(joined), dtype=bool)
    for place, column in enumerate(main):
        joined[starts + place], is_pair[starts + place] = column, False
    joined[is_pair] = pairs
    return joined

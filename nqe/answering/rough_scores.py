"""Scores of half the precision, which say which entities to score in full.

Processors with instructions for such numbers compute them several times as fast. What they say
about the entities that are not scored in full is how much those add up to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nqe.answering.entity_scores import COLUMNS, split_columns
from nqe.answering.predictor import Predictor
from nqe.graph.arrays import Integers
from nqe.model.model import Comparison, EntityBlock

MARGIN = 0.25
"""A rough score may be this far from the true one."""


@dataclass(frozen=True, eq=False)
class RoughColumns:
    """The entities whose rough scores reach a limit for at least one of some queries."""

    comparison: Comparison
    entities: Tensor  # (columns,) ascending
    rest: Tensor  # (queries,) the log-sum of all others

    @classmethod
    @torch.no_grad()
    def choose(
        cls,
        comparison: Comparison,
        predictor: Predictor,
        find_limit: Callable[[Tensor], Tensor],
    ) -> RoughColumns:
        """Choose entities by their rough scores, whose exponentials must be small.

        `find_limit` gives the least score of each query that matters, given its log-sum.
        """
        blocks = _compute_exponentials(comparison, predictor)
        sums = [block.sum(1, dtype=torch.float32) for block in blocks]
        total = torch.stack(sums).sum(0)
        scale = (MARGIN - find_limit(total.log())).exp()
        chosen, rest = [], torch.zeros_like(total)
        for number, (block, whole) in enumerate(zip(blocks, sums, strict=True)):
            reached = (block * scale.bfloat16()[:, None]).amax(0) >= 1
            columns = reached.nonzero()[:, 0]
            rest += whole - block.index_select(1, columns).sum(1, dtype=torch.float32)
            chosen.append(columns + number * COLUMNS)
        entities = torch.cat(chosen)
        entities = entities if len(entities) else entities.new_zeros(1)
        return cls(comparison, entities, rest.clamp_min(0).log())

    def __len__(self) -> int:
        return len(self.entities)

    def read(self, columns: slice) -> EntityBlock:
        """The vectors of some of the chosen entities."""
        some = self.entities[columns]
        vectors = self.comparison.entities.index_select(0, some)
        return EntityBlock(vectors, self.comparison.bias[some])

    def to_columns(self, entity: Integers) -> Integers:
        """The places of entities among the chosen ones, -1 for another one."""
        chosen = self.entities.numpy()
        place = np.minimum(chosen.searchsorted(entity), len(chosen) - 1)
        columns: Integers = np.where(chosen[place] == entity, place, -1)
        return columns

    def to_entities(self, column: Integers) -> Integers:
        """The chosen entities in columns."""
        entities: Integers = self.entities.numpy()[column]
        return entities


def _compute_exponentials(comparison: Comparison, predictor: Predictor) -> list[Tensor]:
    """The exponentials of rough scores in blocks."""
    queries, bias = comparison.queries.bfloat16(), comparison.bias.bfloat16()
    count, vectors, blocks = len(queries), predictor.entities.rough, []
    memory = predictor.lend_memory((count * len(bias) + 1) // 2).view(torch.bfloat16)
    for part in split_columns(len(bias)):
        block = memory[count * part.start : count * part.stop].view(count, -1)
        torch.addmm(bias[part], queries, vectors[part].T, out=block)
        blocks.append(block.exp_())
    return blocks

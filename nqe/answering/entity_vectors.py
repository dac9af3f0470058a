"""The entity vectors of a model in the order of a graph's numbers, and what is computed of them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from nqe.answering.entity_index import EntityIndex
from nqe.graph.arrays import Integers
from nqe.graph.fact_columns import Facts
from nqe.graph.pattern import Patterns
from nqe.model.model import EntityBlock, Model
from nqe.query.step_table import StepTable

_INDEX_QUERIES = 2_048
"""An index is built for this many queries."""
ROUGH_FROM = 5_000
"""With fewer entities, rough scores are not worth their while."""


class EntityVectors:
    """A model's entities under the numbers of a graph; nothing here depends on facts.

    `numbers` has the model's number of each entity of the graph, -1 for one that it has not seen.
    """

    def __init__(self, model: Model, numbers: Integers) -> None:
        self.model, self.numbers = model, numbers

    @cached_property
    def block(self) -> EntityBlock:
        """The vectors of all entities; the bias of one that the model has not seen is -∞."""
        with torch.no_grad():
            own = self.model.entity_block()
            if np.array_equal(self.numbers, np.arange(self.model.entity_count)):
                return own
            numbers = torch.from_numpy(self.numbers).to(self.model.device)
            bias = own.bias[numbers].masked_fill(numbers < 0, -torch.inf)
            return EntityBlock(own.vectors[numbers], bias)

    @cached_property
    def longest(self) -> float:
        """The length of the longest vector."""
        return float(self.block.vectors.norm(dim=1).max())

    @cached_property
    def largest_bias(self) -> float:
        """The largest absolute value of the bias of an entity that the model has seen."""
        return float(self.block.bias.nan_to_num(neginf=0.0).abs().max())

    @property
    def are_rough_quick(self) -> bool:
        """Whether the processor compares many entities faster with half the precision."""
        is_supported = getattr(torch.cpu, "_is_avx512_bf16_supported", bool)
        is_cpu = self.model.device.type == "cpu"
        return len(self.numbers) >= ROUGH_FROM and is_cpu and bool(is_supported())

    @cached_property
    def rough(self) -> Tensor:
        """The vectors with half the precision."""
        return self.block.vectors.bfloat16()

    @cached_property
    def index(self) -> EntityIndex:
        """An index of the entities, built on first use for queries with random anchors."""
        table = StepTable.of_patterns(self._draw_patterns())
        with torch.no_grad():
            model = self.model.with_facts(Facts.empty())
            queries = model.prepare(model.encode_finite(table))
            return EntityIndex.build(self.block, queries)

    def _draw_patterns(self) -> Patterns:
        """Patterns of random relations and entities, with the model's numbers."""
        rng = np.random.default_rng(0)
        asked = np.arange(_INDEX_QUERIES) % 2
        filler = np.full((_INDEX_QUERIES, 2), -1)
        anchors = rng.integers(self.model.entity_count, size=_INDEX_QUERIES)
        filler[np.arange(_INDEX_QUERIES), 1 - asked] = anchors
        return Patterns.without_sets(
            relation=rng.integers(self.model.relation_count, size=_INDEX_QUERIES),
            closed=np.zeros(_INDEX_QUERIES, dtype=np.int64),
            asked=asked,
            first_slot=np.arange(0, 2 * _INDEX_QUERIES + 1, 2),
            attribute=np.full(2 * _INDEX_QUERIES, -1),
            filler=filler.ravel(),
        )

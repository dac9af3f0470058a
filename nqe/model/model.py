"""The NQE model: a query vector a plan, all plans of a batch together."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from nqe.errors import choose
from nqe.graph.vocabulary import Vocabulary
from nqe.model.batch import MASKS, Batch, Connectives, Level
from nqe.model.embedding_table import FuzzyTable
from nqe.model.encoder import ENCODERS, Encoder
from nqe.model.fuzzy_logic import LOGICS, connect
from nqe.model.scorer import SCORERS, Comparison
from nqe.settings import ModelSettings


class Model(nn.Module):
    """Entities, relations and queries as vectors in [0,1]^d.

    `model(batch)` gives a vector a query, `model.results(batch)` one a step; `compare` brings
    vectors and entities to where their scores are a product.
    """

    def __init__(
        self,
        settings: ModelSettings,
        entity_count: int,
        relation_count: int,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings
        self.vocabulary = vocabulary
        self.masks = FuzzyTable(MASKS, settings.width, settings.steepness)
        self.entities = FuzzyTable(entity_count, settings.width, settings.steepness)
        self.relations = FuzzyTable(relation_count, settings.width, settings.steepness)
        self.encoder: Encoder = choose(ENCODERS, settings.encoder, "encoder")(settings)
        self.logic = choose(LOGICS, settings.logic, "logic")()
        self.scorer = SCORERS[settings.score](entity_count, settings.temperature)

    @property
    def entity_count(self) -> int:
        """How many entities it knows."""
        return len(self.entities)

    @property
    def relation_count(self) -> int:
        """How many relations it knows, attributes included."""
        return len(self.relations)

    @property
    def device(self) -> torch.device:
        """Where it is."""
        return self.masks.weights.device

    def forward(self, batch: Batch) -> Tensor:
        """The vector of each query, (queries, width)."""
        return nn.functional.embedding(batch.targets, self._sources(batch))

    def results(self, batch: Batch) -> Tensor:
        """The vector of each step, (steps, width)."""
        return nn.functional.embedding(batch.steps, self._sources(batch))

    def compare(self, queries: Tensor, entities: Tensor | slice | None = None) -> Comparison:
        """Queries' vectors and entities (all, a range, or these), ready to be compared."""
        vectors = self.entities(entities, self.scorer.centre)
        comparison: Comparison = self.scorer(queries, vectors, entities)
        return comparison

    def compared(self, batch: Batch, entities: Tensor | None) -> Comparison:
        """The queries of a batch compared with entities: the quick way to train."""
        anchors, vectors = self.entities.both(batch.anchors, entities, self.scorer.centre)
        queries = nn.functional.embedding(batch.targets, self._sources(batch, anchors))
        comparison: Comparison = self.scorer(queries, vectors, entities)
        return comparison

    def _sources(self, batch: Batch, anchors: Tensor | None = None) -> Tensor:
        """Masks, anchors, and the results of all steps, level after level."""
        anchors = self.entities(batch.anchors) if anchors is None else anchors
        sources = torch.cat([self.masks(), anchors])
        for level in batch.levels:
            sources = torch.cat([sources, *self._level(level, sources)])
        return sources

    def _level(self, level: Level, sources: Tensor) -> list[Tensor]:
        results = []
        if level.projections is not None:
            entities = nn.functional.embedding(level.projections.entities, sources)
            relations = self.relations(level.projections.relations)
            results.append(self.encoder(entities, relations, level.projections))
        results += [self._connect(one, sources) for one in level.connectives]
        if level.any_count:
            results.append(sources.new_ones(level.any_count, sources.shape[1]))
        return results

    def _connect(self, connectives: Connectives, sources: Tensor) -> Tensor:
        inputs = nn.functional.embedding(connectives.inputs, sources)  # (steps, inputs, width)
        return connect(self.logic, connectives.op, inputs)

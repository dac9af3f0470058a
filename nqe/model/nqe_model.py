"""The NQE model of the paper: projections by a Transformer, connectives by a fuzzy logic."""

from __future__ import annotations

from copy import copy

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from nqe.errors import NqeError, choose
from nqe.graph.arrays import Integers
from nqe.graph.fact_columns import Facts
from nqe.graph.vocabulary import Vocabulary
from nqe.model.batch import MASKS, Batch, Connectives, Level
from nqe.model.context import FactVectors
from nqe.model.context_facts import Context, ContextFacts
from nqe.model.embedding_table import FuzzyTable
from nqe.model.encoder import ENCODERS, Encoder
from nqe.model.fuzzy_logic import LOGICS, connect
from nqe.model.model import Comparison, Entities, EntityBlock, Model
from nqe.model.relation_batch import RelationBatch
from nqe.model.relation_scores import RelationScores
from nqe.model.scorer import SCORERS, Scorer
from nqe.query.step_table import StepTable
from nqe.settings import ModelSettings


class NQEModel(Model):
    """Entities, relations and the results of all steps are vectors in [0,1]^d.

    All steps of the same depth in a batch are computed together. Called on a `Batch`, the
    module does the tensor part of `encode`, which `torch.compile` can trace.
    """

    def __init__(
        self,
        settings: ModelSettings,
        entity_count: int,
        relation_count: int,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        super().__init__(settings, entity_count, relation_count, vocabulary)
        self.masks = FuzzyTable(MASKS, settings.width, settings.steepness)
        self.entities = FuzzyTable(entity_count, settings.width, settings.steepness)
        self.relations = FuzzyTable(relation_count, settings.width, settings.steepness)
        self.encoder: Encoder = choose(ENCODERS, settings.encoder, "encoder")(settings)
        self.logic = choose(LOGICS, settings.logic, "logic")
        new_scorer = choose(SCORERS, settings.score, "score")
        self.scorer: Scorer = new_scorer(entity_count, settings.temperature)
        # Last, so that the initial weights of all other parts are the same without it.
        self.relation_scores = (
            RelationScores(settings, relation_count) if settings.predict_relations else None
        )
        # Last, so that the other weights begin with the same random numbers without context.
        self.fact_vectors = (
            FactVectors(relation_count, settings.width) if self.needs_facts else None
        )
        self.facts: ContextFacts | None = None

    @property
    def needs_facts(self) -> bool:
        """Whether the model was built with context."""
        return self.settings.context > 0

    def with_facts(self, facts: Facts) -> NQEModel:
        """The same model, with the same weights, that draws context from facts in its numbers."""
        if not self.needs_facts:
            return self
        other = copy(self)
        other.facts = ContextFacts.of(facts, self.entity_count, *self._id_orders())
        return other

    def encode(self, plans: StepTable) -> Tensor:
        """One vector per query, (queries, width)."""
        vectors: Tensor = self(self._batch(plans))
        return vectors

    def encode_steps(self, plans: StepTable) -> Tensor:
        """One vector per step of every plan, (steps, width)."""
        batch = self._batch(plans)
        return functional.embedding(batch.steps, self._sources(batch))

    def entity_block(self, entities: Entities = None) -> EntityBlock:
        """All entities, a range of them or those with the given numbers."""
        rows = entities.to(self.device) if isinstance(entities, Tensor) else entities
        return self.scorer.make_block(self.entities(rows, self.scorer.centre), rows)

    def prepare(self, vectors: Tensor) -> Tensor:
        """Transform query vectors as the score requires."""
        return self.scorer.prepare(vectors)

    def compare(self, plans: StepTable, entities: Tensor | None = None) -> Comparison:
        """Encode and compare, with a single gradient of the entity table's size."""
        batch = self._batch(plans)
        rows = None if entities is None else entities.to(self.device)
        anchors, vectors = self.entities.read_twice(batch.anchors, rows, self.scorer.centre)
        queries = functional.embedding(batch.targets, self._sources(batch, anchors))
        block = self.scorer.make_block(vectors, rows)
        return Comparison(self.prepare(queries), block.vectors, block.bias)

    @property
    def predicts_relations(self) -> bool:
        """Whether it was built to predict relations."""
        return self.relation_scores is not None

    def compare_relations(self, facts: Facts) -> Comparison:
        """Encode facts that each miss one relation, and compare them with all relations."""
        if self.relation_scores is None:
            return super().compare_relations(facts)
        self.check_masked(facts)
        batch = RelationBatch.of(facts, self.relation_count).to(self.device)
        anchors = self.entities(batch.anchors)
        known = torch.cat([self.relations(), self.relation_scores.mask()])  # (relations + 1, width)
        masked = self.encoder.encode_masked(
            functional.embedding(batch.projections.entities, anchors),
            functional.embedding(batch.projections.relations, known),
            batch.projections,
        )
        result: Comparison = self.relation_scores(masked[batch.order], self.relations)
        return result

    def forward(self, batch: Batch) -> Tensor:
        """One vector per query of a batch, (queries, width)."""
        return functional.embedding(batch.targets, self._sources(batch))

    def _batch(self, plans: StepTable) -> Batch:
        self.check(plans)
        return Batch.of(plans, self._draw_context(plans)).to(self.device)

    def _draw_context(self, plans: StepTable) -> Context | None:
        """Draw context for the projections; in training other facts each time."""
        if not self.needs_facts:
            return None
        if self.facts is None:
            raise NqeError(
                f"the model sees up to {self.settings.context} facts about the entities of a "
                "query, but was given none; call its with_facts first"
            )
        rng = None
        if self.training:
            # From torch's generator, which training seeds for each step.
            rng = np.random.default_rng(int(torch.randint(2**62, ())))
        return self.facts.draw(plans, self.settings.context, rng)

    def _id_orders(self) -> tuple[Integers, Integers]:
        """The place of each entity and relation in the order of ids."""
        if self.vocabulary is None:
            return np.arange(self.entity_count), np.arange(self.relation_count)
        return self.vocabulary.entities.id_order, self.vocabulary.relations.id_order

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
            entities = functional.embedding(level.projections.entities, sources)
            relations = self.relations(level.projections.relations)
            inputs = (entities, relations, level.projections)
            if self.fact_vectors is None:
                results.append(self.encoder(*inputs))
            else:
                context = self.fact_vectors(sources, level.projections.context)
                results.append(self.encoder(*inputs, context))
        results += [self._connect(steps, sources) for steps in level.connectives]
        return results

    def _connect(self, steps: Connectives, sources: Tensor) -> Tensor:
        inputs = functional.embedding(steps.inputs, sources)  # (steps, inputs, width)
        return connect(self.logic, steps.op, inputs)

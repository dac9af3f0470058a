"""StarQE: conjunctive queries as graphs, encoded by message passing with StarE layers."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from nqe.errors import NqeError
from nqe.graph.arrays import Booleans
from nqe.graph.fact_columns import Facts
from nqe.graph.vocabulary import Vocabulary
from nqe.model.embedding_table import new_weights
from nqe.model.graph_batch import (
    GraphBatch,
    find_longer_chains,
    find_values_sought,
    mark_plans,
)
from nqe.model.model import Comparison, Entities, EntityBlock, Model
from nqe.model.stare_layer import StarELayer
from nqe.query.plan import Op
from nqe.query.step_table import StepTable
from nqe.settings import ModelSettings

_SPREAD = 0.5
"""The standard deviation of the initial relations and variables, whose products are taken."""
_OPERATORS = {
    "an `or`": Op.OR,
    "a `not`": Op.NOT,
    "a variable that nothing restricts": Op.ANY,
}
"""The operators that a graph of facts has no place for."""


class StarQEModel(Model):
    """The baseline of Alivanistos et al. (ICLR 2022), for conjunctive queries.

    A query is a graph: nodes are its entities and variables, edges its facts. The vector of its
    target after all layers is the query's. Open and closed atoms have the same graph. Called on a
    `GraphBatch`, the module does the tensor part of `encode`.

    In training, batch norm lets a vector depend on the other queries of a batch; in eval mode it
    does not.
    """

    def __init__(
        self,
        settings: ModelSettings,
        entity_count: int,
        relation_count: int,
        vocabulary: Vocabulary | None = None,
    ) -> None:
        super().__init__(settings, entity_count, relation_count, vocabulary)
        width = settings.width
        # Scores are sums over the width, which should begin with a deviation of about 1.
        self.entities = nn.Parameter(new_weights(entity_count, width, width**-0.5))
        self.relations = nn.Parameter(new_weights(2 * relation_count, width, _SPREAD))
        # The vector of all targets, and that of all other variables.
        self.variables = nn.Parameter(new_weights(2, width, _SPREAD))
        self.layers = nn.ModuleList(
            StarELayer(width, settings.dropout, is_last=number == settings.layers - 1)
            for number in range(settings.layers)
        )

    @property
    def expresses_all(self) -> bool:
        """It does not: see `find_inexpressible`."""
        return False

    def find_inexpressible(self, plans: StepTable) -> dict[str, Booleans]:
        """What plans have that the graph of a query cannot express, and the plans that have it."""
        found = {
            name: mark_plans(plans, np.flatnonzero(plans.op == op))
            for name, op in _OPERATORS.items()
        }
        found["a qualifier whose value is a variable or asked for"] = find_values_sought(plans)
        layers = self.settings.layers
        # Each layer carries messages along one edge; what is farther away would be ignored.
        chain = f"a chain of more than {layers} facts with model.layers = {layers}"
        found[chain] = find_longer_chains(plans, layers)
        return {name: marked for name, marked in found.items() if marked.any()}

    def encode(self, plans: StepTable) -> Tensor:
        """One vector per query, (queries, width)."""
        vectors: Tensor = self(self._batch(plans))
        return vectors

    def entity_block(self, entities: Entities = None) -> EntityBlock:
        """All entities, a range of them or those with the given numbers."""
        vectors: Tensor = self.entities
        if isinstance(entities, Tensor):
            vectors = functional.embedding(entities.to(self.device), vectors)
        elif entities is not None:
            vectors = vectors[entities]
        return EntityBlock(vectors, vectors.new_zeros(len(vectors)))

    def compare(self, plans: StepTable, entities: Tensor | None = None) -> Comparison:
        """Encode and compare, with a single gradient of the entity table's size."""
        if entities is None:
            return super().compare(plans)
        batch, candidates = self._batch(plans), entities.to(self.device)
        rows = functional.embedding(torch.cat([batch.entities, candidates]), self.entities)
        known, vectors = rows[: len(batch.entities)], rows[len(batch.entities) :]
        return Comparison(self._pass(batch, known), vectors, vectors.new_zeros(len(vectors)))

    def compare_relations(self, facts: Facts) -> Comparison:  # noqa: ARG002
        """Refuse, as it has no score of relations."""
        raise NqeError(
            "a model of the kind 'starqe' predicts no relations; train one of the kind 'nqe' with "
            "train.relation_share above 0"
        )

    def forward(self, batch: GraphBatch) -> Tensor:
        """One vector per query of a batch, (queries, width)."""
        return self._pass(batch, functional.embedding(batch.entities, self.entities))

    def _batch(self, plans: StepTable) -> GraphBatch:
        self.check(plans)
        return GraphBatch.of(plans).to(self.device)

    def _pass(self, batch: GraphBatch, entities: Tensor) -> Tensor:
        """The targets after all layers, from the vectors of the nodes that are entities."""
        target, other = self.variables
        width = len(target)
        nodes = torch.cat(
            [
                target.expand(batch.query_count, width),
                other.expand(batch.variable_count, width),
                entities,
            ]
        )  # (nodes, width)
        numbers = torch.cat([batch.relations, batch.relations + self.relation_count])
        relations = functional.embedding(numbers, self.relations)
        for layer in self.layers:
            nodes, relations = layer(nodes, relations, batch)
        return nodes[: batch.query_count]

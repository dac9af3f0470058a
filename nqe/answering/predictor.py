"""What there is to answer from: the known facts, and a model that may know fewer entities."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nqe.answering.bindings import Bindings
from nqe.errors import NqeError
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.graph import Graph
from nqe.graph.match_many import match
from nqe.graph.pattern import Kind
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.model.model import EntityBlock, Model
from nqe.query.plan import Op, Plan
from nqe.query.step_table import StepTable

Floats = npt.NDArray[np.float32]


class Predictor:
    """A model over a graph.

    The graph may have been given entities and relations after training: facts about them are
    known, predictions there are none. Numbers are the graph's; the model's are kept inside.
    """

    def __init__(self, model: Model, graph: Graph) -> None:
        self.model, self.graph = model.eval(), graph
        own = model.vocabulary or graph.vocabulary
        mine = (model.entity_count, model.relation_count)
        given = (len(own.entities), len(own.relations))
        if mine != given:
            raise NqeError(
                f"the model has {mine[0]:,} entities and {mine[1]:,} relations, the graph "
                f"{given[0]:,} and {given[1]:,}; give the graph it was trained on"
            )
        self._entity = _numbers(own.entities, graph.vocabulary.entities)
        self._relation = _numbers(own.relations, graph.vocabulary.relations)
        self._check(own)

    def _check(self, own: Vocabulary) -> None:
        """Refuse a graph that lacks what the model was trained on."""
        for what, mine, numbers in (
            ("entity", own.entities, self._entity),
            ("relation", own.relations, self._relation),
        ):
            lacking = np.ones(len(mine), dtype=bool)
            lacking[numbers[numbers >= 0]] = False
            if lacking.any():
                raise NqeError(
                    f"the graph lacks {int(lacking.sum()):,} of the model's {len(mine):,} names, "
                    f"such as the {what} '{mine.ids[int(lacking.argmax())]}'; give the graph that "
                    "the model was trained on, or one with more facts"
                )

    @property
    def entity_count(self) -> int:
        """How many entities the graph has."""
        return self.graph.entity_count

    @property
    def device(self) -> torch.device:
        """Where the model is, and all that is worked out with it."""
        return self.model.device

    def knows(self, entity: int) -> bool:
        """Whether the model has seen an entity."""
        return bool(self._entity[entity] >= 0)

    def unseen(self, plan: Plan) -> tuple[str, ...]:
        """What a plan names that the model has not seen."""
        names = self.graph.vocabulary
        found: dict[str, None] = {}
        for step in plan.steps:
            if step.op != Op.PROJECTION:
                continue
            relations = (step.relation, *step.attributes)
            anchors = (one for one in step.slots if one is not None)
            found |= {names.relations.name(one): None for one in relations if self._new(one)}
            found |= {names.entities.name(one): None for one in anchors if not self.knows(one)}
        return tuple(found)

    def _new(self, relation: int) -> bool:
        return bool(self._relation[relation] < 0)

    def relations(self, relation: Integers) -> Integers:
        """The model's numbers of relations; any number for one that it has not seen."""
        return np.maximum(self._relation[relation], 0)

    def by_relation(self, values: Floats) -> Floats:
        """A table with a row a relation of the graph, as one a relation of the model."""
        rows = np.ones((self.model.relation_count, values.shape[1]), dtype=values.dtype)
        seen = self._relation >= 0
        rows[self._relation[seen]] = values[seen]
        return rows

    def vectors(self, table: StepTable) -> Tensor:
        """The model's vectors of plans, (plans, width); NaN where it has not seen a name."""
        relation, lost = _translate(table.relation, table.relation >= 0, self._relation)
        attribute, new_attribute = _translate(table.attribute, table.attribute >= 0, self._relation)
        filler, new_filler = _translate(table.filler, table.kind == Kind.KNOWN, self._entity)
        lost[table.step_of_slot[new_attribute | new_filler]] = True
        translated = replace(table, relation=relation, attribute=attribute, filler=filler)
        with torch.no_grad():
            vectors = self.model.encode(translated)
            plan = table.plan_of_step[lost]
            vectors[torch.from_numpy(plan).to(self.device)] = torch.nan
        return vectors

    def stated(self, bindings: Bindings) -> tuple[Integers, Integers]:
        """What the facts say: pairs of a binding and an entity in its asked slot."""
        found = match(self.graph.index, bindings.patterns, None)
        return found.answer_pattern, found.answer

    def scores(self, vectors: Tensor, columns: slice = slice(None)) -> Tensor:
        """The scores of a range of the graph's entities, (vectors, entities).

        -∞ for an entity that the model has not seen.
        """
        with torch.no_grad():
            return self.model.score(vectors.nan_to_num(), self._block[columns])

    @cached_property
    def _block(self) -> EntityBlock:
        """The graph's entities, ready to be compared."""
        with torch.no_grad():
            own = self.model.entity_block()
            if np.array_equal(self._entity, np.arange(self.model.entity_count)):
                return own
            numbers = torch.from_numpy(self._entity).to(self.device)
            bias = own.bias[numbers].masked_fill(numbers < 0, -torch.inf)
            return EntityBlock(own.vectors[numbers], bias)


def _numbers(own: Names, others: Names) -> Integers:
    """The model's number of each name of the graph, -1 if it has none."""
    if own is others or own.ids == others.ids:
        return np.arange(len(others))
    number = {name: place for place, name in enumerate(own.ids)}
    return np.array([number.get(name, -1) for name in others.ids], dtype=np.int64)


def _translate(column: Integers, chosen: Booleans, numbers: Integers) -> tuple[Integers, Booleans]:
    """The chosen values of a column in the model's numbers, and which of them it has none for."""
    translated = np.where(chosen, numbers[np.where(chosen, column, 0)], column)
    unseen: Booleans = chosen & (translated < 0)
    return np.where(unseen, 0, translated), unseen

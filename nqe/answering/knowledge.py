"""What there is to answer from: the known facts, and a model that may know fewer entities."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from nqe.answering.bindings import Bindings
from nqe.errors import NqeError
from nqe.graph.facts import Integers
from nqe.graph.graph import Graph
from nqe.graph.matching import match
from nqe.graph.pattern import Kind
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.model.batch import Batch
from nqe.model.model import Model
from nqe.model.scorer import Comparison
from nqe.query.exact_batch import StepTable
from nqe.query.plan import SLOT, STEP, Op


class Knowledge:
    """A model over a graph.

    The graph may have been given entities and relations after training: facts about them are
    known, predictions there are none. Numbers are the graph's; the model's are kept inside.
    """

    def __init__(self, model: Model, graph: Graph) -> None:
        self.model, self.graph = model.eval(), graph
        own = model.vocabulary or graph.vocabulary
        self._entity = _numbers(own.entities, graph.vocabulary.entities)
        self._relation = _numbers(own.relations, graph.vocabulary.relations)
        if not (self._entity >= 0).any():
            raise NqeError(
                "the model knows no entity of the graph; give the graph it was trained on"
            )
        self._same = _is_range(self._entity) and len(self._entity) == model.entity_count
        self._known = torch.from_numpy(np.flatnonzero(self._entity >= 0))
        self._own = torch.from_numpy(self._entity[self._entity >= 0])

    @property
    def entity_count(self) -> int:
        """How many entities the graph has."""
        return self.graph.entity_count

    @property
    def vocabulary(self) -> Vocabulary:
        """The graph's names."""
        return self.graph.vocabulary

    def knows(self, entity: int) -> bool:
        """Whether the model has seen an entity."""
        return bool(self._entity[entity] >= 0)

    @cached_property
    def _compared(self) -> Comparison:
        with torch.no_grad():
            nothing = torch.zeros(0, self.model.settings.width, device=self.model.device)
            return self.model.compare(nothing)

    def vectors(self, bindings: Bindings) -> Tensor:
        """The model's query vectors, (bindings, width); NaN where it knows too little."""
        table = bindings.steps()
        steps, slots = table.steps.copy(), table.slots.copy()
        relation = steps[:, STEP.OP] == Op.PROJECTION
        steps[relation, STEP.RELATION] = self._relation[steps[relation, STEP.RELATION]]
        attribute = slots[:, SLOT.ATTRIBUTE] >= 0
        slots[attribute, SLOT.ATTRIBUTE] = self._relation[slots[attribute, SLOT.ATTRIBUTE]]
        unknown = attribute & (slots[:, SLOT.ATTRIBUTE] < 0)
        anchor = slots[:, SLOT.KIND] == Kind.KNOWN
        slots[anchor, SLOT.FILLER] = self._entity[slots[anchor, SLOT.FILLER]]
        unknown |= anchor & (slots[:, SLOT.FILLER] < 0)
        lost = steps[:, STEP.RELATION] < 0
        lost[steps[:, STEP.OP] == Op.ANY] = False
        lost[slots[unknown, SLOT.STEP]] = True
        steps[lost, STEP.RELATION] = 0
        slots[unknown & attribute & (slots[:, SLOT.ATTRIBUTE] < 0), SLOT.ATTRIBUTE] = 0
        slots[anchor & (slots[:, SLOT.FILLER] < 0), SLOT.FILLER] = 0
        with torch.no_grad():
            batch = Batch.of(StepTable(steps, slots, table.plan_start))
            vectors = self.model(batch.to(self.model.device)).cpu()
            vectors[torch.from_numpy(lost[table.plan_start[1:] - 1])] = torch.nan
        return vectors

    def stated(self, bindings: Bindings) -> tuple[Integers, Integers]:
        """What the facts say: pairs of a binding and an entity in its asked slot."""
        found = match(self.graph.index, bindings.patterns(), None)
        return found.answer_pattern, found.answer

    def predicted(self, vectors: Tensor, probabilities: Callable[[Tensor], Tensor]) -> Tensor:
        """Probabilities of all entities, (bindings, entities); 0 where the model knows nothing."""
        with torch.no_grad():
            lost = vectors[:, 0].isnan()
            queries = self.model.scorer(
                vectors.nan_to_num().to(self.model.device), self._compared.entities, None
            )
            chances = probabilities(queries.scores().cpu())
            chances[lost] = 0
            if self._same:
                return chances
            spread = chances.new_zeros(len(vectors), self.entity_count)
            spread[:, self._known] = chances[:, self._own]
            return spread


def _numbers(own: Names, others: Names) -> Integers:
    """The model's number of each name of the graph, -1 if it has none."""
    if own is others or own.ids == others.ids:
        return np.arange(len(others))
    number = {name: place for place, name in enumerate(own.ids)}
    return np.array([number.get(name, -1) for name in others.ids], dtype=np.int64)


def _is_range(numbers: Integers) -> bool:
    return np.array_equal(numbers, np.arange(len(numbers)))

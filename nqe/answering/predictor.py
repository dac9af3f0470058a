"""Predictor: a model's vectors and scores for the entities of a graph that may have new names."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nqe.answering.bindings import Bindings
from nqe.answering.entity_vectors import EntityVectors
from nqe.answering.joining import RuleEvidence
from nqe.errors import NqeError
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.atom_pattern import Unknown
from nqe.graph.fact_columns import Facts
from nqe.graph.graph import Graph
from nqe.graph.graph_without import GraphWithout
from nqe.graph.pattern import Kind, Patterns
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.model.model import Comparison, Model
from nqe.query.binder import BoundPlan
from nqe.query.join_plan import list_atoms
from nqe.query.plan import Op, Plan
from nqe.query.step_table import StepTable

Floats = npt.NDArray[np.float32]

_FAR, _FINE = 1e4, 1e4
"""Scores are compared up to this size, and as equal if they agree when multiplied by this."""


class Predictor:
    """A model over a graph, with rules beside it if there are any.

    The graph may have entities and relations that were added after training: facts about them
    count, and rules predict about them, but the model does not. Callers use the numbers of the
    graph's vocabulary, which are translated to those of the model. `max_bindings` limits the facts
    that are looked at for one pattern.
    """

    def __init__(
        self,
        model: Model,
        graph: Graph,
        max_bindings: int | None = None,
        rules: RuleEvidence | None = None,
    ) -> None:
        self.model, self.graph = model.eval(), graph
        self.max_bindings = max_bindings
        self.rules = rules
        self.left_out: Integers | None = None
        """The rows of facts that count as unknown."""
        vocabulary = model.vocabulary or graph.vocabulary
        own_sizes = (model.entity_count, model.relation_count)
        sizes = (len(vocabulary.entities), len(vocabulary.relations))
        if own_sizes != sizes:
            raise NqeError(
                f"the model has {own_sizes[0]:,} entities and {own_sizes[1]:,} relations, the "
                f"graph {sizes[0]:,} and {sizes[1]:,}; give the graph it was trained on"
            )
        self._entity = _map_numbers(vocabulary.entities, graph.vocabulary.entities)
        self._relation = _map_numbers(vocabulary.relations, graph.vocabulary.relations)
        self._check_complete(vocabulary)
        self.entities = EntityVectors(model, self._entity)
        self._scratch = _Scratch()
        self._divided: tuple[float, Tensor] | None = None

    def with_graph(self, graph: Graph) -> Predictor:
        """The same model over other facts; what depends on the entities alone is shared."""
        rules = None if self.rules is None else self.rules.with_graph(graph)
        other = Predictor(self.model, graph, self.max_bindings, rules)
        if np.array_equal(self._entity, other._entity):
            other.entities = self.entities
        return other

    def without(self, rows: Integers) -> Predictor:
        """The same model and rules as if the facts of some rows were not known."""
        other = copy(self)
        other.graph, other.left_out = GraphWithout.leave_out(self.graph, rows), rows
        return other

    def _check_complete(self, vocabulary: Vocabulary) -> None:
        """Refuse a graph that lacks names that the model was trained on."""
        for kind, names, numbers in (
            ("entity", vocabulary.entities, self._entity),
            ("relation", vocabulary.relations, self._relation),
        ):
            lacking = np.ones(len(names), dtype=bool)
            lacking[numbers[numbers >= 0]] = False
            if lacking.any():
                raise NqeError(
                    f"the graph lacks {int(lacking.sum()):,} of the model's {len(names):,} names, "
                    f"such as the {kind} '{names.ids[int(lacking.argmax())]}'; give the graph "
                    "that the model was trained on, or one with more facts"
                )

    @property
    def entity_count(self) -> int:
        """The number of entities in the graph."""
        return self.graph.entity_count

    @property
    def device(self) -> torch.device:
        """The device of the model and of everything computed with it."""
        return self.model.device

    def has_seen(self, entity: int) -> bool:
        """Whether the model was trained with an entity."""
        return bool(self._entity[entity] >= 0)

    def find_unseen_names(self, plan: BoundPlan) -> tuple[str, ...]:
        """Find the names in a plan that the model was not trained with."""
        names = self.graph.vocabulary
        found: dict[str, None] = {}
        for relations, entities in _list_known(plan):
            new = (one for one in relations if self._is_new(one))
            unseen = (one for one in entities if not self.has_seen(one))
            found |= {names.relations.name(relation): None for relation in new}
            found |= {names.entities.name(entity): None for entity in unseen}
        return tuple(found)

    def _is_new(self, relation: int) -> bool:
        return bool(self._relation[relation] < 0)

    def to_model_relations(self, relation: Integers) -> Integers:
        """Translate relations to the model's numbers; an unseen relation gets an arbitrary one."""
        return np.maximum(self._relation[relation], 0)

    def to_model_rows(self, values: Floats) -> Floats:
        """Reorder a table with one row per relation of the graph to the model's relations."""
        rows = np.ones((self.model.relation_count, values.shape[1]), dtype=values.dtype)
        seen = self._relation >= 0
        rows[self._relation[seen]] = values[seen]
        return rows

    def encode(self, table: StepTable) -> Tensor:
        """Encode plans, (plans, width); a plan with an unseen name is NaN."""
        relation, unseen = _translate(table.relation, table.relation >= 0, self._relation)
        attribute, new_attribute = _translate(table.attribute, table.attribute >= 0, self._relation)
        filler, new_filler = _translate(table.filler, table.kind == Kind.KNOWN, self._entity)
        unseen[table.step_of_slot[new_attribute | new_filler]] = True
        translated = replace(table, relation=relation, attribute=attribute, filler=filler)
        with torch.no_grad():
            vectors = self._model_with_facts.encode_finite(translated)
            plan = table.plan_of_step[unseen]
            vectors[torch.from_numpy(plan).to(self.device)] = torch.nan
        return vectors

    def score_relations(self, facts: Facts) -> Tensor:
        """Score all relations for the one that each fact misses, which is -1 in it.

        The score of a relation that the model has not seen is -∞, (facts, relations).
        """
        self._refuse_unseen(facts)
        # The last number stands for -1, both for the missing relation and for unseen ones.
        scores = self.model.score_relations(
            facts.renumber(self._entity, np.append(self._relation, -1))
        )
        unseen = scores.new_full((len(scores), 1), -torch.inf)
        return torch.cat([scores, unseen], 1)[:, torch.from_numpy(self._relation).to(self.device)]

    def _refuse_unseen(self, facts: Facts) -> None:
        """Refuse facts with names that the model was not trained with."""
        names = self.graph.vocabulary
        for kind, own, columns in (
            (names.entities, self._entity, (facts.subject, facts.object, facts.value)),
            (names.relations, self._relation, (facts.relation, facts.attribute)),
        ):
            numbers = np.concatenate(columns)
            unseen = numbers[(numbers >= 0) & (own[numbers] < 0)]
            if len(unseen):
                raise NqeError(
                    f"{kind.name(int(unseen[0]))} was added to the graph after the model was "
                    "trained, so no relation is predicted with it; train a model on this graph"
                )

    @cached_property
    def _model_with_facts(self) -> Model:
        """The model over the graph's facts, if it uses any; made when first used."""
        if not self.model.needs_facts:
            return self.model
        return self.model.with_facts(
            _translate_facts(self.graph.facts, self._entity, self._relation)
        )

    def find_stated(self, bindings: Bindings) -> tuple[Integers, Integers]:
        """Find what the facts state: pairs of a binding and an entity in its asked slot."""
        found = self.graph.match_many(bindings.patterns, self.max_bindings)
        return found.answer_pattern, found.answer

    def has_stood(self, patterns: Patterns, pattern: Integers, entity: Integers) -> Booleans:
        """Whether facts have each entity in the asked slot of its pattern's relation.

        Without any facts nothing is known about that, so all count as if they had.
        """
        if not len(self.graph):
            return np.ones(len(entity), dtype=bool)
        return self.graph.has_stood(patterns, pattern, entity)

    def order_all(self, patterns: Patterns) -> Integers:
        """Order all entities in the asked slots of patterns, by score and then by id."""
        vectors = self.encode(StepTable.of_patterns(patterns))
        return self._order(self.score(vectors), self.graph.vocabulary.entities.id_order)

    def order_some(self, patterns: Patterns, pattern: Integers, entity: Integers) -> Integers:
        """The numbers of `order_all` for some pairs of a pattern and an entity, (pairs,)."""
        vectors = self.encode(StepTable.of_patterns(patterns)).nan_to_num()
        listed, column = np.unique(entity, return_inverse=True)
        some = self.entities.block[torch.from_numpy(listed).to(self.device)]
        with torch.no_grad():
            scores = self.model.score(vectors, some)[torch.from_numpy(pattern), column]
        return self._order(scores, self.graph.vocabulary.entities.id_order[entity])

    def _order(self, scores: Tensor, id_order: Integers) -> Integers:
        values = scores.double().cpu().numpy()
        places = np.rint(np.clip(values, -_FAR, _FAR) * _FINE).astype(np.int64)
        order: Integers = id_order - places * self.entity_count
        return order

    def compare(self, vectors: Tensor, temperature: float) -> Comparison:
        """Prepare vectors for a comparison with all entities, with divided scores."""
        queries = self.model.prepare(vectors.nan_to_num()) / temperature
        return Comparison(queries, self.entities.block.vectors, self._divide_bias(temperature))

    def _divide_bias(self, temperature: float) -> Tensor:
        """The bias of all entities for divided scores, which most calls have in common."""
        divided = self._divided  # another thread may replace it
        if divided is None or divided[0] != temperature:
            divided = temperature, self.entities.block.bias / temperature
            self._divided = divided
        return divided[1]

    def score(self, vectors: Tensor, columns: slice = slice(None)) -> Tensor:
        """Score a range of the graph's entities, (vectors, entities).

        The score of an entity that the model has not seen is -∞.
        """
        with torch.no_grad():
            return self.model.score(vectors.nan_to_num(), self.entities.block[columns])

    def lend_memory(self, size: int) -> Tensor:
        """Lend memory for scores, whose contents are lost when this thread is lent it again."""
        if len(self._scratch.memory) < size:
            self._scratch.memory = self.entities.block.bias.new_empty(size)
        return self._scratch.memory[:size]


class _Scratch(threading.local):
    """Memory to lend, of each thread its own, as several may ask at once."""

    def __init__(self) -> None:
        self.memory = torch.empty(0)


def _map_numbers(own: Names, others: Names) -> Integers:
    """Map each name of the graph to its number in the model, or to -1 if it has none."""
    if own is others or own.ids == others.ids:
        return np.arange(len(others))
    number = {name: place for place, name in enumerate(own.ids)}
    return np.array([number.get(name, -1) for name in others.ids], dtype=np.int64)


def _translate_facts(facts: Facts, entities: Integers, relations: Integers) -> Facts:
    """The facts without any name that the model lacks, in its numbers."""
    known = (entities[facts.subject] >= 0) & (entities[facts.object] >= 0)
    known &= relations[facts.relation] >= 0
    lacking = (entities[facts.value] < 0) | (relations[facts.attribute] < 0)
    known[facts.qualifier_fact[lacking]] = False
    return facts.take(np.flatnonzero(known)).renumber(entities, relations)


def _translate(column: Integers, chosen: Booleans, numbers: Integers) -> tuple[Integers, Booleans]:
    """Translate the chosen values of a column; also return which of them the model lacks."""
    translated = np.where(chosen, numbers[np.where(chosen, column, 0)], column)
    unseen: Booleans = chosen & (translated < 0)
    return np.where(unseen, 0, translated), unseen


def _list_known(plan: BoundPlan) -> Iterator[tuple[list[int], list[int]]]:
    """The relations and the entities that each atom of a plan names."""
    if isinstance(plan, Plan):
        for step in plan.steps:
            if step.op == Op.PROJECTION:
                entities = [one for one in step.slots if one is not None]
                yield [step.relation, *step.attributes], entities
        return
    for atom in list_atoms(plan.scope):
        main = [] if isinstance(atom.relation, Unknown) else [atom.relation]
        yield [*main, *atom.attributes], [entity for _, entity in atom.known]

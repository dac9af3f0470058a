"""Find the reason for an answer of a hybrid run: stated facts, predictions, or both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import assert_never

import numpy as np
import torch

from nqe.answering.bindings import Bindings
from nqe.answering.fuzzy_set import FuzzySet
from nqe.answering.hybrid import HybridRun
from nqe.answering.rule_reasons import find_rules
from nqe.graph.entity_set import EntitySet
from nqe.graph.pattern import Pattern
from nqe.query.plan import Op, Plan, Step
from nqe.query.proof import prove
from nqe.query.reason import Reason
from nqe.query.result import Result
from nqe.query.step_text import describe_step


@dataclass(frozen=True)
class _BestWay:
    """The likeliest of several ways to an entity."""

    bound: list[int]
    """The entities in the slots; -1 in a free slot."""
    own: float
    """The probability of the atom, given these entities."""
    chance: float
    """The probability of the whole way."""
    ways: int
    """The number of all ways to the entity."""
    model: float | None = None
    """What the model alone gives the atom; None if it knows nothing about it."""


class ReasonSearch:
    """Finds reasons in the hybrid run of one plan."""

    def __init__(self, result: Result, run: HybridRun) -> None:
        self.result, self.plan, self.run = result, result.plan, run
        self.graph = run.predictor.graph
        # Exact answers may depend on negations, which are never certain.
        self.certain = [_find_certain(run.sets[step]) for step in range(len(run.sets))]

    def find(self, entity: int, number: int | None = None) -> Reason:
        """Find why an entity has its probability in the set of a step, by default the target."""
        number = len(self.plan.steps) - 1 if number is None else number
        if self._probability(number, entity) == 1:
            limit = self.result.max_bindings
            return prove(self.plan, self.graph, self.certain, entity, number, limit)
        step = self.plan.steps[number]
        match step.op:
            case Op.PROJECTION:
                return self._find_projection(number, step, entity)
            case Op.OR:
                best = max(step.inputs, key=lambda one: self._probability(one, entity))
                reason = self._find_connective(number, step, entity, (best,))
                alone = self._probability(best, entity)
                return replace(reason, ways=len(step.inputs), alone=alone)
            case Op.AND | Op.NOT | Op.ANY:
                return self._find_connective(number, step, entity, step.inputs)
            case _:
                assert_never(step.op)

    def _probability(self, number: int, entity: int) -> float:
        return self.run.sets[number][entity]

    def _find_connective(
        self, number: int, step: Step, entity: int, inputs: tuple[int, ...]
    ) -> Reason:
        probability = self._probability(number, entity)
        parts = tuple(self.find(entity, one) for one in inputs)
        return Reason(self.graph, step.op, step.variable, entity, probability, parts=parts)

    def _find_projection(self, number: int, step: Step, entity: int) -> Reason:
        """Explain a projection by the binding that gives the entity its highest probability."""
        best = self._find_best_way(number, step, entity)
        bound = best.bound
        pattern = _ask(step, bound)
        row = self._find_fact(pattern, entity)
        parts = tuple(
            self.find(bound[place], one)
            for place, one in zip(step.filled, step.inputs, strict=True)
            if bound[place] >= 0
        )
        named = {place: bound[place] for place in step.filled if bound[place] >= 0}
        atom = describe_step(self.plan, number, self.graph.vocabulary, entity, named)
        probability = self._probability(number, entity)
        reason = Reason(
            self.graph,
            step.op,
            step.variable,
            entity,
            probability,
            atom=atom,
            row=row,
            parts=parts,
            ways=best.ways,
            alone=min(best.chance, probability),
        )
        return reason if row is not None else self._add_evidence(reason, best, pattern)

    def _add_evidence(self, reason: Reason, best: _BestWay, pattern: Pattern) -> Reason:
        """Add what a predicted atom comes from: the rules, and what the model alone gives it."""
        found = find_rules(self.run.predictor, pattern, reason.entity)
        rules = () if found is None else found.list_strongest()
        more = 0 if found is None else len(found) - len(rules)
        return replace(reason, own=best.own, rules=rules, more_rules=more, model=best.model)

    def _find_best_way(self, number: int, step: Step, entity: int) -> _BestWay:
        """Find the likeliest way to an entity: by a fact, or by a prediction."""
        steps, least = np.array([number]), self.run.options.least
        bindings = self.run.choose_bindings(steps)
        predictions = self.run.predict(bindings)
        own = predictions.look_up(entity)
        pairs = torch.from_numpy(np.stack((bindings.weight, own), axis=1))[..., None]
        chances = self.run.logic.conjoin(pairs)[:, 0].numpy()
        chances[own == 1] = 0  # They are among the stated ways.
        stated = self.run.find_stated_ways(steps)
        known = np.flatnonzero(stated.answer == entity)
        ways = max(1, len(known) + int((chances >= least).sum()))
        best = int(chances.argmax()) if len(chances) else -1
        if len(known) and (best < 0 or stated.value[known].max() >= chances[best]):
            way = known[stated.value[known].argmax()]
            members = stated.members[way].tolist()
            bound = _fill_slots(self.plan, step, members)
            return _BestWay(bound, 1.0, float(stated.value[way]), ways)
        if best < 0:
            return _BestWay(_fill_slots(self.plan, step, []), 0.0, 0.0, ways)
        bound = _read_slots(bindings, best)
        model = predictions.look_up_model(best, entity)
        return _BestWay(bound, float(own[best]), float(chances[best]), ways, model)

    def _find_fact(self, pattern: Pattern, entity: int) -> int | None:
        """Find a fact that states a bound atom for an entity; None if there is none."""
        slots = list(pattern.slots)
        slots[pattern.asked] = entity
        rows = self.graph.matches(replace(pattern, slots=tuple(slots)), self.result.max_bindings)
        return int(rows[0]) if len(rows) else None


def _ask(step: Step, bound: list[int]) -> Pattern:
    """The pattern of a projection whose slots are bound."""
    slots = tuple(one if one >= 0 else None for one in bound)
    return Pattern(step.relation, slots, step.attributes, step.asked, step.closed)


def _find_certain(row: FuzzySet) -> EntitySet:
    """The entities of a fuzzy set that facts make certain."""
    if row.rest == 1:
        return EntitySet.everything()
    return EntitySet(row.entities[row.values == 1])


def _fill_slots(plan: Plan, step: Step, members: list[int]) -> list[int]:
    """The entities in the slots of a projection whose inputs are bound; -1 in a free slot."""
    fillers = [-1 if one is None else one for one in step.slots]
    inputs = zip(step.filled, step.inputs, strict=True)
    places = sorted(place for place, one in inputs if plan.steps[one].op != Op.ANY)
    for place, member in zip(places, members, strict=False):
        fillers[place] = member
    return fillers


def _read_slots(bindings: Bindings, number: int) -> list[int]:
    """The entities in the slots of one binding; -1 in a free slot."""
    first, last = bindings.patterns.first_slot[number], bindings.patterns.first_slot[number + 1]
    fillers: list[int] = bindings.patterns.filler[first:last].tolist()
    return fillers

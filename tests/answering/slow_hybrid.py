"""The hybrid runner in plain Python, which loops over all bindings and entities."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import permutations, product

import numpy as np
import torch

from nqe.answering import Calibration
from nqe.answering.calibration import MAX_PREDICTED
from nqe.graph import Graph
from nqe.model import Model
from nqe.query import Plan
from nqe.query.plan import Op, PlanBuilder, Step
from nqe.query.step_table import StepTable

Row = tuple[int, int, int, Sequence[tuple[int, int]]]

CONJOIN = {
    "product": lambda one, other: one * other,
    "godel": min,
    "lukasiewicz": lambda one, other: max(0.0, one + other - 1),
}
DISJOIN = {
    "product": lambda one, other: 1 - (1 - one) * (1 - other),
    "godel": max,
    "lukasiewicz": lambda one, other: min(1.0, one + other),
}
JOIN = {"noisy-or": DISJOIN["product"], "max": max}


class SlowHybrid:
    """Computes the fuzzy sets of a plan's steps as lists, and the certain entities as sets."""

    def __init__(
        self,
        plan: Plan,
        model: Model,
        graph: Graph,
        calibration: Calibration,
        logic: str,
        join: str,
        beam: int | None = None,
    ) -> None:
        self.plan, self.model, self.graph, self.calibration = plan, model, graph, calibration
        self.conjoin, self.disjoin, self.join = CONJOIN[logic], DISJOIN[logic], JOIN[join]
        self.beam, self.tied = beam, False
        self.entities = range(graph.entity_count)
        self.facts = [graph.facts.row(row) for row in range(len(graph))]

    def row(self, number: int = -1) -> list[float]:
        """The probability of each entity in the set of a step."""
        step, certain = self.plan.steps[number], self.certain(number)
        inputs = [self.row(one) for one in step.inputs]
        match step.op:
            case Op.PROJECTION:
                row = self._project(step, inputs)
            case Op.AND:
                row = [reduce(self.conjoin, chances) for chances in zip(*inputs, strict=True)]
            case Op.OR:
                row = [reduce(self.disjoin, chances) for chances in zip(*inputs, strict=True)]
            case Op.NOT:
                row = [1 - chance for chance in inputs[0]]
            case Op.ANY:
                row = [1.0 for _ in self.entities]
        return [
            1.0 if one in certain else min(chance, MAX_PREDICTED)
            for one, chance in zip(self.entities, row, strict=True)
        ]

    def certain(self, number: int = -1) -> set[int]:
        """The entities that facts make certain; a negation gives none."""
        step = self.plan.steps[number]
        inputs = [self.certain(one) for one in step.inputs]
        match step.op:
            case Op.PROJECTION:
                return {
                    one
                    for one in self.entities
                    for bound in product(*self._choices(step, inputs))
                    if self._stated(step, bound, one)
                }
            case Op.AND:
                return set.intersection(*inputs)
            case Op.OR:
                return set.union(*inputs)
            case Op.NOT:
                return set()
            case Op.ANY:
                return set(self.entities)

    def _choices(self, step: Step, inputs: Sequence[set[int]]) -> list[list[int | None]]:
        """The entities that each filled slot may hold; None if it may hold any entity."""
        is_any = [self.plan.steps[one].op == Op.ANY for one in step.inputs]
        return [
            [None] if anything else sorted(one)
            for anything, one in zip(is_any, inputs, strict=True)
        ]

    def _project(self, step: Step, inputs: list[list[float]]) -> list[float]:
        everything = [set(self.entities)] * len(inputs)
        bindings = self._best(list(product(*self._choices(step, everything))), inputs)
        row = [0.0 for _ in self.entities]
        for bound, predicted in zip(bindings, self._predicted(step, bindings), strict=True):
            weight = self._weight(bound, inputs)
            for one in self.entities:
                stated = self._stated(step, bound, one)
                chance = self.conjoin(weight, 1.0 if stated else predicted[one])
                row[one] = self.join(row[one], chance)
        return row

    def _weight(self, bound: Sequence[int | None], inputs: list[list[float]]) -> float:
        pairs = zip(inputs, bound, strict=True)
        return reduce(self.conjoin, [row[one] for row, one in pairs if one is not None], 1.0)

    def _best(
        self, bindings: list[tuple[int | None, ...]], inputs: list[list[float]]
    ) -> list[tuple[int | None, ...]]:
        """The most likely bindings; sets `tied` if the choice between some was arbitrary."""
        if self.beam is None or self.beam >= len(bindings):
            return bindings
        ordered = sorted(bindings, key=lambda bound: -self._weight(bound, inputs))
        last, first_out = (self._weight(one, inputs) for one in ordered[self.beam - 1 :][:2])
        self.tied |= last - first_out < 1e-6
        return ordered[: self.beam]

    def _slots(
        self, step: Step, bound: Sequence[int | None], asked: int | None
    ) -> list[int | None]:
        slots = list(step.slots)
        for place, one in zip(step.filled, bound, strict=True):
            slots[place] = one
        slots[step.asked] = asked
        return slots

    def _stated(self, step: Step, bound: Sequence[int | None], asked: int) -> bool:
        slots = self._slots(step, bound, asked)
        return any(says(fact, step, slots) for fact in self.facts)

    def _predicted(self, step: Step, bindings: list[tuple[int | None, ...]]) -> list[list[float]]:
        """The calibrated probabilities of all entities for each binding."""
        plans = StepTable.of([self._one_hop(step, bound) for bound in bindings])
        with torch.no_grad():
            scores = self.model.score(self.model.encode(plans), self.model.entity_block())
        curve = self.calibration.curve(self.graph)
        for row, bound in zip(scores, bindings, strict=True):
            stated = [one for one in self.entities if self._stated(step, bound, one)]
            row[stated] = -torch.inf
            place = np.array([step.relation]), np.array([step.asked])
            curve.to_probabilities(row[None], curve.compute_shift(*place, np.array([len(stated)])))
        chances: list[list[float]] = scores.tolist()
        return chances

    def _one_hop(self, step: Step, bound: tuple[int | None, ...]) -> Plan:
        builder = PlanBuilder()
        inputs = tuple(
            (place, builder.add_connective(Op.ANY, "y", ()))
            for place, one in zip(step.filled, bound, strict=True)
            if one is None
        )
        slots = tuple(self._slots(step, bound, None))
        builder.add_projection(
            "x", step.relation, step.attributes, slots, step.asked, step.closed, inputs
        )
        return builder.finish()


def says(fact: Row, step: Step, slots: Sequence[int | None]) -> bool:
    """Whether a fact matches a step whose slots hold these entities, or any entity for None.

    Each qualifier of the step needs its own qualifier of the fact.
    """
    subject, relation, object_, pairs = fact
    wanted = list(zip(step.attributes, slots[2:], strict=True))
    if relation != step.relation or (step.closed and len(pairs) != len(wanted)):
        return False
    if not (_fits(slots[0], subject) and _fits(slots[1], object_)):
        return False
    return any(
        all(
            name == has and _fits(want, value)
            for (name, want), (has, value) in zip(wanted, chosen, strict=True)
        )
        for chosen in permutations(pairs, len(wanted))
    )


def _fits(wanted: int | None, entity: int) -> bool:
    return wanted is None or wanted == entity

"""The hybrid runner in plain Python, which loops over all bindings and entities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import permutations, product
from math import prod

import numpy as np
import torch

from nqe.answering import Calibration
from nqe.answering.probability import MAX_PREDICTED
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
ASKED = 1e-2
"""The model is not asked about bindings that are less likely."""
LIKELY = 0.01
"""Where the other inputs of a conjunction are this likely, the last may be less than the least."""
JOIN = {"noisy-or": DISJOIN["product"], "max": max}


class SlowHybrid:
    """Computes the fuzzy sets of a plan's steps as lists."""

    def __init__(
        self,
        plan: Plan,
        model: Model,
        graph: Graph,
        calibration: Calibration,
        logic: str,
        join: str,
        beam: int | None = None,
        least: float = 1e-3,
    ) -> None:
        self.plan, self.model, self.graph, self.calibration = plan, model, graph, calibration
        self.conjoin, self.disjoin, self.join = CONJOIN[logic], DISJOIN[logic], JOIN[join]
        self.beam, self.least = beam, least
        self.entities = range(graph.entity_count)
        self.facts = [graph.facts.row(row) for row in range(len(graph))]

    def row(self, number: int = -1) -> list[float]:
        """The probability of each entity in the set of a step."""
        step = self.plan.steps[number]
        inputs = [self.row(one) for one in step.inputs]
        match step.op:
            case Op.PROJECTION:
                pairs = self._project(step, inputs)
            case Op.AND:
                inputs = self._add_faint(step, inputs)
                pairs = [(reduce(self.conjoin, v), min(v) == 1) for v in zip(*inputs, strict=True)]
            case Op.OR:
                pairs = [(reduce(self.disjoin, v), max(v) == 1) for v in zip(*inputs, strict=True)]
            case Op.NOT:
                below = self.plan.steps[step.inputs[0]]
                if below.op == Op.NOT:
                    return self.row(below.inputs[0])
                pairs = [(1 - chance, False) for chance in inputs[0]]
            case Op.ANY:
                pairs = [(1.0, True) for _ in self.entities]
        return [1.0 if certain else min(chance, MAX_PREDICTED) for chance, certain in pairs]

    def _add_faint(self, step: Step, inputs: list[list[float]]) -> list[list[float]]:
        """The inputs of a conjunction, completed where one alone lacks an entity."""
        positive = [number for number in step.inputs if self._rest(number) == 0]
        completed = [list(row) for row in inputs]
        for one in self.entities:
            lacking = [place for place, row in enumerate(inputs) if row[one] == 0]
            others = prod(row[one] for row in inputs if row[one] > 0)
            if len(lacking) == 1 and len(positive) > 1 and others >= LIKELY:
                [place] = lacking
                below = self.plan.steps[step.inputs[place]]
                if below.op == Op.PROJECTION:
                    rows = [self.row(number) for number in below.inputs]
                    completed[place][one] = min(self._faint(below, rows)[one], MAX_PREDICTED)
        return completed

    def _rest(self, number: int) -> float:
        """The probability of an entity of which no projection gives any."""
        step = self.plan.steps[number]
        inputs = [self._rest(one) for one in step.inputs]
        match step.op:
            case Op.AND:
                return reduce(self.conjoin, inputs)
            case Op.OR:
                return reduce(self.disjoin, inputs)
            case Op.NOT:
                return 1 - inputs[0]
        return float(step.op == Op.ANY)

    def _choices(self, step: Step) -> list[list[int | None]]:
        """The entities that each filled slot may hold; None if it may hold any entity."""
        is_any = [self.plan.steps[one].op == Op.ANY for one in step.inputs]
        return [[None] if anything else list(self.entities) for anything in is_any]

    def _project(self, step: Step, inputs: list[list[float]]) -> list[tuple[float, bool]]:
        """Join what is stated about all bindings with what is predicted for the best of them."""
        bindings = list(product(*self._choices(step)))
        row, certain = [0.0 for _ in self.entities], [False for _ in self.entities]
        for bound in bindings:
            weight = self._weight(bound, inputs)
            for one in self.entities:
                if weight >= self.least and self._stated(step, bound, one):
                    row[one] = self.join(row[one], weight)
                    certain[one] |= weight == 1
        for one, chance in self._predicted_ways(step, inputs):
            if chance >= self.least:
                row[one] = self.join(row[one], chance)
        return list(zip(row, certain, strict=True))

    def _faint(self, step: Step, inputs: list[list[float]]) -> list[float]:
        """Join what is predicted for the best bindings, however unlikely."""
        row = [0.0 for _ in self.entities]
        for one, chance in self._predicted_ways(step, inputs):
            row[one] = self.join(row[one], chance)
        return row

    def _predicted_ways(self, step: Step, inputs: list[list[float]]) -> Iterator[tuple[int, float]]:
        """The ways to all entities by the best bindings that no fact states."""
        best = self._best(step, list(product(*self._choices(step))), inputs)
        for bound, predicted in zip(best, self._predicted(step, best), strict=True):
            for one in self.entities:
                if not self._stated(step, bound, one):
                    yield one, self.conjoin(self._weight(bound, inputs), predicted[one])

    def _weight(self, bound: Sequence[int | None], inputs: list[list[float]]) -> float:
        pairs = zip(inputs, bound, strict=True)
        return reduce(self.conjoin, [row[one] for row, one in pairs if one is not None], 1.0)

    def _best(
        self, step: Step, bindings: list[tuple[int | None, ...]], inputs: list[list[float]]
    ) -> list[tuple[int | None, ...]]:
        """The most likely bindings: first of each slot alone, then together."""
        asked = max(ASKED, self.least)
        possible = [bound for bound in bindings if self._weight(bound, inputs) >= asked]
        if self.beam is None:
            return possible
        orders = [self._order(step, slot, inputs[slot]) for slot in range(len(inputs))]
        for number in range(len(inputs)):
            if bindings[0][number] is not None:
                allowed = set(orders[number][: self.beam])
                possible = [bound for bound in possible if bound[number] in allowed]
        for last in range(1, len(inputs) + 1):
            heads = {bound[:last] for bound in possible}
            kept = sorted(heads, key=lambda head: self._rank(head, inputs, orders))[: self.beam]
            possible = [bound for bound in possible if bound[:last] in kept]
        return sorted(possible, key=lambda bound: self._rank(bound, inputs, orders))

    def _rank(
        self, head: Sequence[int | None], inputs: list[list[float]], orders: list[list[int]]
    ) -> tuple[float, int, int]:
        """A key that sorts bindings of the first slots, if there are at most two of them."""
        places = [o.index(one) for o, one in zip(orders, head, strict=False) if one is not None]
        weight = self._weight(head, inputs[: len(head)])
        return -round(weight * 1e6), sum(places), places[0] if places else 0

    def _order(self, step: Step, slot: int, row: list[float]) -> list[int]:
        """The members of one input, likeliest first; equal ones by what the model says."""
        if self.plan.steps[step.inputs[slot]].op == Op.ANY:
            return []
        place = step.filled[slot]
        builder = PlanBuilder()
        free = [one for one in (*step.filled, step.asked) if one != place]
        others = tuple((one, builder.add_connective(Op.ANY, "y", ())) for one in sorted(free))
        builder.add_projection(
            "x", step.relation, step.attributes, step.slots, place, step.closed, others
        )
        with torch.no_grad():
            vector = self.model.encode(StepTable.of([builder.finish()]))
            [scores] = self.model.score(vector, self.model.entity_block()).tolist()
        ids = self.graph.vocabulary.entities.ids
        keys = [
            (-round(row[one] * 1e6), -round(scores[one] * 1e4), ids[one]) for one in self.entities
        ]
        return sorted(self.entities, key=keys.__getitem__)

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
        curve, rows = self.calibration.curve(self.graph), []
        for row, bound in zip(scores / curve.temperature, bindings, strict=True):
            stated = [one for one in self.entities if self._stated(step, bound, one)]
            logs = row.log_softmax(0)
            relation, asked = np.array([step.relation]), np.array([step.asked])
            shift = curve.compute_shift(relation, asked, np.array([len(stated)]))
            elsewhere = np.array([not self._stood(step, one) for one in self.entities])
            rows.append(curve.to_probabilities(logs.double().numpy(), shift, elsewhere).tolist())
        return rows

    def _stood(self, step: Step, entity: int) -> bool:
        """Whether any fact of the relation has an entity in the asked slot."""
        if not self.facts:
            return True
        place = step.asked - 2
        for subject, relation, object_, pairs in self.facts:
            if relation != step.relation:
                continue
            asked = [subject, object_][step.asked : step.asked + 1]
            if step.asked > 1:
                asked = [value for name, value in pairs if name == step.attributes[place]]
            if entity in asked:
                return True
        return False

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

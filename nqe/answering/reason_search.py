"""Finds the reasons for answers of a hybrid run: stated facts, predictions, or both."""

from __future__ import annotations

from typing import assert_never

import numpy as np
import torch

from nqe.answering.bindings import Bindings
from nqe.answering.hybrid import Chances, HybridRun
from nqe.graph.pattern import Pattern
from nqe.query.plan import Op, Step
from nqe.query.proof import prove
from nqe.query.reason import Reason
from nqe.query.result import Result
from nqe.query.step_text import describe_step


class Explainer:
    """Explains what one run of one plan gave."""

    def __init__(self, result: Result, run: HybridRun) -> None:
        self.result, self.plan, self.run = result, result.plan, run
        self.graph = run.predictor.graph
        # The exact answers may rest on negations; what is certain does not.
        self.certain = run.certain.sets()

    def reason(self, entity: int, number: int | None = None) -> Reason:
        """Why an entity is as likely as it is, in a step's set or in the target's."""
        number = len(self.plan.steps) - 1 if number is None else number
        if self._chance(number, entity) == 1:
            return prove(self.plan, self.graph, self.certain, entity, number)
        step = self.plan.steps[number]
        match step.op:
            case Op.PROJECTION:
                return self._projection(number, step, entity)
            case Op.OR:
                best = max(step.inputs, key=lambda one: self._chance(one, entity))
                return self._connective(number, step, entity, (best,))
            case Op.AND | Op.NOT | Op.ANY:
                return self._connective(number, step, entity, step.inputs)
            case _:
                assert_never(step.op)

    def _chance(self, number: int, entity: int) -> float:
        return float(self.run.rows[number, entity])

    def _connective(self, number: int, step: Step, entity: int, inputs: tuple[int, ...]) -> Reason:
        chance = self._chance(number, entity)
        parts = tuple(self.reason(entity, one) for one in inputs)
        return Reason(self.graph, step.op, step.variable, entity, chance, parts=parts)

    def _projection(self, number: int, step: Step, entity: int) -> Reason:
        """By the binding that gives the entity its best chance."""
        bindings = self.run.bindings(np.array([number]))
        chances = Chances.of(bindings, self.run.predictor, self.run.curve)
        alone = chances.column(entity).cpu()  # (bindings,)
        pairs = torch.stack((torch.from_numpy(bindings.weight), alone), 1)[..., None]
        best = int(self.run.norm.conjoin(pairs)[:, 0].argmax())
        bound = self._bound(bindings, best)
        row = self._stated(step, bound, entity)
        parts = tuple(
            self.reason(bound[place], one)
            for place, one in zip(step.filled, step.inputs, strict=True)
            if bound[place] >= 0
        )
        atom = describe_step(self.plan, number, self.graph.vocabulary, entity)
        own = 1.0 if row is not None else float(alone[best])
        chance = self._chance(number, entity)
        return Reason(
            self.graph, step.op, step.variable, entity, chance, own, atom, row, parts=parts
        )

    def _bound(self, bindings: Bindings, number: int) -> list[int]:
        first, last = bindings.patterns.first_slot[number], bindings.patterns.first_slot[number + 1]
        fillers: list[int] = bindings.patterns.filler[first:last].tolist()
        return fillers

    def _stated(self, step: Step, bound: list[int], entity: int) -> int | None:
        slots = [one if one >= 0 else None for one in bound]
        slots[step.asked] = entity
        pattern = Pattern(step.relation, tuple(slots), step.attributes, step.asked, step.closed)
        rows = self.graph.matches(pattern)
        return int(rows[0]) if len(rows) else None

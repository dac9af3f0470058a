"""Find the reason for an answer of a hybrid run: stated facts, predictions, or both."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

import numpy as np
import torch

from nqe.answering.bindings import Bindings
from nqe.answering.hybrid import BindingProbabilities, HybridRun
from nqe.graph.pattern import Pattern
from nqe.query.plan import Op, Step
from nqe.query.proof import prove
from nqe.query.reason import Reason
from nqe.query.result import Result
from nqe.query.step_text import describe_step


class ReasonSearch:
    """Finds reasons in the hybrid run of one plan."""

    def __init__(self, result: Result, run: HybridRun) -> None:
        self.result, self.plan, self.run = result, result.plan, run
        self.graph = run.predictor.graph
        # Exact answers may depend on negations, which are never certain.
        self.certain = run.certain.sets()

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
        return float(self.run.rows[number, entity])

    def _find_connective(
        self, number: int, step: Step, entity: int, inputs: tuple[int, ...]
    ) -> Reason:
        probability = self._probability(number, entity)
        parts = tuple(self.find(entity, one) for one in inputs)
        return Reason(self.graph, step.op, step.variable, entity, probability, parts=parts)

    def _find_projection(self, number: int, step: Step, entity: int) -> Reason:
        """Explain a projection by the binding that gives the entity its highest probability."""
        bindings = self.run.choose_bindings(np.array([number]))
        probabilities = BindingProbabilities.of(bindings, self.run.predictor, self.run.curve)
        alone = probabilities.column(entity).cpu()  # (bindings,)
        pairs = torch.stack((torch.from_numpy(bindings.weight), alone), 1)[..., None]
        chains = self.run.norm.conjoin(pairs)[:, 0]  # (bindings,)
        best = int(chains.argmax())
        bound = _read_slots(bindings, best)
        row = self._find_fact(step, bound, entity)
        parts = tuple(
            self.find(bound[place], one)
            for place, one in zip(step.filled, step.inputs, strict=True)
            if bound[place] >= 0
        )
        named = {place: bound[place] for place in step.filled if bound[place] >= 0}
        atom = describe_step(self.plan, number, self.graph.vocabulary, entity, named)
        own = 1.0 if row is not None else float(alone[best])
        probability = self._probability(number, entity)
        return Reason(
            self.graph,
            step.op,
            step.variable,
            entity,
            probability,
            own,
            atom,
            row,
            parts=parts,
            ways=max(1, int((chains >= self.run.options.least).sum())),
            alone=min(float(chains[best]), probability),
        )

    def _find_fact(self, step: Step, bound: list[int], entity: int) -> int | None:
        """Find a fact that states a bound atom for an entity; None if there is none."""
        slots = [one if one >= 0 else None for one in bound]
        slots[step.asked] = entity
        pattern = Pattern(step.relation, tuple(slots), step.attributes, step.asked, step.closed)
        rows = self.graph.matches(pattern, self.result.max_bindings)
        return int(rows[0]) if len(rows) else None


def _read_slots(bindings: Bindings, number: int) -> list[int]:
    """The entities in the slots of one binding; -1 in a free slot."""
    first, last = bindings.patterns.first_slot[number], bindings.patterns.first_slot[number + 1]
    fillers: list[int] = bindings.patterns.filler[first:last].tolist()
    return fillers

"""The hybrid runner: fuzzy sets over entities, from stated facts and from the model.

Each step is a row of probabilities. What the known facts give for certain is 1; a prediction is
less. A projection takes the likeliest members of its inputs as bindings, asks the facts and the
model about each, and joins what they say. All bindings of a depth go through one encoder call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nqe.answering.bindings import Bindings, choose_bindings
from nqe.answering.calibration import MOST, Calibration
from nqe.answering.knowledge import Knowledge
from nqe.graph.entities import Booleans
from nqe.graph.facts import Integers
from nqe.model.logic import Logic
from nqe.query.exact_batch import StepTable, run_table
from nqe.query.plan import STEP, Op

SCORES = 2**24
"""So many scores exist at a time."""


@dataclass(frozen=True)
class HybridOptions:
    """How the hybrid runner searches."""

    beam: int = 64
    """Bindings of a projection that the model is asked about."""
    join: str = "noisy-or"
    """How an entity's chances over bindings are joined: noisy-or, or max."""
    least: float = 1e-4
    """Bindings less likely than this are not asked about."""


def noisy_or(chances: Tensor) -> Tensor:
    """1 - Π(1 - p): the chance that one of independent ways holds."""
    return 1 - (1 - chances).prod(0)


def highest(chances: Tensor) -> Tensor:
    """The best way alone."""
    return chances.amax(0)


JOINS: dict[str, Callable[[Tensor], Tensor]] = {"noisy-or": noisy_or, "max": highest}


@dataclass(frozen=True, eq=False)
class FuzzySets:
    """A row of probabilities for every step of a table of plans."""

    table: StepTable
    rows: Tensor  # (steps, entities)

    def targets(self) -> Tensor:
        """The rows of the answers, (plans, entities)."""
        return self.rows[torch.from_numpy(self.table.plan_start[1:] - 1)]


class HybridRun:
    """One run over a table of plans, the lowest depth first."""

    def __init__(
        self,
        table: StepTable,
        knowledge: Knowledge,
        calibration: Calibration,
        logic: Logic,
        options: HybridOptions,
    ) -> None:
        self.table, self.knowledge, self.calibration = table, knowledge, calibration
        self.logic, self.options = logic, options
        self.rows = torch.zeros(len(table.steps), knowledge.entity_count)
        self.exact = run_table(table, knowledge.graph)
        self.certain = ~_over_negations(table)

    def run(self) -> FuzzySets:
        """All steps."""
        op, depths = self.table.steps[:, STEP.OP], self.table.steps[:, STEP.DEPTH]
        for depth in range(int(depths.max(initial=-1)) + 1):
            now = depths == depth
            self.rows[torch.from_numpy(now & (op == Op.ANY))] = 1
            self._project(np.flatnonzero(now & (op == Op.PROJECTION)))
            for step in np.flatnonzero(now & np.isin(op, (Op.AND, Op.OR, Op.NOT))).tolist():
                self._connect(step)
        return FuzzySets(self.table, self.rows)

    def _connect(self, step: int) -> None:
        inputs = np.flatnonzero(self.table.steps[:, STEP.PARENT] == step)
        rows = self.rows[torch.from_numpy(inputs)][None]  # (1, inputs, entities)
        match self.table.steps[step, STEP.OP]:
            case Op.AND:
                row = self.logic.conjoin(rows)[0]
            case Op.OR:
                row = self.logic.disjoin(rows)[0]
            case _:
                # That something is not stated does not make its contrary certain.
                row = self.logic.negate(rows[:, 0])[0].clamp_max(MOST)
        self.rows[step] = row

    def _project(self, steps: Integers) -> None:
        if not len(steps):
            return
        bindings = choose_bindings(
            self.table, steps, self.rows, self.options.beam, self.options.least
        )
        vectors = self.knowledge.vectors(bindings)
        stated = self.knowledge.stated(bindings)
        shift = self.calibration.shift(bindings.relation, bindings.asked)
        for place, step in enumerate(steps.tolist()):
            self.rows[step] = self._joined(bindings, bindings.of(place), vectors, stated, shift)
            if self.certain[step]:
                start, length = int(self.exact.start[step]), int(self.exact.length[step])
                self.rows[step, torch.from_numpy(self.exact.pool[start : start + length])] = 1

    def chances(self, bindings: Bindings) -> Tensor:
        """What facts and model say of all entities by each binding alone, (bindings, entities)."""
        shift = self.calibration.shift(bindings.relation, bindings.asked)
        everything = slice(0, len(bindings))
        vectors, stated = self.knowledge.vectors(bindings), self.knowledge.stated(bindings)
        return self._alone(everything, vectors, stated, shift)

    def _alone(
        self,
        chosen: slice,
        vectors: Tensor,
        stated: tuple[Integers, Integers],
        shift: Tensor,
    ) -> Tensor:
        chances = self.knowledge.predicted(
            vectors[chosen], lambda scores: self.calibration.probabilities(scores, shift[chosen])
        )  # (bindings, entities)
        binding, entity = stated
        first, last = np.searchsorted(binding, (chosen.start, chosen.stop))
        row = torch.from_numpy(binding[first:last] - chosen.start)
        chances[row, torch.from_numpy(entity[first:last])] = 1
        return chances

    def _joined(
        self,
        bindings: Bindings,
        chosen: slice,
        vectors: Tensor,
        stated: tuple[Integers, Integers],
        shift: Tensor,
    ) -> Tensor:
        """The chances of all entities by some bindings of one projection, (entities,)."""
        weight = torch.from_numpy(bindings.weight[chosen])[:, None]
        chances = self._alone(chosen, vectors, stated, shift)  # (bindings, entities)
        chances.mul_(weight)
        joined = JOINS[self.options.join](chances)
        return torch.where(chances.amax(0) >= 1, joined, joined.clamp_max(MOST))


def _over_negations(table: StepTable) -> Booleans:
    """Whether a step has a negation in it or below it."""
    found: Booleans = table.steps[:, STEP.OP] == Op.NOT
    parent = table.steps[:, STEP.PARENT]
    # Inputs stand before what uses them.
    for step in np.flatnonzero(parent >= 0).tolist():
        found[parent[step]] |= found[step]
    return found

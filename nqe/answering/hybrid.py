"""The hybrid runner: fuzzy sets over entities, from stated facts and from the model.

Each step is a row of probabilities. What the known facts give for certain is 1; a prediction is
less. A projection takes the likeliest members of its inputs as bindings, asks the facts and the
model about each, and joins what they say. All bindings of a depth go through one encoder call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from nqe.answering.bindings import Bindings, choose_bindings
from nqe.answering.calibration import MOST, Curve, Totals
from nqe.answering.predictor import Predictor
from nqe.errors import NqeError, choose
from nqe.graph.arrays import Integers
from nqe.graph.graph import Graph
from nqe.graph.ragged import ranges
from nqe.model.fuzzy_logic import Logic, connect, norm_of
from nqe.query.exact_batch import StepSets, run_table
from nqe.query.plan import Op
from nqe.query.step_table import StepTable

SCORES, BINDINGS = 2**22, 64
"""So many scores exist at a time, of so many bindings if entities are many."""
ROWS = 2**26
"""So many probabilities of steps exist at a time."""


@dataclass(frozen=True)
class HybridOptions:
    """How the hybrid runner searches."""

    beam: int = 64
    """Bindings of a projection that the model is asked about."""
    join: str = "noisy-or"
    """How an entity's chances over bindings are joined: noisy-or, or max."""
    least: float = 1e-4
    """Bindings less likely than this are not asked about."""

    def __post_init__(self) -> None:
        choose(JOINS, self.join, "join")
        if self.beam < 1:
            raise NqeError(f"the beam is {self.beam}; give 1 or more")
        if not 0 <= self.least <= 1:
            raise NqeError(f"the least chance is {self.least:g}; give one from 0 to 1")


def noisy_or(row: Tensor, more: Tensor) -> None:
    """1 - (1 - p)(1 - q): the chance that one of independent ways holds."""
    # Written so that small chances keep their digits.
    row.add_(more.mul_(1 - row))


def highest(row: Tensor, more: Tensor) -> None:
    """The best way alone."""
    torch.maximum(row, more, out=row)


JOINS: dict[str, Callable[[Tensor, Tensor], None]] = {"noisy-or": noisy_or, "max": highest}


@dataclass(frozen=True, eq=False)
class Chances:
    """What facts and model say of all entities, by each of some bindings alone."""

    predictor: Predictor
    curve: Curve
    bindings: Bindings
    vectors: Tensor  # (bindings, width)
    shift: Tensor  # (bindings,)
    stated: tuple[Integers, Integers]

    @classmethod
    def of(cls, bindings: Bindings, predictor: Predictor, curve: Curve) -> Chances:
        """All bindings through one call of the encoder."""
        vectors = predictor.vectors(bindings.steps())
        stated = predictor.stated(bindings)
        counts = np.bincount(stated[0], minlength=len(bindings))
        asked = bindings.patterns
        shift = curve.shift(predictor.relations(asked.relation), asked.asked, counts)
        return cls(predictor, curve, bindings, vectors, shift.to(vectors.device), stated)

    def blocks(self) -> Iterator[tuple[slice, slice, Tensor]]:
        """Ranges of bindings and of entities, and the chances, (bindings, entities)."""
        size = min(self.predictor.entity_count, max(1, SCORES // BINDINGS))
        at_once = max(1, SCORES // max(size, 1))
        for first in range(0, len(self.bindings), at_once):
            yield from self._blocks(slice(first, min(first + at_once, len(self.bindings))), size)

    def column(self, entity: int) -> Tensor:
        """The chances of one entity, (bindings,)."""
        return torch.cat(
            [
                block[:, entity - columns.start]
                for _, columns, block in self.blocks()
                if columns.start <= entity < columns.stop
            ]
        )

    def _blocks(self, chosen: slice, size: int) -> Iterator[tuple[slice, slice, Tensor]]:
        """The blocks of some bindings; unless one holds all entities, they are scored twice."""
        vectors, shift = self.vectors[chosen], self.shift[chosen]
        lost = vectors[:, 0].isnan()
        count = self.predictor.entity_count
        ranges = [slice(first, min(first + size, count)) for first in range(0, count, size)]
        totals = Totals()
        for columns in ranges:
            scores = self._scores(chosen, columns, vectors)
            totals.add(scores)
        for columns in ranges:
            if len(ranges) > 1:
                scores = self._scores(chosen, columns, vectors)
            self.curve.finish(scores, shift, totals)
            scores[lost] = 0
            scores[self._stated(chosen, columns)] = 1
            yield chosen, columns, scores

    def _scores(self, chosen: slice, columns: slice, vectors: Tensor) -> Tensor:
        scores = self.predictor.scores(vectors, columns)
        scores[self._stated(chosen, columns)] = -torch.inf
        self.curve.warm(scores)
        return scores

    def _stated(self, chosen: slice, columns: slice) -> tuple[Tensor, Tensor]:
        """What facts state, as places of a block."""
        binding, entity = self.stated
        first, last = np.searchsorted(binding, (chosen.start, chosen.stop))
        row, column = binding[first:last] - chosen.start, entity[first:last] - columns.start
        inside = (column >= 0) & (column < columns.stop - columns.start)
        return torch.from_numpy(row[inside]), torch.from_numpy(column[inside])


class HybridRun:
    """One run over a table of plans: `rows` are the steps' fuzzy sets, (steps, entities)."""

    def __init__(
        self,
        exact: StepSets,
        predictor: Predictor,
        curve: Curve,
        logic: Logic,
        options: HybridOptions,
    ) -> None:
        self.exact, self.table, self.predictor, self.curve = exact, exact.table, predictor, curve
        self.logic, self.norm, self.options = logic, norm_of(logic), options
        self.certain = certain_sets(exact, predictor.graph)
        steps, entities = self.table.step_count, predictor.entity_count
        self.rows = torch.zeros(steps, entities, device=predictor.device)
        with torch.no_grad():
            self._run()

    def targets(self) -> Tensor:
        """The rows of the answers, (plans, entities)."""
        return self.rows[torch.from_numpy(self.table.targets)]

    def bindings(self, steps: Integers) -> Bindings:
        """What some projections' inputs are bound to; the inputs must have been run."""
        options = self.options
        return choose_bindings(self.table, steps, self.rows, self.norm, options.beam, options.least)

    def _run(self) -> None:
        """All steps, the lowest depth first."""
        op = self.table.op
        for depth in range(self.table.depth_count):
            now = self.table.depth == depth
            self._project(np.flatnonzero(now & (op == Op.PROJECTION)))
            for step in np.flatnonzero(now & np.isin(op, (Op.AND, Op.OR, Op.NOT))).tolist():
                self._connect(step)
            for step in np.flatnonzero(now).tolist():
                self._settle(step)

    def _project(self, steps: Integers) -> None:
        if not len(steps):
            return
        bindings = self.bindings(steps)
        owner = np.repeat(steps, np.diff(bindings.start)).tolist()
        join = JOINS[self.options.join]
        weights = torch.from_numpy(bindings.weight).to(self.rows.device)
        chances = Chances.of(bindings, self.predictor, self.curve)
        for chosen, columns, block in chances.blocks():
            # One by one, as a binding's chances fit into the cache.
            for step, weight, chance in zip(owner[chosen], weights[chosen], block, strict=True):
                pair = torch.stack((weight.expand_as(chance), chance))[None]
                join(self.rows[step, columns], self.norm.conjoin(pair)[0])

    def _connect(self, step: int) -> None:
        inputs = self.table.children[step]
        # In double precision, as a logic may take small chances from 1.
        rows = self.rows[torch.from_numpy(inputs)][None].double()  # (1, inputs, entities)
        op = Op(self.table.op[step])
        self.rows[step] = connect(self.logic, op, rows)[0]

    def _settle(self, step: int) -> None:
        """Only what is certain is 1."""
        row, certain = self.rows[step], self.certain
        row.clamp_max_(MOST)
        if certain.inverted[step]:
            row.fill_(1)
        members = certain.members(np.array([step]))
        row[torch.from_numpy(members).to(row.device)] = 1


def split_plans(step_counts: Integers, entity_count: int) -> Iterator[slice]:
    """Ranges of plans with few enough steps that their rows fit into memory together."""
    most = max(1, ROWS // max(entity_count, 1))
    part = np.cumsum(step_counts) // most
    bounds = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(step_counts)]
    return (slice(first, last) for first, last in pairwise(bounds) if first < last)


def certain_sets(exact: StepSets, graph: Graph) -> StepSets:
    """What the facts give for certain, step by step.

    That something is not stated does not make its contrary certain, so a negation gives nothing.
    Only plans with a negation are run again; for all others the exact sets are certain.
    """
    table = exact.table
    negation = table.op == Op.NOT
    if not negation.any():
        return exact
    plans = np.unique(table.plan_of_step[negation])
    again = run_table(_without_negations(table.take(plans)), graph)
    sets = exact.sets()
    steps = ranges(table.plan_start[plans], table.step_counts[plans])
    for step, entities in zip(steps.tolist(), again.sets(), strict=True):
        sets[step] = entities
    return StepSets.of(table, sets)


def _without_negations(table: StepTable) -> StepTable:
    """The plans with every negation replaced by a disjunction of nothing: the empty set."""
    negation = table.op == Op.NOT
    negated = negation[table.parent] & (table.parent >= 0)
    return replace(
        table,
        op=np.where(negation, Op.OR, table.op),
        parent=np.where(negated, -1, table.parent),
    )

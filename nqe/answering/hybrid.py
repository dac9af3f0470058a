"""The hybrid runner: fuzzy sets over entities, from stated facts and a model's predictions.

Each step yields one row of probabilities over all entities: 1 for what the known facts make
certain, less for a prediction. A projection takes the most likely members of its inputs as
bindings, asks the facts and the model about each binding, and joins the results. All bindings of
one depth go through the encoder in one call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import assert_never

import numpy as np
import torch
from torch import Tensor

from nqe.answering.bindings import Bindings, choose_bindings
from nqe.answering.calibration import MAX_PREDICTED, Curve, SoftmaxTotals
from nqe.answering.predictor import Predictor
from nqe.errors import NqeError, choose
from nqe.graph.arrays import Integers
from nqe.graph.fact_source import FactSource
from nqe.graph.ragged import ranges
from nqe.model.fuzzy_logic import Logic, connect, norm_of
from nqe.query.exact_batch import StepSets, run_table
from nqe.query.plan import Op
from nqe.query.step_table import StepTable

MAX_SCORES = 2**22
"""At most this many scores exist at once."""
MIN_BINDINGS = 64
"""If not all entities fit into a block of scores, it has at least this many bindings."""
MAX_PROBABILITIES = 2**26
"""At most this many probabilities of steps exist at once."""


@dataclass(frozen=True)
class HybridOptions:
    """How the hybrid runner searches."""

    beam: int = 64
    """The number of bindings per projection that the model is asked about."""
    join: str = "noisy-or"
    """How the probabilities of an entity over all bindings are joined: noisy-or, or max."""
    least: float = 1e-4
    """Bindings with a lower probability are skipped."""

    def __post_init__(self) -> None:
        choose(JOINS, self.join, "join")
        if self.beam < 1:
            raise NqeError(f"the beam is {self.beam}; give 1 or more")
        if not 0 <= self.least <= 1:
            raise NqeError(f"the least probability is {self.least:g}; give one from 0 to 1")


def join_noisy_or(row: Tensor, more: Tensor) -> None:
    """Set `row` to 1 - (1 - row)(1 - more): at least one of two independent causes holds."""
    # This form keeps the precision of small probabilities.
    row.add_(more.mul_(1 - row))


def join_max(row: Tensor, more: Tensor) -> None:
    """Set `row` to the higher probability of the two."""
    torch.maximum(row, more, out=row)


JOINS: dict[str, Callable[[Tensor, Tensor], None]] = {"noisy-or": join_noisy_or, "max": join_max}


@dataclass(frozen=True, eq=False)
class BindingProbabilities:
    """The probabilities of all entities given each binding alone, from facts and the model."""

    predictor: Predictor
    curve: Curve
    bindings: Bindings
    vectors: Tensor  # (bindings, width)
    shift: Tensor  # (bindings,)
    stated: tuple[Integers, Integers]

    @classmethod
    def of(cls, bindings: Bindings, predictor: Predictor, curve: Curve) -> BindingProbabilities:
        """Encode all bindings in one call, and find what the facts state for them."""
        vectors = predictor.encode(bindings.to_plans())
        stated = predictor.find_stated(bindings)
        counts = np.bincount(stated[0], minlength=len(bindings))
        patterns = bindings.patterns
        relation = predictor.to_model_relations(patterns.relation)
        shift = curve.compute_shift(relation, patterns.asked, counts)
        return cls(predictor, curve, bindings, vectors, shift.to(vectors.device), stated)

    def blocks(self) -> Iterator[tuple[slice, slice, Tensor]]:
        """Yield a range of bindings, a range of entities, and their probabilities."""
        width = min(self.predictor.entity_count, max(1, MAX_SCORES // MIN_BINDINGS))
        height = max(1, MAX_SCORES // max(width, 1))
        for first in range(0, len(self.bindings), height):
            rows = slice(first, min(first + height, len(self.bindings)))
            yield from self._entity_blocks(rows, width)

    def column(self, entity: int) -> Tensor:
        """The probabilities of one entity, (bindings,)."""
        return torch.cat(
            [
                block[:, entity - columns.start]
                for _, columns, block in self.blocks()
                if columns.start <= entity < columns.stop
            ]
        )

    def _entity_blocks(self, rows: slice, width: int) -> Iterator[tuple[slice, slice, Tensor]]:
        """Yield the blocks of some bindings.

        With several blocks, every entity is scored twice: once for the softmax totals, and once
        for its probability.
        """
        vectors, shift = self.vectors[rows], self.shift[rows]
        unseen = vectors[:, 0].isnan()
        count = self.predictor.entity_count
        blocks = [slice(first, min(first + width, count)) for first in range(0, count, width)]
        totals = SoftmaxTotals()
        for columns in blocks:
            scores = self._score(rows, columns, vectors)
            totals.add(scores)
        for columns in blocks:
            if len(blocks) > 1:
                scores = self._score(rows, columns, vectors)
            self.curve.block_to_probabilities(scores, shift, totals)
            scores[unseen] = 0
            scores[self._locate_stated(rows, columns)] = 1
            yield rows, columns, scores

    def _score(self, rows: slice, columns: slice, vectors: Tensor) -> Tensor:
        scores = self.predictor.score(vectors, columns)
        scores[self._locate_stated(rows, columns)] = -torch.inf
        self.curve.divide_by_temperature(scores)
        return scores

    def _locate_stated(self, rows: slice, columns: slice) -> tuple[Tensor, Tensor]:
        """The rows and columns of a block at which facts state the entity."""
        binding, entity = self.stated
        first, last = np.searchsorted(binding, (rows.start, rows.stop))
        row, column = binding[first:last] - rows.start, entity[first:last] - columns.start
        inside = (column >= 0) & (column < columns.stop - columns.start)
        return torch.from_numpy(row[inside]), torch.from_numpy(column[inside])


class HybridRun:
    """One run over a table of plans; `rows` holds the fuzzy set of each step, (steps, entities)."""

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
        self.certain = find_certain_sets(exact, predictor.graph, predictor.max_bindings)
        steps, entities = self.table.step_count, predictor.entity_count
        self.rows = torch.zeros(steps, entities, device=predictor.device)
        with torch.no_grad():
            self._run()

    @property
    def target_rows(self) -> Tensor:
        """The fuzzy sets of the answers, (plans, entities)."""
        return self.rows[torch.from_numpy(self.table.targets)]

    def choose_bindings(self, steps: Integers) -> Bindings:
        """Choose the bindings of some projections, whose inputs must have been run."""
        options = self.options
        return choose_bindings(self.table, steps, self.rows, self.norm, options.beam, options.least)

    def _run(self) -> None:
        """Run all steps in order of depth, so that inputs come before the steps that use them."""
        is_projection = self.table.op == Op.PROJECTION
        for depth in range(self.table.depth_count):
            now = self.table.depth == depth
            self._project(np.flatnonzero(now & is_projection))
            for step in np.flatnonzero(now & ~is_projection).tolist():
                self._connect(step)
            for step in np.flatnonzero(now).tolist():
                self._set_certain(step)

    def _project(self, steps: Integers) -> None:
        if not len(steps):
            return
        bindings = self.choose_bindings(steps)
        owner = np.repeat(steps, np.diff(bindings.start)).tolist()
        join = JOINS[self.options.join]
        weights = torch.from_numpy(bindings.weight).to(self.rows.device)
        probabilities = BindingProbabilities.of(bindings, self.predictor, self.curve)
        for chosen, columns, block in probabilities.blocks():
            # One binding at a time, because its probabilities fit into the processor's cache.
            for step, weight, row in zip(owner[chosen], weights[chosen], block, strict=True):
                pair = torch.stack((weight.expand_as(row), row))[None]
                join(self.rows[step, columns], self.norm.conjoin(pair)[0])

    def _connect(self, step: int) -> None:
        """Run a connective on the rows of its inputs; an unknown operator raises ValueError."""
        op = Op(int(self.table.op[step]))
        match op:
            case Op.AND | Op.OR | Op.NOT:
                inputs = torch.from_numpy(self.table.children[step])
                # In double precision, because a logic may subtract small probabilities from 1.
                rows = self.rows[inputs][None].double()  # (1, inputs, entities)
                self.rows[step] = connect(self.logic, op, rows)[0]
            case Op.ANY:
                pass  # Every entity is certain; `_set_certain` fills the row.
            case Op.PROJECTION:
                raise ValueError("a projection is not a connective")
            case _:
                assert_never(op)

    def _set_certain(self, step: int) -> None:
        """Set the probability of what is certain to 1, and keep all others below 1."""
        row, certain = self.rows[step], self.certain
        row.clamp_max_(MAX_PREDICTED)
        if certain.inverted[step]:
            row.fill_(1)
        members = certain.members(np.array([step]))
        row[torch.from_numpy(members).to(row.device)] = 1


def split_plans(step_counts: Integers, entity_count: int) -> Iterator[slice]:
    """Split plans into ranges whose rows of probabilities fit into memory together."""
    most = max(1, MAX_PROBABILITIES // max(entity_count, 1))
    part = np.cumsum(step_counts) // most
    bounds = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(step_counts)]
    return (slice(first, last) for first, last in pairwise(bounds) if first < last)


def find_certain_sets(
    exact: StepSets, graph: FactSource, max_bindings: int | None = None
) -> StepSets:
    """Find the entities of each step that the facts make certain.

    A missing fact does not make its negation certain, so a negation contributes nothing. Only
    plans with a negation are run again; for all others the exact sets are certain.
    """
    table = exact.table
    negation = table.op == Op.NOT
    if not negation.any():
        return exact
    plans = np.unique(table.plan_of_step[negation])
    again = run_table(_empty_negations(table.take(plans)), graph, max_bindings)
    sets = exact.sets()
    steps = ranges(table.plan_start[plans], table.step_counts[plans])
    for step, entities in zip(steps.tolist(), again.sets(), strict=True):
        sets[step] = entities
    return StepSets.of(table, sets)


def _empty_negations(table: StepTable) -> StepTable:
    """Replace every negation by a disjunction without inputs, whose set is empty."""
    negation = table.op == Op.NOT
    negated = negation[table.parent] & (table.parent >= 0)
    return replace(
        table,
        op=np.where(negation, Op.OR, table.op),
        parent=np.where(negated, -1, table.parent),
    )

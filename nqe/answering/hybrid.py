"""The hybrid runner: fuzzy sets over entities, from stated facts and a model's predictions.

Each step yields a fuzzy set: entities with the probability 1 are certain by the known facts, all
others are predicted. A projection joins two kinds of ways to an answer: what the facts state about
any member of its inputs, and what the model predicts for the likeliest members, its bindings. A
way is as likely as its binding and its prediction together. All bindings of one depth go through
the encoder in one call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch

from nqe.answering.bindings import Bindings, choose_bindings
from nqe.answering.calibration import Curve
from nqe.answering.connectives import run_connectives
from nqe.answering.fact_ways import Ways, find_stated_ways
from nqe.answering.faint_members import FaintMembers
from nqe.answering.fuzzy_set import FuzzySet, FuzzySets
from nqe.answering.predictions import MAX_SCORES, Predictions
from nqe.answering.predictor import Predictor
from nqe.answering.probability import MAX_PREDICTED
from nqe.answering.question_curve import QuestionCurve, measure_parts
from nqe.errors import NqeError, choose
from nqe.graph.arrays import Integers
from nqe.model.fuzzy_logic import Logic, Product
from nqe.query.plan import Op
from nqe.query.step_table import StepTable

Floats = npt.NDArray[np.float64]

MAX_STEPS = 4_096
"""About this many steps are run at once."""
_SPARSE = 8
"""With fewer ways than entities divided by this, ways are sorted instead of scattered."""


@dataclass(frozen=True)
class HybridOptions:
    """How the hybrid runner searches."""

    beam: int = 32
    """The number of bindings per projection that the model is asked about."""
    join: str = "noisy-or"
    """How the probabilities of all ways to an entity are joined: noisy-or, or max."""
    asked: float = 1e-2
    """The model is not asked about bindings that are less likely."""
    least: float = 1e-3
    """A way that is less likely counts as impossible, unless it decides a rank; see
    `faint_members`."""
    search: str = "auto"
    """Where entities with a chance are looked for: among all (exact), or with an index of their
    vectors (index); auto uses an index beyond half a million entities."""

    def __post_init__(self) -> None:
        choose(JOINS, self.join, "join")
        choose(SEARCHES, self.search, "search")
        if self.beam < 1:
            raise NqeError(f"the beam is {self.beam}; give 1 or more")
        for name in ("asked", "least"):
            value = getattr(self, name)
            if not 0 < value <= 1:
                raise NqeError(f"the option {name} is {value:g}; give a number above 0, up to 1")


def join_noisy_or(keys: Integers, values: Floats, size: int) -> tuple[Integers, Floats]:
    """Join by 1 - Π(1 - p): at least one of several independent ways holds."""
    with np.errstate(divide="ignore"):
        logs = np.log1p(-values)
    if len(keys) * _SPARSE < size:
        found, place = np.unique(keys, return_inverse=True)
        return found, -np.expm1(np.bincount(place, logs, len(found)))
    sums = np.bincount(keys, logs, size)
    found = np.flatnonzero(sums)
    return found, -np.expm1(sums[found])


def join_max(keys: Integers, values: Floats, size: int) -> tuple[Integers, Floats]:
    """Join by the likeliest way alone."""
    if len(keys) * _SPARSE < size:
        found, place = np.unique(keys, return_inverse=True)
        best = torch.zeros(len(found), dtype=torch.float64)
    else:
        found, place = np.arange(size), keys
        best = torch.zeros(size, dtype=torch.float64)
    best.scatter_reduce_(0, torch.from_numpy(place), torch.from_numpy(values), "amax")
    values = best.numpy()
    possible = np.flatnonzero(values)
    return found[possible], values[possible]


Join = Callable[[Integers, Floats, int], tuple[Integers, Floats]]
JOINS: dict[str, Join] = {"noisy-or": join_noisy_or, "max": join_max}
"""Joins by name: of keys below a size, the distinct ones in order and their joined values."""
SEARCHES: dict[str, float] = {"auto": 500_000, "exact": np.inf, "index": 0}
"""Ways to search by name: an index is used for graphs with more entities than this."""


class HybridRun:
    """One run over a table of plans; `sets` holds the fuzzy set of each step."""

    def __init__(
        self,
        table: StepTable,
        predictor: Predictor,
        curve: Curve,
        questions: QuestionCurve,
        logic: Logic,
        options: HybridOptions,
    ) -> None:
        self.table, self.predictor = table, predictor
        self.curve, self.questions = curve, questions
        self.logic, self.options = logic, options
        self.sets = FuzzySets(table.step_count, predictor.entity_count)
        self._faint = FaintMembers(table, logic, JOINS[options.join])
        with torch.no_grad():
            self._run()

    @cached_property
    def joined(self) -> list[FuzzySet]:
        """The fuzzy sets of the target of each plan, as its steps give them."""
        return [self.sets[step] for step in self.table.targets.tolist()]

    @cached_property
    def parts(self) -> Floats:
        """What each plan is made of; see `measure_parts`."""
        return measure_parts(self.table, self.joined)

    @cached_property
    def targets(self) -> list[FuzzySet]:
        """The fuzzy sets of the answers of each plan, calibrated for the whole question."""
        pairs = zip(self.joined, self.parts, strict=True)
        return [self.questions.calibrate(*pair) for pair in pairs]

    def choose_bindings(self, steps: Integers) -> Bindings:
        """Choose the bindings of some projections that the model is asked about."""
        return choose_bindings(
            self.table,
            steps,
            self.sets,
            self.logic,
            self.options.beam,
            max(self.options.asked, self.options.least),
            self.predictor,
        )

    def find_stated_ways(self, steps: Integers) -> Ways:
        """Find all ways to an answer of some projections that the facts state."""
        return find_stated_ways(
            self.table, steps, self.sets, self.logic, self.predictor, self.options.least
        )

    def predict(self, bindings: Bindings) -> Predictions:
        """Ask the model about bindings."""
        with_index = self.predictor.entity_count > SEARCHES[self.options.search]
        return Predictions.of(bindings, self.predictor, self.curve, with_index=with_index)

    def _run(self) -> None:
        """Run all steps in order of depth, so that inputs come before the steps that use them."""
        is_projection = self.table.op == Op.PROJECTION
        for depth in range(self.table.depth_count):
            now = self.table.depth == depth
            self._project(np.flatnonzero(now & is_projection))
            others = np.flatnonzero(now & ~is_projection)
            run_connectives(self.table, others, self.sets, self.logic, self._faint)

    def _project(self, steps: Integers) -> None:
        if not len(steps):
            return
        stated = self.find_stated_ways(steps)
        bindings = self.choose_bindings(steps)
        predictions = self.predict(bindings)
        self._faint.keep(steps, predictions)
        parts = [
            self._join(part, stated, predictions)
            for part in _split(bindings.start, self.predictor.entity_count)
        ]
        owner, entities, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        self.sets.store(steps, owner, entities, values)

    def _join(
        self, part: slice, stated: Ways, predictions: Predictions
    ) -> tuple[Integers, Integers, Floats]:
        """Join all ways to the answers of a range of projections: projection, entity, value."""
        count, least = self.predictor.entity_count, self.options.least
        first, last = np.searchsorted(stated.projection, (part.start, part.stop))
        keys = [(stated.projection[first:last] - part.start) * count + stated.answer[first:last]]
        chances = [stated.value[first:last]]
        for key, chance in self._find_predicted_ways(part, predictions):
            keys.append(key)
            chances.append(chance)
        all_keys, values = np.concatenate(keys), np.concatenate(chances)
        size = (part.stop - part.start) * count
        found, joined = JOINS[self.options.join](all_keys, values, size)
        certain = all_keys[values == 1]
        joined = np.minimum(joined, MAX_PREDICTED)
        joined[found.searchsorted(certain)] = 1
        kept = joined >= least
        owner, entities = np.divmod(found[kept], count)
        return owner + part.start, entities, joined[kept]

    def _find_predicted_ways(
        self, part: slice, predictions: Predictions
    ) -> Iterator[tuple[Integers, Floats]]:
        bindings, least = predictions.bindings, self.options.least
        first, last = int(bindings.start[part.start]), int(bindings.start[part.stop])
        weight, owner = bindings.weight, bindings.owner - part.start
        # A conjunction is no likelier than each part; the product says more.
        bound = np.full(last - first, least)
        if isinstance(self.logic, Product):
            bound = np.minimum(least / weight[first:last], 1.0)
        for found in predictions.find_likely(first, last, bound):
            pairs = np.stack((weight[found.binding], found.probability), axis=1)
            chance = self.logic.conjoin(torch.from_numpy(pairs)[..., None])[:, 0].numpy()
            kept = chance >= least
            key = owner[found.binding] * self.predictor.entity_count + found.entity
            yield key[kept], chance[kept]


def _split(start: Integers, entity_count: int) -> list[slice]:
    """Split projections into ranges of which the scores fit into memory together."""
    height = max(1, MAX_SCORES // max(entity_count, 1))
    parts: list[slice] = []
    first = 0
    while first < len(start) - 1:
        last = int(np.searchsorted(start, start[first] + height, side="right")) - 1
        last = min(max(last, first + 1), first + height, len(start) - 1)
        parts.append(slice(first, last))
        first = last
    return parts


def split_plans(step_counts: Integers) -> Iterator[slice]:
    """Split plans into ranges of about as many steps as are run at once."""
    part = np.cumsum(step_counts) // MAX_STEPS
    bounds = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(step_counts)]
    return (slice(first, last) for first, last in pairwise(bounds) if first < last)

"""Calibration of whole questions: what the joined probability of several steps is worth.

A probability that was joined over many ways, multiplied over conjunctions or taken from 1 is
rarely what it claims, because its parts are not independent. Its log odds z are therefore moved
by two straight lines that meet at z = 0, whose slopes and height depend on what the question is
made of:

    z' = z + Σ part · (slope · z + bend · max(z, 0) + height)

The slopes stay positive, so that the order of the answers stays as it is. With more facts missing
than when the curve was fitted, more of what is joined is right; how much more was fitted as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from nqe.answering.fuzzy_set import FuzzySet
from nqe.answering.probability import to_logit, to_probability
from nqe.graph.arrays import Booleans, Integers
from nqe.query.plan import Op
from nqe.query.step_table import StepTable

Floats = npt.NDArray[np.float64]

PARTS = (
    *("question", "joined", "hops", "more_hops", "several", "more_several"),
    *("and", "inner_and", "or", "inner_or", "not", "inner_not"),
    *("stated", "expected"),
)
"""What a question may be made of; see `measure_parts`."""
JOINED = "joined"
NONE, GAINS = (0.0,) * len(PARTS), (0.0, 0.0)
MIN_SLOPE = 0.1
_LOGS = 5.0
"""Logs of counts are divided by this, so that all parts are of about the same size."""


@dataclass(frozen=True)
class QuestionCurve:
    """Coefficients for each of `PARTS`."""

    slopes: tuple[float, ...] = NONE
    bends: tuple[float, ...] = NONE
    heights: tuple[float, ...] = NONE
    missing: tuple[float, ...] = GAINS
    """What the slope and the height of `joined` gain when e times as many facts are missing."""

    def __post_init__(self) -> None:
        for field in fields(self):
            values = getattr(self, field.name)
            wanted = len(GAINS if field.name == "missing" else PARTS)
            if len(values) != wanted:
                raise ValueError(f"{len(values)} {field.name} instead of {wanted}")
            if not np.isfinite(values).all():
                raise ValueError("a coefficient is not a finite number")

    def move(self, times: float) -> QuestionCurve:
        """The curve for when `times` as many facts are missing as when it was fitted."""
        slope, height = (gain * math.log(times) for gain in self.missing)
        return replace(self, slopes=_add(self.slopes, slope), heights=_add(self.heights, height))

    def calibrate(self, target: FuzzySet, parts: Floats) -> FuzzySet:
        """Calibrate the answers of a question made of some parts; what is certain stays so."""
        if self == UNMOVED:
            return target
        slope = max(1 + float(parts @ self.slopes), MIN_SLOPE)
        bend = max(float(parts @ self.bends), MIN_SLOPE - slope)
        both = np.append(target.values, target.rest)
        logits = to_logit(both)
        moved = slope * logits + bend * np.maximum(logits, 0) + float(parts @ self.heights)
        both = np.where((both == 0) | (both == 1), both, to_probability(moved))
        return FuzzySet(target.entities, both[:-1], float(both[-1]))

    def to_json(self) -> dict[str, Any]:
        """Return the coefficients as JSON data."""
        return {field.name: list(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Build a curve from JSON data; raises ValueError, KeyError or TypeError if it is wrong."""
        return cls(*(tuple(map(float, data[field.name])) for field in fields(cls)))


def _add(values: tuple[float, ...], gain: float) -> tuple[float, ...]:
    """Coefficients of parts, with a gain added to that of `joined`."""
    return tuple(v + gain * (part == JOINED) for v, part in zip(values, PARTS, strict=True))


UNMOVED = QuestionCurve()
"""The curve before any fit, which leaves all probabilities as they are."""


def measure_parts(table: StepTable, targets: Sequence[FuzzySet]) -> Floats:
    """Measure what each plan of a table is made of, (plans, parts).

    The parts are: that it is a question; whether it joins several steps; whether the longest way
    has two projections, and how many more; whether a projection takes two variables, and how many
    more; whether there is an and, an or and a not, each at the top and below a projection; the log
    of the number of certain answers, and of how many others are expected. A plan of a single
    projection has the first alone.
    """
    hops = _count_hops(table)[table.targets]
    taken = np.where(table.op == Op.PROJECTION, table.children.lengths - _count_any(table), 0)
    most = np.zeros(len(table), dtype=np.int64)
    np.maximum.at(most, table.plan_of_step, taken)
    below = table.has_above(table.op == Op.PROJECTION)
    connectives = [table.op == op for op in (Op.AND, Op.OR, Op.NOT)]
    known = [int((one.values == 1).sum()) for one in targets]
    expected = [float(one.values[one.values < 1].sum()) for one in targets]
    columns = [
        np.ones(len(table)),
        np.zeros(len(table)),  # filled in below
        hops >= 2,
        np.maximum(hops - 2, 0),
        most >= 2,
        np.maximum(most - 2, 0),
        *(_has(table, one & way) for one in connectives for way in (~below, below)),
        np.log1p(known) / _LOGS,
        np.log1p(expected) / _LOGS,
    ]
    parts = np.stack(columns, axis=1).astype(np.float64)
    is_joined = parts[:, 2:-2].any(axis=1)
    parts[:, PARTS.index(JOINED)] = is_joined
    parts[~is_joined, 1:] = 0
    return parts


def _has(table: StepTable, chosen: Booleans) -> Booleans:
    """Whether each plan has a chosen step."""
    found: Booleans = np.bincount(table.plan_of_step[chosen], minlength=len(table)) > 0
    return found


def _count_hops(table: StepTable) -> Integers:
    """The most projections on a way from each step down to an anchor, the step itself included."""
    hops = (table.op == Op.PROJECTION).astype(np.int64)
    for depth in range(1, table.depth_count):
        children = table.children.take(np.flatnonzero(table.depth == depth))
        below = np.zeros(len(children), dtype=np.int64)
        np.maximum.at(below, children.owner, hops[children.values])
        hops[table.depth == depth] += below
    found: Integers = hops
    return found


def _count_any(table: StepTable) -> Integers:
    """The number of inputs Any of each step."""
    parent = table.parent[(table.op == Op.ANY) & (table.parent >= 0)]
    counts: Integers = np.bincount(parent, minlength=table.step_count)
    return counts

"""Calibration: turn a model's scores into probabilities that an entity is an answer.

A softmax ranks the entities, but it adds up to 1 whether a query has a hundred answers or none.
A calibration estimates the probability that an entity is an answer. For an entity that the known
facts do not state, with a softmax over all entities:

    logit p = bend(logit softmax(score / temperature)) + cardinality · log n
              + stated · log(1 + answers stated) + nothing [no answer is stated]
              + elsewhere [the entity never stood in that slot of the relation] + own

As many facts are taken to be missing as were held out when the curve was fitted, in proportion to
those known. Where another number is known to be missing, the odds are multiplied by how many
times as many that is.

Here `bend` is a rising line of straight pieces, n is the mean number of answers that training
queries with the same relation and slot have, and `own` is an offset of that relation and slot,
shrunk towards 0 where there is little data.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from nqe.answering.joining import JoinWeights
from nqe.answering.probability import MAX_PREDICTED, to_logit, to_probability
from nqe.answering.question_curve import UNMOVED, QuestionCurve
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.fact_columns import Facts
from nqe.graph.fact_source import FactSource
from nqe.graph.pattern import FIRST_QUALIFIER
from nqe.sampling.one_hop import make_closed_queries

Floats = npt.NDArray[np.float64]
Table = npt.NDArray[np.float32]

SLOT_KINDS = 3
"""Slots are distinguished as subject, object and qualifier value."""
_LISTS, _TABLES = ("knots", "heights"), ("answers", "own")
_CURVES = ("facts", "alone", "facts_questions", "alone_questions")


@dataclass(frozen=True, eq=False)
class Curve:
    """The coefficients of the formula that turns scores into probabilities."""

    temperature: float
    knots: tuple[float, ...]
    """Where the pieces of `bend` meet, ascending; beyond the ends the last piece goes on."""
    heights: tuple[float, ...]
    """The value of `bend` at each knot, ascending."""
    cardinality: float
    stated: float
    nothing: float
    elsewhere: float
    answers: Table  # (relations, 3) mean number of answers per relation and slot
    own: Table  # (relations, 3) the offset of each relation and slot

    def __post_init__(self) -> None:
        numbers = (getattr(self, field.name) for field in fields(self))
        if not all(np.isfinite(number).all() for number in numbers):
            raise ValueError("a coefficient is not a finite number")
        if self.answers.shape != self.own.shape or self.own.shape[1:] != (SLOT_KINDS,):
            raise ValueError(f"tables of shape {self.answers.shape} and {self.own.shape}")
        if self.temperature <= 0 or self.answers.min(initial=1) <= 0:
            raise ValueError("the temperature or a mean number of answers is not above 0")
        if len(self.knots) < 2 or len(self.knots) != len(self.heights):
            raise ValueError(f"{len(self.knots)} knots and {len(self.heights)} heights")
        if min(np.diff(self.knots).min(), np.diff(self.heights).min()) <= 0:
            raise ValueError("the knots or their heights do not ascend")

    def move(self, offset: float) -> Curve:
        """The curve with an offset added to all logits."""
        return replace(self, heights=tuple(height + offset for height in self.heights))

    def bend(self, logits: Floats) -> Floats:
        """The rising line through the knots."""
        return _interpolate(logits, self.knots, self.heights)

    def unbend(self, values: Floats) -> Floats:
        """The logits that `bend` maps to the given values."""
        return _interpolate(values, self.heights, self.knots)

    def compute_shift(self, relation: Integers, slot: Integers, stated: Integers) -> Floats:
        """Compute the part of the logit that depends on the projection alone, (projections,).

        `stated` is the number of answers that the known facts state.
        """
        kind = np.minimum(slot, FIRST_QUALIFIER)
        answers, own = self.answers[relation, kind], self.own[relation, kind]
        known = self.stated * np.log1p(stated) + self.nothing * (stated == 0)
        shift: Floats = self.cardinality * np.log(answers.astype(np.float64)) + known + own
        return shift

    def to_probabilities(self, logs: Floats, shift: Floats, elsewhere: Booleans) -> Floats:
        """Turn logs of softmax values into probabilities, each with its projection's shift."""
        logits = logs - np.log1p(-np.minimum(np.exp(logs), MAX_PREDICTED))
        return to_probability(self.bend(logits) + shift + self.elsewhere * elsewhere)

    def find_least_logs(self, probability: Floats, shift: Floats) -> Floats:
        """The least log of a softmax value with which an entity may have a probability."""
        needed = to_logit(probability) - shift - max(self.elsewhere, 0.0)
        return -np.log1p(np.exp(-np.clip(self.unbend(needed), -700, 700)))

    def to_json(self) -> dict[str, Any]:
        """Return the coefficients as JSON data."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in values.items()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Build a curve from JSON data; raises ValueError, KeyError or TypeError if it is wrong."""
        tables: dict[str, Any] = {name: _to_table(data[name]) for name in _TABLES}
        lists: dict[str, Any] = {name: tuple(map(float, data[name])) for name in _LISTS}
        numbers: dict[str, Any] = {
            name: float(value) for name, value in data.items() if name not in (*_TABLES, *_LISTS)
        }
        return cls(**numbers, **lists, **tables)


def _interpolate(at: Floats, knots: tuple[float, ...], heights: tuple[float, ...]) -> Floats:
    """A line of straight pieces, whose first and last pieces go on for ever."""
    x, y = np.array(knots), np.array(heights)
    piece = np.clip(np.searchsorted(x, at) - 1, 0, len(x) - 2)
    slope = np.diff(y) / np.diff(x)
    values: Floats = y[piece] + slope[piece] * (at - x[piece])
    return values


def _to_table(rows: Any) -> Table:
    with np.errstate(over="ignore"):  # a number too large for this type becomes ∞
        return np.array(rows, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Calibration:
    """Curves of one-hop and of whole questions, for when facts are known and when none are."""

    kind: ClassVar[str] = "bent"
    """The kind that its file names; see `calibration_storage`."""

    facts: Curve
    """For entities that the known facts do not state."""
    alone: Curve
    """For when no facts are known."""
    facts_questions: QuestionCurve = UNMOVED
    """For whole questions, when facts are known."""
    alone_questions: QuestionCurve = UNMOVED
    """For whole questions, when no facts are known."""
    missing: float = 1.0
    """How many facts were held out for each known one when the curves were fitted."""
    join: JoinWeights | None = None
    """The weights of rules beside the model; None if it was fitted without rules."""
    rules: str | None = None
    """The digest of the rules that it was fitted with."""

    def __post_init__(self) -> None:
        if not 0 < self.missing < np.inf:
            raise ValueError(f"{self.missing:g} facts held out for each known one")

    @classmethod
    def plain(cls, answers: Table, temperature: float = 1.0) -> Calibration:
        """Create the calibration before any fit: softmax odds times the mean answer count."""
        curve = Curve(
            temperature,
            (-1.0, 1.0),
            (-1.0, 1.0),
            1.0,
            0.0,
            0.0,
            0.0,
            answers,
            np.zeros_like(answers),
        )
        return cls(curve, curve)

    def curve(self, graph: FactSource, missing: float | None = None) -> Curve:
        """The curve to use with these known facts, for each of which some are missing.

        With None, as many are taken to be missing as when it was fitted.
        """
        if not len(graph):
            return self.alone
        return self.facts if missing is None else self.facts.move(np.log(missing / self.missing))

    def question_curve(self, graph: FactSource, missing: float | None = None) -> QuestionCurve:
        """The curve of whole questions to use with these known facts; see `curve`."""
        if not len(graph):
            return self.alone_questions
        curve = self.facts_questions
        return curve if missing is None else curve.move(missing / self.missing)

    def to_json(self) -> dict[str, Any]:
        """Return the curves as JSON data."""
        curves = {name: getattr(self, name).to_json() for name in _CURVES}
        join = None if self.join is None else self.join.to_json()
        return {**curves, "missing": self.missing, "join": join, "rules": self.rules}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Build a calibration from JSON data."""
        return cls(
            Curve.from_json(data["facts"]),
            Curve.from_json(data["alone"]),
            QuestionCurve.from_json(data["facts_questions"]),
            QuestionCurve.from_json(data["alone_questions"]),
            float(data["missing"]),
            None if data["join"] is None else JoinWeights.from_json(data["join"]),
            data["rules"],
        )


def compute_mean_answers(facts: Facts, relation_count: int) -> Table:
    """Compute the mean number of answers of closed one-hop queries, (relations, slot kinds).

    A relation and slot without queries gets the overall mean; every mean is at least 1.
    """
    table = make_closed_queries(facts)
    relation, kind = table.plans.relation, np.minimum(table.plans.asked, FIRST_QUALIFIER)
    place = relation * SLOT_KINDS + kind
    size = relation_count * SLOT_KINDS
    total = np.bincount(place, table.easy.lengths, minlength=size)
    count = np.bincount(place, minlength=size)
    overall = total.sum() / max(count.sum(), 1)
    mean = np.where(count > 0, total / np.maximum(count, 1), max(overall, 1.0))
    return np.maximum(mean, 1.0).astype(np.float32).reshape(relation_count, SLOT_KINDS)

"""Calibration: turn a model's scores into probabilities that an entity is an answer.

A softmax ranks the entities, but it adds up to 1 whether a query has a hundred answers or none.
A calibration estimates the probability that an entity is an answer. For an entity that the known
facts do not state, with a softmax over all entities that they do not state:

    logit p = slope · logit softmax(score / temperature) + cardinality · log n
              + stated · log(1 + answers stated) + offset + own

where n is the mean number of answers that training queries with the same relation and slot have,
and `own` is an offset of that relation and slot, shrunk towards 0 where there is little data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nqe.graph.arrays import Integers
from nqe.graph.fact_columns import Facts
from nqe.graph.fact_source import FactSource
from nqe.graph.pattern import FIRST_QUALIFIER
from nqe.graph.ragged import Ragged
from nqe.model.log_sum import LogSum
from nqe.sampling.one_hop import make_closed_queries
from nqe.sampling.query_table import QueryTable

Floats = npt.NDArray[np.float32]

MAX_PREDICTED = 1 - 1e-4
"""The highest probability of a prediction; only stated facts are certain."""
_LARGE = math.log(1e-4)
SLOT_KINDS = 3
"""Slots are distinguished as subject, object and qualifier value."""


@dataclass(frozen=True, eq=False)
class Curve:
    """The coefficients of the logistic formula that turns scores into probabilities."""

    temperature: float
    slope: float
    cardinality: float
    stated: float
    offset: float
    answers: Floats  # (relations, 3) mean number of answers per relation and slot
    own: Floats  # (relations, 3) the offset of each relation and slot

    def __post_init__(self) -> None:
        numbers = (getattr(self, field.name) for field in fields(self))
        if not all(np.isfinite(number).all() for number in numbers):
            raise ValueError("a coefficient is not a finite number")
        if self.answers.shape != self.own.shape or self.own.shape[1:] != (SLOT_KINDS,):
            raise ValueError(f"tables of shape {self.answers.shape} and {self.own.shape}")
        if self.temperature <= 0 or self.answers.min(initial=1) <= 0:
            raise ValueError("the temperature or a mean number of answers is not above 0")

    def compute_shift(self, relation: Integers, slot: Integers, stated: Integers) -> Tensor:
        """Compute the part of the logit that does not depend on the score, (projections,).

        `stated` is the number of answers that the known facts state.
        """
        kind = np.minimum(slot, FIRST_QUALIFIER)
        answers, own = self.answers[relation, kind], self.own[relation, kind]
        known = self.stated * np.log1p(stated)
        shift = self.cardinality * np.log(answers) + known + self.offset + own
        return torch.from_numpy(shift.astype(np.float32))

    def compute_query_shift(self, queries: QueryTable, stated: Ragged) -> Tensor:
        """Compute the shift of one-hop queries, given the stated answers of each query."""
        plans, targets = queries.plans, queries.plans.targets
        return self.compute_shift(plans.relation[targets], plans.asked[targets], stated.lengths)

    def to_probabilities(self, scores: Tensor, shift: Tensor) -> None:
        """Turn scores of all entities, (projections, entities), into probabilities, in place.

        Stated entities must have the score -∞.
        """
        self.divide_by_temperature(scores)
        totals = SoftmaxTotals()
        totals.add(scores)
        self.block_to_probabilities(scores, shift, totals)

    def divide_by_temperature(self, scores: Tensor) -> None:
        """Divide scores by the temperature, in place."""
        if self.temperature != 1:
            scores.div_(self.temperature)

    def block_to_probabilities(self, scores: Tensor, shift: Tensor, totals: SoftmaxTotals) -> None:
        """Turn the scores of a block of entities into probabilities, in place.

        The scores must have been divided by the temperature.
        """
        totals.to_logits(scores)
        scores.mul_(self.slope).add_(shift[:, None].to(scores.dtype))
        scores.sigmoid_().clamp_max_(MAX_PREDICTED)

    def to_json(self) -> dict[str, Any]:
        """Return the coefficients as JSON data."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in values.items()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Build a curve from JSON data; raises ValueError, KeyError or TypeError if it is wrong."""
        tables: dict[str, Any] = {name: _to_table(data[name]) for name in ("answers", "own")}
        numbers: dict[str, Any] = {
            name: float(value) for name, value in data.items() if name not in tables
        }
        return cls(**numbers, **tables)


def _to_table(rows: Any) -> Floats:
    with np.errstate(over="ignore"):  # a number too large for this type becomes ∞
        return np.array(rows, dtype=np.float32)


class SoftmaxTotals:
    """The denominators of a softmax over all entities, accumulated block by block."""

    def __init__(self) -> None:
        self._log_sum = LogSum()

    def add(self, scores: Tensor) -> None:
        """Add the scores of a block of entities, (rows, entities)."""
        self._log_sum.add(scores)

    def to_logits(self, scores: Tensor) -> None:
        """Turn the scores of a block into logits of their softmax over all entities, in place."""
        total = self._log_sum.total.clamp_min(torch.finfo(scores.dtype).min)
        scores.sub_(total[:, None])
        # For a small probability p, log p is close enough to its logit; only the few large ones
        # need the exact value, log p - log(1 - p).
        rows = (scores.amax(1) > _LARGE).nonzero()[:, 0]
        place, column = (scores[rows] > _LARGE).nonzero(as_tuple=True)
        large = rows[place], column
        logs = scores[large]
        scores[large] = logs - torch.log1p(-logs.exp().clamp_max(MAX_PREDICTED))


@dataclass(frozen=True, eq=False)
class Calibration:
    """A logistic calibration: one curve for when facts are known, and one for when none are."""

    kind: ClassVar[str] = "logistic"
    """The kind that its file names; see `calibration_storage`."""

    facts: Curve
    """For entities that the known facts do not state."""
    alone: Curve
    """For when no facts are known."""

    @classmethod
    def plain(cls, answers: Floats) -> Calibration:
        """Create the calibration before any fit: softmax odds times the mean answer count."""
        curve = Curve(1.0, 1.0, 1.0, 0.0, 0.0, answers, np.zeros_like(answers))
        return cls(curve, curve)

    def curve(self, graph: FactSource) -> Curve:
        """The curve to use with these known facts."""
        return self.facts if len(graph) else self.alone

    def to_json(self) -> dict[str, Any]:
        """Return the curves as JSON data."""
        return {"facts": self.facts.to_json(), "alone": self.alone.to_json()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Build a calibration from JSON data."""
        return cls(Curve.from_json(data["facts"]), Curve.from_json(data["alone"]))


def compute_mean_answers(facts: Facts, relation_count: int) -> Floats:
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

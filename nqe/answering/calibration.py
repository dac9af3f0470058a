"""Calibration: from a model's scores to probabilities that mean something.

A softmax says which entity is the likeliest answer; it adds up to 1 whether a query has a
hundred answers or none. A probability here is the chance that an entity is an answer. For one
that the known facts do not state, with a softmax over all those that they do not state:

    logit p = slope · logit softmax(score / temperature) + cardinality · log n
              + stated · log(1 + answers stated) + offset + own

where n is the mean number of answers that queries of the relation and slot have in training,
and `own` is what is left for that relation and slot, drawn towards 0 where little is known.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nqe.errors import StorageError
from nqe.files import new_file
from nqe.graph.arrays import Integers
from nqe.graph.fact_columns import Facts
from nqe.graph.graph import Graph
from nqe.graph.pattern import FIRST_QUALIFIER
from nqe.graph.ragged import Ragged
from nqe.model.log_sum import LogSum
from nqe.sampling.one_hop import closed_queries
from nqe.sampling.query_table import QueryTable

Floats = npt.NDArray[np.float32]

FILE = "calibration.json"
MOST = 1 - 1e-4
"""No prediction is more certain than this; a stated fact is."""
_LARGE = math.log(1e-4)
KINDS = 3
"""Slots are told apart as subject, object and value."""


@dataclass(frozen=True, eq=False)
class Curve:
    """How scores become probabilities."""

    temperature: float
    slope: float
    cardinality: float
    stated: float
    offset: float
    answers: Floats  # (relations, 3) mean number of answers by relation and slot
    own: Floats  # (relations, 3)

    def shift(self, relation: Integers, slot: Integers, stated: Integers) -> Tensor:
        """What is added to the slope's part of the logit, (projections,).

        `stated` is the number of answers that facts state.
        """
        kind = np.minimum(slot, FIRST_QUALIFIER)
        answers, own = self.answers[relation, kind], self.own[relation, kind]
        known = self.stated * np.log1p(stated)
        shift = self.cardinality * np.log(answers) + known + self.offset + own
        return torch.from_numpy(shift.astype(np.float32))

    def of_queries(self, queries: QueryTable, stated: Ragged) -> Tensor:
        """The shift of one-hop queries, with what is stated of each."""
        plans, targets = queries.plans, queries.plans.targets
        return self.shift(plans.relation[targets], plans.asked[targets], stated.lengths)

    def to_probabilities(self, scores: Tensor, shift: Tensor) -> None:
        """Turn scores of all entities, (projections, entities), into probabilities, in place.

        What is stated must have the score -∞.
        """
        self.warm(scores)
        totals = Totals()
        totals.add(scores)
        self.finish(scores, shift, totals)

    def warm(self, scores: Tensor) -> None:
        """Divide scores by the temperature, in place."""
        if self.temperature != 1:
            scores.div_(self.temperature)

    def finish(self, scores: Tensor, shift: Tensor, totals: Totals) -> None:
        """Turn the warm scores of a block of entities into probabilities, in place."""
        totals.to_logits(scores)
        scores.mul_(self.slope).add_(shift[:, None].to(scores.dtype))
        scores.sigmoid_().clamp_max_(MOST)


class Totals:
    """The log-sums of a softmax over all entities, added up block by block."""

    def __init__(self) -> None:
        self._log_sum = LogSum()

    def add(self, scores: Tensor) -> None:
        """Add the scores of a block of entities, (rows, entities)."""
        self._log_sum.add(scores)

    def to_logits(self, scores: Tensor) -> None:
        """Turn the scores of a block into logits of their softmax over all entities, in place."""
        total = self._log_sum.total.clamp_min(torch.finfo(scores.dtype).min)
        scores.sub_(total[:, None])
        # A logit is the log of its probability, but for large ones, of which there are few.
        rows = (scores.amax(1) > _LARGE).nonzero()[:, 0]
        place, column = (scores[rows] > _LARGE).nonzero(as_tuple=True)
        large = rows[place], column
        logs = scores[large]
        scores[large] = logs - torch.log1p(-logs.exp().clamp_max(MOST))


@dataclass(frozen=True, eq=False)
class Calibration:
    """Two curves: of what known facts do not state, and for when no facts are known at all."""

    facts: Curve
    alone: Curve

    @classmethod
    def plain(cls, answers: Floats) -> Calibration:
        """Before any fit: the softmax times the mean number of answers."""
        curve = Curve(1.0, 1.0, 1.0, 0.0, 0.0, answers, np.zeros_like(answers))
        return cls(curve, curve)

    def curve(self, graph: Graph) -> Curve:
        """The one for these known facts."""
        return self.facts if len(graph) else self.alone

    def save(self, folder: Path) -> None:
        """Write it into a checkpoint."""
        data = {one.name: _to_json(getattr(self, one.name)) for one in fields(self)}
        with new_file(folder / FILE) as temporary:
            temporary.write_text(json.dumps(data) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Calibration | None:
        """That of a checkpoint, if it has one."""
        path = folder / FILE
        if not path.is_file():
            return None
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            return cls(**{one.name: _of_json(data[one.name]) for one in fields(cls)})
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StorageError(f"{path}: damaged ({error}); calibrate the model again") from error


def _to_json(curve: Curve) -> dict[str, Any]:
    values = {one.name: getattr(curve, one.name) for one in fields(curve)}
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in values.items()}


def _of_json(data: dict[str, Any]) -> Curve:
    tables: dict[str, Any] = {
        name: np.array(data[name], dtype=np.float32) for name in ("answers", "own")
    }
    values: dict[str, Any] = {name: float(one) for name, one in data.items() if name not in tables}
    curve = Curve(**values, **tables)
    if curve.answers.shape != curve.own.shape or curve.own.shape[1:] != (KINDS,):
        raise ValueError(f"tables of {curve.answers.shape} and {curve.own.shape}")
    return curve


def mean_answers(facts: Facts, relation_count: int) -> Floats:
    """The mean number of answers of closed one-hop queries by relation and slot, at least 1."""
    table = closed_queries(facts)
    relation, kind = table.plans.relation, np.minimum(table.plans.asked, FIRST_QUALIFIER)
    place = relation * KINDS + kind
    size = relation_count * KINDS
    total = np.bincount(place, table.easy.lengths, minlength=size)
    count = np.bincount(place, minlength=size)
    overall = total.sum() / max(count.sum(), 1)
    mean = np.where(count > 0, total / np.maximum(count, 1), max(overall, 1.0))
    return np.maximum(mean, 1.0).astype(np.float32).reshape(relation_count, KINDS)

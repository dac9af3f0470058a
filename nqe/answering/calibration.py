"""Calibration: from a model's scores to probabilities that mean something.

A softmax says which entity is the likeliest answer; it adds up to 1 whether a query has a
hundred answers or none. A probability here is the chance that an entity is an answer:

    logit p = slope · logit softmax(score / temperature) + cardinality · log n + offset + own

where n is the mean number of answers that queries of the relation and slot have in training,
and `own` is what is left for that relation and slot, drawn towards 0 where little is known.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nqe.errors import StorageError
from nqe.files import new_file
from nqe.graph.facts import Facts, Integers
from nqe.graph.pattern import FIRST_QUALIFIER
from nqe.query.plan import STEP
from nqe.sampling.one_hop import closed_queries
from nqe.sampling.table import QueryTable

Floats = npt.NDArray[np.float32]

FILE = "calibration.json"
MOST = 1 - 1e-4
"""No prediction is more certain than this; a stated fact is."""
_LARGE = 4
KINDS = 3
"""Slots are told apart as subject, object and value."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """How scores become probabilities."""

    temperature: float
    slope: float
    cardinality: float
    offset: float
    answers: Floats  # (relations, 3) mean number of answers by relation and slot
    own: Floats  # (relations, 3)

    @classmethod
    def plain(cls, answers: Floats) -> Calibration:
        """Before any fit: the softmax times the mean number of answers."""
        return cls(1.0, 1.0, 1.0, 0.0, answers, np.zeros_like(answers))

    def shift(self, relation: Integers, slot: Integers) -> Tensor:
        """What is added to the slope's part of the logit, (projections,)."""
        kind = np.minimum(slot, FIRST_QUALIFIER)
        answers, own = self.answers[relation, kind], self.own[relation, kind]
        return torch.from_numpy(self.cardinality * np.log(answers) + self.offset + own)

    def of_queries(self, queries: QueryTable) -> Tensor:
        """The shift of one-hop queries."""
        steps = queries.steps.values[queries.steps.offset[:-1]]
        return self.shift(steps[:, STEP.RELATION], steps[:, STEP.ASKED])

    def to_probabilities(self, scores: Tensor, shift: Tensor) -> None:
        """Turn scores of all entities, (projections, entities), into probabilities, in place."""
        if self.temperature != 1:
            scores.div_(self.temperature)
        scores.sub_(scores.logsumexp(1, keepdim=True))
        _to_logits(scores)
        scores.mul_(self.slope).add_(shift[:, None].to(scores.dtype))
        scores.sigmoid_().clamp_max_(MOST)

    def save(self, folder: Path) -> None:
        """Write it into a checkpoint."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        data = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in values.items()}
        with new_file(folder / FILE) as temporary:
            temporary.write_text(json.dumps(data) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Calibration | None:
        """That of a checkpoint, if it has one."""
        path = folder / FILE
        if not path.is_file():
            return None
        try:
            data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            for name in ("answers", "own"):
                data[name] = np.array(data[name], dtype=np.float32)
            return cls(**data)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StorageError(f"{path}: damaged ({error}); calibrate the model again") from error


def _to_logits(scores: Tensor) -> None:
    """Turn logs of probabilities that add up to 1, row by row, into logits, in place.

    Both are the same but for large probabilities, of which there are few.
    """
    best = scores.topk(min(_LARGE, scores.shape[1]), 1)
    others = torch.log1p(-best.values.exp().clamp_max(MOST))
    scores.scatter_(1, best.indices, best.values - others)


def mean_answers(facts: Facts, relation_count: int) -> Floats:
    """The mean number of answers of closed one-hop queries by relation and slot, at least 1."""
    table = closed_queries(facts)
    steps = table.steps.values
    relation, kind = steps[:, STEP.RELATION], np.minimum(steps[:, STEP.ASKED], FIRST_QUALIFIER)
    place = relation * KINDS + kind
    size = relation_count * KINDS
    total = np.bincount(place, table.easy.lengths, minlength=size)
    count = np.bincount(place, minlength=size)
    overall = total.sum() / max(count.sum(), 1)
    mean = np.where(count > 0, total / np.maximum(count, 1), max(overall, 1.0))
    return np.maximum(mean, 1.0).astype(np.float32).reshape(relation_count, KINDS)

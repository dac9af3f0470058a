"""Metrics by name (MRR, Hits@k, mean rank, adjusted mean rank), computed from ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from nqe.errors import choose
from nqe.evaluation.ranks import Floats
from nqe.graph.arrays import Integers


@dataclass(frozen=True)
class Metric:
    """A mean over ranked answers, optionally adjusted by the mean rank of random scores."""

    label: str
    """The heading of its column in tables."""
    of_ranks: Callable[[Floats], Floats]
    """The value of each answer, given its rank."""
    adjust: Callable[[Floats, Floats], Floats] | None = None
    """The metric, given the mean of those values and the mean rank expected of random scores.

    None if the metric is the mean itself.
    """
    in_percent: bool = True
    """Whether tables print it in percent."""
    lower_is_better: bool = False


def _reciprocal(ranks: Floats) -> Floats:
    return 1 / ranks


def _at_most(limit: int, ranks: Floats) -> Floats:
    return (ranks <= limit).astype(np.float64)


def _identity(ranks: Floats) -> Floats:
    return ranks


def _divide(mean_rank: Floats, expected: Floats) -> Floats:
    return mean_rank / expected


def _index(mean_rank: Floats, expected: Floats) -> Floats:
    # If no answer has a wrong entity to compete with, every rank is 1 whatever the scores are,
    # and the index is defined as 0.
    others = expected - 1
    return np.where(others > 0, 1 - (mean_rank - 1) / np.where(others > 0, others, 1), 0.0)


METRICS: dict[str, Metric] = {
    "mrr": Metric("MRR", _reciprocal),
    "hits@1": Metric("Hits@1", partial(_at_most, 1)),
    "hits@3": Metric("Hits@3", partial(_at_most, 3)),
    "hits@10": Metric("Hits@10", partial(_at_most, 10)),
    "mean_rank": Metric("mean rank", _identity, in_percent=False, lower_is_better=True),
    "adjusted_mean_rank": Metric("AMR", _identity, _divide, in_percent=False, lower_is_better=True),
    "adjusted_mean_rank_index": Metric("AMRI", _identity, _index),
}
"""All metrics, by the name used in JSON, in Python and by `nqe compare --measure`.

An answer with rank r competes with c candidates: itself, and all entities that are not answers of
the query. With random scores its expected rank is (c + 1) / 2. `mean` is the mean over queries or
answers (see `Report`), MR the mean rank, and E the mean of the expected ranks.

- mrr: mean(1 / r), the mean reciprocal rank, in (0, 1].
- hits@k: mean(r <= k), the share of answers that are ranked k or better, in [0, 1].
- mean_rank: MR = mean(r), at least 1; lower is better.
- adjusted_mean_rank: MR / E; 1 for random scores; lower is better.
- adjusted_mean_rank_index: 1 - (MR - 1) / (E - 1); 1 if all ranks are 1, 0 for random scores,
  negative if worse than random.

The adjusted metrics are those of Berrendorf et al., "On the Ambiguity of Rank-Based Evaluation of
Entity Alignment or Link Prediction Methods" (2020). They can be compared between graphs of
different sizes. By default ranks are realistic: among entities of equal score, the mean rank.
"""


@dataclass(frozen=True)
class Metrics:
    """The metrics of a group of answers, by name; see `METRICS` for their definitions."""

    values: Mapping[str, float]
    queries: int
    answers: int
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """The bootstrap interval of each metric; empty without a bootstrap."""

    def __getitem__(self, name: str) -> float:
        return choose(self.values, name, "metric")

    @property
    def mrr(self) -> float:
        """The mean reciprocal rank."""
        return self["mrr"]

    def to_json(self) -> dict[str, Any]:
        """The metrics as JSON data."""
        intervals = {name: list(ends) for name, ends in self.intervals.items()}
        counts = {"queries": self.queries, "answers": self.answers}
        return {**self.values, **counts, "intervals": intervals}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Metrics:
        """The metrics from the data that `to_json` returned."""
        intervals = {
            name: (float(low), float(high)) for name, (low, high) in data["intervals"].items()
        }
        values = {name: float(data[name]) for name in METRICS if name in data}
        return cls(values, int(data["queries"]), int(data["answers"]), intervals)


def measure_answers(ranks: Floats, candidates: Integers) -> Floats:
    """The value of each answer for each metric, and its expected rank as the last column."""
    expected = (candidates + 1) / 2
    columns = [*(metric.of_ranks(ranks) for metric in METRICS.values()), expected]
    return np.stack(columns, axis=1)  # (answers, metrics + 1)


def adjust_means(means: Floats) -> Floats:
    """The metrics from means of the columns of `measure_answers`."""
    expected = means[..., -1]
    metrics = [
        means[..., column] if metric.adjust is None else metric.adjust(means[..., column], expected)
        for column, metric in enumerate(METRICS.values())
    ]
    return np.stack(metrics, axis=-1)  # (..., metrics)

"""Reliability: how well probabilities agree with how often predictions are right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nqe.answering.calibration import Curve
from nqe.answering.calibration_queries import draw_calibration_queries
from nqe.figures import choose_picture_format, create_figure
from nqe.graph.arrays import Integers
from nqe.graph.dataset import Dataset
from nqe.graph.ragged import Ragged
from nqe.model.embedding_runner import EmbeddingRunner
from nqe.model.model import Model
from nqe.sampling.query_table import QueryTable

Floats = npt.NDArray[np.float64]

QUERIES = 8_000
MAX_SCORES, MAX_QUERIES = 2**24, 256
"""At most this many scores, of at most this many queries, exist at once."""
BINS = 10


@dataclass(frozen=True)
class Reliability:
    """The reliability of each query's best prediction among the entities that are not stated."""

    bins: tuple[tuple[float, float, int], ...]
    """Mean probability, share of right predictions, and size; bins are of equal size."""
    error: float
    """The expected calibration error."""
    brier: float
    """The Brier score."""
    base: float
    """The Brier score of always predicting the share of right predictions."""

    @classmethod
    def of(cls, probabilities: Floats, right: Floats, count: int = BINS) -> Reliability:
        """Compare probabilities with what is right (1) or wrong (0)."""
        order = np.argsort(probabilities, kind="stable")
        parts = [part for part in np.array_split(order, count) if len(part)]
        bins = tuple(
            (float(probabilities[part].mean()), float(right[part].mean()), len(part))
            for part in parts
        )
        error = sum(abs(mean - share) * n for mean, share, n in bins) / max(len(right), 1)
        brier = float(((probabilities - right) ** 2).mean())
        share = right.mean()
        return cls(bins, error, brier, float(share * (1 - share)))

    def to_json(self) -> dict[str, Any]:
        """Return the reliability as JSON data."""
        columns = ("probability", "right", "count")
        return {
            "error": self.error,
            "brier": self.brier,
            "base_brier": self.base,
            "bins": [dict(zip(columns, values, strict=True)) for values in self.bins],
        }


def measure_reliability(
    model: Model,
    curves: dict[str, Curve],
    dataset: Dataset,
    split: str,
    known: str,
    *,
    count: int = QUERIES,
    seed: int = 1,
) -> dict[str, Reliability]:
    """Measure the reliability of each curve on one-hop queries of a split.

    In half of the queries an anchor is swapped. Only the best prediction of each query that the
    known facts do not state is considered.
    """
    rng = np.random.default_rng(seed)
    table, stated = draw_calibration_queries(dataset, split, known, count, rng)
    probabilities: dict[str, list[Floats]] = {name: [] for name in curves}
    right: list[Floats] = []
    for rows in split_rows(len(table), model.entity_count):
        queries, facts = table.take(rows), stated.take(rows)
        scores = EmbeddingRunner(model).run(queries.plans).block(0, model.entity_count)
        scores = mask_stated(scores, facts)
        best = scores.argmax(1)
        right.append(_is_right(best, queries.easy))
        for name, curve in curves.items():
            probabilities[name].append(_find_probability(curve, scores, best, queries, facts))
    truth = np.concatenate(right)
    return {
        name: Reliability.of(np.concatenate(parts), truth) for name, parts in probabilities.items()
    }


def _find_probability(
    curve: Curve, scores: torch.Tensor, best: torch.Tensor, queries: QueryTable, stated: Ragged
) -> Floats:
    """The probability of the best entity of each query."""
    plans, targets = queries.plans, queries.plans.targets
    shift = curve.compute_shift(plans.relation[targets], plans.asked[targets], stated.lengths)
    logs = (scores / curve.temperature).log_softmax(1).gather(1, best[:, None])[:, 0]
    return curve.to_probabilities(logs.double().cpu().numpy(), shift, np.zeros(len(best), bool))


def split_rows(queries: int, entity_count: int) -> Iterator[Integers]:
    """Split queries into row numbers of parts whose scores of all entities fit into memory."""
    size = max(1, min(MAX_SCORES // max(entity_count, 1), MAX_QUERIES))
    for first in range(0, queries, size):
        yield np.arange(first, min(first + size, queries))


def plot_reliability(reliabilities: dict[str, Reliability], path: Path) -> None:
    """Draw the reliability diagram: the share of right predictions against their probability."""
    form = choose_picture_format(path)
    figure = create_figure(4.2, 4)
    axis = figure.subplots()
    axis.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle="--")
    for name, reliability in reliabilities.items():
        predicted, right, _ = zip(*reliability.bins, strict=True)
        label = f"{name}: error {reliability.error:.3f}"
        axis.plot(predicted, right, marker="o", markersize=4, label=label)
    axis.set(xlim=(0, 1), ylim=(0, 1), xlabel="predicted probability", ylabel="share right")
    axis.legend(fontsize=8)
    figure.savefig(path, format=form)


def mask_stated(scores: torch.Tensor, stated: Ragged) -> torch.Tensor:
    """Return a copy of the scores with -∞ for the stated entities of each row."""
    scores = scores.clone()
    scores[torch.from_numpy(stated.owner), torch.from_numpy(stated.values)] = -torch.inf
    return scores


def _is_right(best: torch.Tensor, answers: Ragged) -> Floats:
    hit = answers.values == best.cpu().numpy()[answers.owner]
    return np.bincount(answers.owner[hit], minlength=len(best)).astype(np.float64)

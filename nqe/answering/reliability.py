"""Reliability: whether probabilities mean what they say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nqe.answering.calibration import Curve
from nqe.answering.calibration_queries import calibration_queries
from nqe.figures import choose_picture_format, create_figure
from nqe.graph.arrays import Integers
from nqe.graph.dataset import Dataset
from nqe.graph.ragged import Ragged
from nqe.model.embedding_runner import EmbeddingRunner
from nqe.model.model import Model

Floats = npt.NDArray[np.float64]

QUERIES = 8_000
SCORES, MOST_QUERIES = 2**24, 256
"""So many scores exist at a time, and of so many queries."""
BINS = 10


@dataclass(frozen=True)
class Reliability:
    """How far probabilities of the best prediction that is not stated mean what they say."""

    bins: tuple[tuple[float, float, int], ...]
    """Mean probability, share that is right, and how many, by equal mass."""
    error: float
    """The expected calibration error."""
    brier: float
    base: float
    """The Brier score of always saying the share that is right."""

    @classmethod
    def of(cls, told: Floats, right: Floats, count: int = BINS) -> Reliability:
        """From probabilities and what was true."""
        order = np.argsort(told, kind="stable")
        parts = [part for part in np.array_split(order, count) if len(part)]
        bins = tuple((float(told[one].mean()), float(right[one].mean()), len(one)) for one in parts)
        error = sum(abs(mean - share) * n for mean, share, n in bins) / max(len(told), 1)
        share = right.mean()
        return cls(bins, error, float(((told - right) ** 2).mean()), float(share * (1 - share)))

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        columns = ("probability", "right", "count")
        return {
            "error": self.error,
            "brier": self.brier,
            "base_brier": self.base,
            "bins": [dict(zip(columns, one, strict=True)) for one in self.bins],
        }


def measure(
    model: Model,
    curves: dict[str, Curve],
    dataset: Dataset,
    split: str,
    known: str,
    *,
    count: int = QUERIES,
    seed: int = 1,
) -> dict[str, Reliability]:
    """How reliable each curve is on the one-hop queries of a split, half of them swapped.

    What is looked at is the best prediction that the known facts do not state.
    """
    rng = np.random.default_rng(seed)
    table, stated = calibration_queries(dataset, split, known, count, rng)
    told: dict[str, list[Floats]] = {name: [] for name in curves}
    right: list[Floats] = []
    for rows in rows_at_once(len(table), model.entity_count):
        some = table.take(rows)
        facts = stated.take(rows)
        scores = EmbeddingRunner(model).run(some.plans).block(0, model.entity_count)
        scores = without(scores, facts)
        best = scores.argmax(1)
        right.append(_is_right(best, some.easy))
        for name, curve in curves.items():
            chances = scores.clone()
            curve.to_probabilities(chances, curve.of_queries(some, facts).to(chances.device))
            told[name].append(chances.gather(1, best[:, None])[:, 0].double().cpu().numpy())
    truth = np.concatenate(right)
    return {name: Reliability.of(np.concatenate(one), truth) for name, one in told.items()}


def rows_at_once(queries: int, entity_count: int) -> Iterator[Integers]:
    """Rows of queries, few enough at a time that their scores of all entities may exist."""
    size = max(1, min(SCORES // max(entity_count, 1), MOST_QUERIES))
    for first in range(0, queries, size):
        yield np.arange(first, min(first + size, queries))


def plot(reliabilities: dict[str, Reliability], path: Path) -> None:
    """The reliability diagram: what was said against what was true, by equal mass."""
    form = choose_picture_format(path)
    figure = create_figure(4.2, 4)
    axis = figure.subplots()
    axis.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle="--")
    for name, one in reliabilities.items():
        said, true, _ = zip(*one.bins, strict=True)
        axis.plot(said, true, marker="o", markersize=4, label=f"{name}: error {one.error:.3f}")
    axis.set(xlim=(0, 1), ylim=(0, 1), xlabel="probability said", ylabel="share that is right")
    axis.legend(fontsize=8)
    figure.savefig(path, format=form)


def without(scores: torch.Tensor, stated: Ragged) -> torch.Tensor:
    """The scores, those of what is stated so low that nothing is lower."""
    scores = scores.clone()
    scores[torch.from_numpy(stated.owner), torch.from_numpy(stated.values)] = -torch.inf
    return scores


def _is_right(best: torch.Tensor, answers: Ragged) -> Floats:
    hit = answers.values == best.cpu().numpy()[answers.owner]
    return np.bincount(answers.owner[hit], minlength=len(best)).astype(np.float64)

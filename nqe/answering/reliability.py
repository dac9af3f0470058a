"""Reliability: how well probabilities agree with how often predictions are right."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nqe.answering.neural import NeuralEngine
from nqe.answering.question_fitting import Questions, predict
from nqe.figures import choose_picture_format, create_figure

Floats = npt.NDArray[np.float64]

LEAST = 0.05
"""Predictions that are less likely are not measured, as there are so many of them."""
BINS = 10
ALL = "all"


@dataclass(frozen=True)
class Reliability:
    """The reliability of predictions, which are answers that no known fact states."""

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
        if not len(right):
            return cls((), 0.0, 0.0, 0.0)
        order = np.argsort(probabilities, kind="stable")
        parts = [part for part in np.array_split(order, count) if len(part)]
        bins = tuple(
            (float(probabilities[part].mean()), float(right[part].mean()), len(part))
            for part in parts
        )
        error = sum(abs(mean - share) * n for mean, share, n in bins) / len(right)
        brier = float(((probabilities - right) ** 2).mean())
        share = right.mean()
        return cls(bins, error, brier, float(share * (1 - share)))

    @property
    def count(self) -> int:
        """The number of predictions."""
        return sum(size for _, _, size in self.bins)

    def to_json(self) -> dict[str, Any]:
        """Return the reliability as JSON data."""
        columns = ("probability", "right", "count")
        return {
            "error": self.error,
            "brier": self.brier,
            "base_brier": self.base,
            "bins": [dict(zip(columns, values, strict=True)) for values in self.bins],
        }


def measure_reliability(engine: NeuralEngine, questions: Questions) -> dict[str, Reliability]:
    """Measure the reliability of all predictions over 0.05, by shape and of all shapes."""
    predicted, _ = predict(engine, questions, LEAST)
    right, shapes = predicted.right.astype(np.float64), np.array(questions.shape)
    shape = shapes[predicted.question]
    chosen = {name: shape == name for name in dict.fromkeys(questions.shape)}
    chosen[ALL] = np.ones(len(shape), dtype=bool)
    return {
        name: Reliability.of(predicted.probability[rows], right[rows])
        for name, rows in chosen.items()
    }


def plot_reliability(reliabilities: dict[str, Reliability], path: Path) -> None:
    """Draw the reliability diagram: the share of right predictions against their probability."""
    form = choose_picture_format(path)
    figure = create_figure(4.2, 4)
    axis = figure.subplots()
    axis.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle="--")
    for name, reliability in reliabilities.items():
        predicted, right, _ = zip(*reliability.bins, strict=True) if reliability.bins else ((),) * 3
        label = f"{name}: error {reliability.error:.3f}"
        axis.plot(predicted, right, marker="o", markersize=4, label=label)
    axis.set(xlim=(0, 1), ylim=(0, 1), xlabel="predicted probability", ylabel="share right")
    axis.legend(fontsize=8)
    figure.savefig(path, format=form)

"""Probabilities of predictions, and their log odds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

MAX_PREDICTED = 1 - 1e-4
"""The highest probability of a prediction; only stated facts are certain."""


def to_logit(probability: Floats) -> Floats:
    """The log odds of probabilities, which are kept away from 0 and 1."""
    p = np.clip(probability, 1e-300, 1 - 1e-15)
    logits: Floats = np.log(p) - np.log1p(-p)
    return logits


def to_probability(logits: Floats) -> Floats:
    """The probabilities of log odds, at most that of a prediction."""
    p: Floats = 1 / (1 + np.exp(-np.clip(logits, -700, 700)))
    return np.minimum(p, MAX_PREDICTED)

"""Logistic regression with a prior and lower bounds, by Newton's method."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

RIDGE = 1.0
"""How strongly the coefficients are held at their prior values."""
_MAX_STEPS = 60
_CONVERGED = 1e-8
"""The fit ends when no coefficient changes by more than this."""


def fit_logistic(
    features: Floats,
    right: Floats,
    weight: Floats,
    prior: Floats,
    least: Floats | None = None,
    offset: Floats | None = None,
) -> Floats:
    """Fit the coefficients of a logistic regression.

    They are held at `prior`, and stay at or above `least`. `offset` is added to the logits.
    """
    values = prior.copy()
    least = np.full(len(prior), -np.inf) if least is None else least
    base = np.zeros(len(features)) if offset is None else offset
    for _ in range(_MAX_STEPS):
        predicted = sigmoid(base + features @ values)
        gradient = features.T @ (weight * (right - predicted)) - RIDGE * (values - prior)
        curvature = (features * (weight * predicted * (1 - predicted))[:, None]).T @ features
        curvature += RIDGE * np.eye(len(values))
        # A coefficient at its bound stays there if the fit would take it further.
        free = ~((values <= least) & (gradient < 0))
        step = np.zeros_like(values)
        step[free] = np.linalg.solve(curvature[np.ix_(free, free)], gradient[free])
        after = np.maximum(values + np.clip(step, -1, 1), least)
        converged = np.abs(after - values).max() < _CONVERGED
        values = after
        if converged:
            break
    return values


def sigmoid(values: Floats) -> Floats:
    """1 / (1 + exp(-x)), without overflow."""
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -40, 40))))

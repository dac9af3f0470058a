"""The bootstrap: how a mean would vary if other queries had been drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nqe.evaluation.ranks import Floats

# So many draws are looked up at a time.
AT_ONCE = 2**22


@dataclass(frozen=True)
class Bootstrap:
    """How often to draw anew, how sure the interval is to be, and the seed; none if 0 samples."""

    samples: int = 1_000
    level: float = 0.95
    seed: int = 0


def resampled_means(
    value: Floats, weight: Floats, samples: int, random: np.random.Generator
) -> Floats:
    """The weighted mean of as many units, drawn with repetition, so many times over."""
    count = len(value)
    means = np.empty(samples)
    at_once = max(1, AT_ONCE // max(1, count))
    for first in range(0, samples, at_once):
        last = min(first + at_once, samples)
        drawn = random.integers(0, count, (last - first, count), dtype=np.int32)
        means[first:last] = value[drawn].sum(1) / weight[drawn].sum(1)
    return means


def interval(means: Floats, level: float) -> tuple[float, float] | None:
    """The middle part of the means that holds a share `level` of them."""
    if not len(means):
        return None
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)

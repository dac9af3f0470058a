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
    """The weighted means, (samples, measures), of as many units, drawn with repetition.

    `value` (units, measures) has the weight in it already.
    """
    count, measures = value.shape
    means = np.empty((samples, measures))
    both = np.column_stack([value, weight])
    at_once = max(1, AT_ONCE // max(1, count))
    for first in range(0, samples, at_once):
        here = means[first : first + at_once]
        drawn = random.integers(0, count, (len(here), count), dtype=np.int32)
        # How often each unit was drawn, sample by sample.
        cell = (drawn + count * np.arange(len(here))[:, None]).ravel()
        times = np.bincount(cell, minlength=len(here) * count).reshape(len(here), count)
        sums = times.astype(np.float64) @ both
        here[:] = sums[:, :measures] / sums[:, measures:]
    return means


def intervals(means: Floats, level: float) -> tuple[tuple[float, float], ...]:
    """Of each measure the middle part of its means that holds a share `level` of them."""
    if not len(means):
        return ()
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2], axis=0).tolist()
    return tuple(zip(low, high, strict=True))

"""Bootstrap intervals: how much a mean would vary if other queries had been drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nqe.evaluation.ranks import Floats

# At most this many drawn queries are in memory at once.
MAX_DRAWS = 2**22


@dataclass(frozen=True)
class Bootstrap:
    """The settings of a bootstrap."""

    samples: int = 1_000
    """How many samples of queries are drawn; 0 means no intervals."""
    level: float = 0.95
    """The share of the samples' means that an interval contains."""
    seed: int = 0


def resample_means(
    sums: Floats, weight: Floats, samples: int, random: np.random.Generator
) -> Floats:
    """The weighted means of samples of queries, drawn with replacement.

    Each sample has as many queries as there are. `sums` (queries, columns) are the values of the
    queries, already multiplied by their weights. The result is (samples, columns).
    """
    count, columns = sums.shape
    means = np.empty((samples, columns))
    weighted = np.column_stack([sums, weight])
    at_once = max(1, MAX_DRAWS // max(1, count))
    for first in range(0, samples, at_once):
        block = means[first : first + at_once]
        drawn = random.integers(0, count, (len(block), count), dtype=np.int32)
        # How often each query was drawn, (samples, queries).
        times = np.empty(drawn.shape)
        for sample, queries in enumerate(drawn):
            times[sample] = np.bincount(queries, minlength=count)
        totals = times @ weighted
        block[:] = totals[:, :columns] / totals[:, columns:]
    return means


def find_intervals(metrics: Floats, level: float) -> list[tuple[float, float]]:
    """The central interval of each column that contains the share `level` of its rows."""
    if not len(metrics):
        return []
    low, high = np.quantile(metrics, [(1 - level) / 2, (1 + level) / 2], axis=0).tolist()
    return list(zip(low, high, strict=True))

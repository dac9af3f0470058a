"""Results of several seeds summed up: the mean and the spread of every value of a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from nqe.evaluation.report import AVERAGES
from nqe.reproduction.results import Result

MISSING = "missing"
"""The name under which MRR by missing links is summed up beside the measures of a result."""


@dataclass(frozen=True)
class Value:
    """A value over the seeds of a row."""

    by_seed: Mapping[int, float]

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        return fmean(self.by_seed.values())

    @property
    def spread(self) -> float | None:
        """The standard deviation over the seeds; None if there is only one."""
        values = list(self.by_seed.values())
        return stdev(values) if len(values) > 1 else None

    def __str__(self) -> str:
        """In percent, with the spread if there are several seeds."""
        spread = "" if self.spread is None else f" ± {100 * self.spread:.2f}"
        return f"{100 * self.mean:.2f}{spread}"


def sum_up(results: Iterable[Result], measure: str) -> dict[str, dict[str, Value]]:
    """A measure by row and group, over the seeds that there are.

    A group that a seed lacks is left out.
    """
    by_row: dict[str, list[Result]] = {}
    for one in results:
        if _values(one, measure):
            by_row.setdefault(one.row, []).append(one)
    return {
        row: {
            group: Value({one.seed: _values(one, measure)[group] for one in seeds})
            for group in _values(seeds[0], measure)
            if all(group in _values(one, measure) for one in seeds)
        }
        for row, seeds in by_row.items()
    }


def add_averages(values: Mapping[str, Value], shapes: Sequence[str]) -> dict[str, Value]:
    """The values by shape, with the plain mean over the shapes of each average that are shown."""
    found = dict(values)
    for average, wanted in AVERAGES.items():
        present = [shape for shape in wanted if shape in shapes]
        if present and set(present) <= set(values):
            found[average] = average_values([values[shape] for shape in present])
    return found


def average_values(values: Sequence[Value]) -> Value:
    """The mean of several values, seed by seed."""
    seeds = values[0].by_seed
    return Value({seed: fmean(one.by_seed[seed] for one in values) for seed in seeds})


def _values(result: Result, measure: str) -> Mapping[str, float]:
    if measure == MISSING:
        return result.missing.values
    return result.scores[measure].values if measure in result.scores else {}

"""Jobs: what is computed one after another, each once; its result says that it is done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nqe.reproduction.results import (
    Result,
    find_result,
    load_result,
    name_result,
    save_result,
)
from nqe.reproduction.watching import Watcher

Compute = Callable[["Job", str], Result]
"""Computes the result of a job; the text says in notes which job it is."""
OnResult = Callable[[], object]
"""Called after each new result."""


@dataclass(frozen=True)
class Job:
    """One row of a benchmark with one seed."""

    benchmark: str
    row: str
    seed: int

    def __str__(self) -> str:
        return f"{self.row}, seed {self.seed}"

    @property
    def name(self) -> str:
        """The name of its result."""
        return name_result(self.benchmark, self.row, self.seed)

    def find(self, folder: Path) -> Result | None:
        """Its result, if it is in a folder."""
        return find_result(folder, self.benchmark, self.row, self.seed)


def compute_missing(
    jobs: Sequence[Job],
    folder: Path,
    compute: Compute,
    watcher: Watcher,
    on_result: OnResult,
) -> list[Result]:
    """Compute the results that a folder lacks, and return all of them in the order of the jobs.

    Each result is written as soon as it is there, so that an error later loses nothing.
    """
    results = []
    for number, job in enumerate(jobs, start=1):
        where = f"{job.benchmark}, {number} of {len(jobs)}: {job}"
        result = job.find(folder)
        if result is None:
            result = load_result(save_result(folder, compute(job, where)))
            watcher.note(f"{where}: {result}")
            on_result()
        else:
            watcher.note(f"{where}: done before")
        results.append(result)
    return results

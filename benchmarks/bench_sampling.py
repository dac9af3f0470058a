"""How long the full wd50k-nfol query set takes to sample, and how much memory, on all cores."""

from __future__ import annotations

import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from machine import (
    arguments,
    benchmark_data,
    describe,
    markdown_table,
    matrix_multiply_rate,
    write_result,
)

from nqe.cores import usable_cores
from nqe.graph import Dataset
from nqe.query import execute_many
from nqe.sampling import QuerySet, choose_preset, sample, save_queries
from nqe.settings import SamplingSettings

PRESET = "wd50k-nfol"
QUICK = SamplingSettings(shapes=("1p", "2in"), train=3, valid=2, test=2)
MINUTES_BAR, GIGABYTES_BAR = 5.0, 4.0
CHECKED = 2_000


@dataclass(frozen=True)
class Measured:
    """The time, the memory and the size of sampling a query set."""

    sampled: float
    saved: float
    gigabytes: float
    megabytes: float
    checked: int


def check(dataset: Dataset, queries: QuerySet) -> int:
    """Answer a random part of the queries again and compare; gives how many."""
    rng, checked = np.random.default_rng(1), 0
    for split, table in queries.splits.items():
        full, known = dataset.full_for(split), dataset.known_for(split)
        rows = rng.choice(len(table), min(CHECKED, len(table)), replace=False)
        plans = [table.plans.plan(int(row)) for row in rows]
        pairs = zip(rows, execute_many(plans, full), execute_many(plans, known), strict=True)
        for row, after, before in pairs:
            answers = after.answers
            if split == "train":
                same = len(answers) == table.answer_count[row] and np.isin(table.easy[row], answers)
            else:
                hard = np.setdiff1d(answers, before.answers)
                same = np.array_equal(hard, table.hard[row])
            if not np.all(same):
                raise SystemExit(f"{split} query {row} has other answers than the exact engine's")
            checked += 1
    return checked


def measure(dataset: Dataset, settings: SamplingSettings) -> tuple[QuerySet, Measured]:
    """Sample and save a query set, and check it."""
    start = time.perf_counter()
    queries = sample(dataset, settings, workers=usable_cores())
    sampled = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        save_queries(queries, Path(folder) / "queries")
        saved = time.perf_counter() - start
        size = sum(file.stat().st_size for file in (Path(folder) / "queries").iterdir())
    own, workers = (
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    memory = (own + usable_cores() * workers) / 2**20
    return queries, Measured(sampled, saved, memory, size / 1e6, check(dataset, queries))


def rows_of(measured: Measured) -> list[tuple[str, ...]]:
    """The figures with their bars."""
    minutes = measured.saved / 60
    return [
        (
            f"minutes for the whole set, saved, {usable_cores()} workers",
            f"{minutes:.2f}",
            f"{MINUTES_BAR:.0f}",
            "pass" if minutes < MINUTES_BAR else "fail",
        ),
        (
            "memory of all processes at most, GB",
            f"{measured.gigabytes:.2f}",
            f"{GIGABYTES_BAR:.0f}",
            "pass" if measured.gigabytes < GIGABYTES_BAR else "fail",
        ),
        ("saving, s", f"{measured.saved - measured.sampled:.1f}", "", ""),
        ("files, MB", f"{measured.megabytes:.0f}", "", ""),
        ("queries answered again by the exact engine, all equal", f"{measured.checked:,}", "", ""),
    ]


def main() -> None:
    quick = arguments(__doc__).parse_args().quick
    before = matrix_multiply_rate()
    queries, measured = measure(
        benchmark_data(quick=quick), QUICK if quick else choose_preset(PRESET)
    )
    counts = [(split, f"{len(table):,}") for split, table in queries.splits.items()]
    text = (
        f"# Sampling {PRESET} from WD50K\n\n`python benchmarks/bench_sampling.py`\n\n"
        + markdown_table(("what", "measured", "bar", ""), rows_of(measured))
        + "\n"
        + markdown_table(("split", "queries"), counts)
        + "\n## Where and when\n\n"
        + markdown_table(("what", "value"), describe(("numpy", "pyarrow")))
        + f"\nA 2048³ fp32 multiply: {before:.0f} GF/s before, "
        f"{matrix_multiply_rate():.0f} after.\n"
    )
    write_result("sampling", text, quick=quick)


if __name__ == "__main__":
    main()

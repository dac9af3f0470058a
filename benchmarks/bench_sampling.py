"""How long the full wd50k-nfol query set takes, and its memory, on all cores of the machine."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from machine import DATA, describe, markdown_table, matrix_multiply_rate, write_result

from nqe.cores import usable_cores
from nqe.graph import Dataset
from nqe.query import execute_many
from nqe.readers import read
from nqe.sampling import QuerySet, choose_preset, sample, save_queries

PRESET = "wd50k-nfol"
MINUTES_BAR, GIGABYTES_BAR = 5.0, 4.0
CHECKED = 2_000


def check(dataset: Dataset, queries: QuerySet) -> int:
    """Answer a random sample of the queries again, and compare; gives how many."""
    rng, checked = np.random.default_rng(1), 0
    for split, table in queries.splits.items():
        full, known = dataset.full_for(split), dataset.known_for(split)
        rows = rng.choice(len(table), min(CHECKED, len(table)), replace=False)
        plans = [table.plan(int(row)) for row in rows]
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


def main() -> None:
    if not (DATA / "wd50k").is_dir():
        sys.exit("skipped: WD50K is not beside the project, in ../shared/data")
    before = matrix_multiply_rate()
    dataset = read(DATA / "wd50k")
    start = time.perf_counter()
    queries = sample(dataset, choose_preset(PRESET), workers=usable_cores())
    sampled = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        save_queries(queries, Path(folder) / "queries")
        whole = time.perf_counter() - start
        size = sum(file.stat().st_size for file in (Path(folder) / "queries").iterdir())
    usage = [
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    memory = (usage[0] + usable_cores() * usage[1]) / 2**20
    checked = check(dataset, queries)
    minutes = whole / 60
    rows = [
        (
            f"minutes for the whole set, saved, {usable_cores()} workers",
            f"{minutes:.2f}",
            f"{MINUTES_BAR:.0f}",
            "pass" if minutes < MINUTES_BAR else "fail",
        ),
        (
            "memory of all processes at most, GB",
            f"{memory:.2f}",
            f"{GIGABYTES_BAR:.0f}",
            "pass" if memory < GIGABYTES_BAR else "fail",
        ),
        ("saving, s", f"{whole - sampled:.1f}", "", ""),
        ("files, MB", f"{size / 1e6:.0f}", "", ""),
        ("queries answered again by the exact engine, all the same", f"{checked:,}", "", ""),
    ]
    counts = [(split, f"{len(table):,}") for split, table in queries.splits.items()]
    text = (
        f"# Sampling {PRESET} from WD50K\n\n`python benchmarks/bench_sampling.py`\n\n"
        + markdown_table(("what", "measured", "bar", ""), rows)
        + "\n"
        + markdown_table(("split", "queries"), counts)
        + "\n## Where and when\n\n"
        + markdown_table(("what", "value"), describe(("numpy", "pyarrow")))
        + f"\nA 2048³ fp32 multiply: {before:.0f} GF/s before, "
        f"{matrix_multiply_rate():.0f} after.\n"
    )
    print(text)
    write_result("sampling", text)


if __name__ == "__main__":
    main()

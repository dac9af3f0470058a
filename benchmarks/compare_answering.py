"""How long hybrid answers over WD50K take with the code of an earlier commit, and now.

Each version answers in a process of its own that loads its model once. The queries are asked in
turns, and only one process is at work at a time. The earlier version needs a checkout, a model that
it trained, and the query set of `trained` in its own format.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
from answering_process import TOP
from cache import why_unusable
from machine import (
    ROOT,
    WD50K,
    arguments,
    benchmark_data,
    describe,
    markdown_table,
    matrix_multiply_rate,
    revision,
    write_result,
)
from trained import Shared

from nqe.cores import usable_cores
from nqe.demo import FOLDER
from nqe.query.shapes import SHAPES
from nqe.sampling.storage import load_queries

SCRIPT = Path(__file__).with_name("answering_process.py")
HOW = (
    "skipped: name an earlier version with --before CHECKOUT (git worktree add CHECKOUT COMMIT), "
    "--before-run RUN (a model of all shapes that it trained and calibrated) and --before-queries "
    "QUERIES (the query set of build/hybrid, with a manifest that it reads)"
)
Rows = list[int]


@dataclass(frozen=True)
class Version:
    """A checkout, and the model and the queries that it reads."""

    checkout: Path
    run: Path
    queries: Path


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    single: int = 40
    """Queries of one shape that are asked one at a time."""
    mixed: int = 64
    """Queries of each shape that are asked in one call."""
    rounds: int = 2
    """How often each version answers; which one is first changes each time."""


QUICK = Sizes(single=1, mixed=1)


@dataclass(frozen=True)
class Case:
    """What is asked, and how many times quicker it has to be than before."""

    name: str
    calls: list[Rows]
    """The rows of the queries of each call."""
    bar: float


@dataclass(frozen=True)
class Times:
    """The seconds of all calls of a case, before and now."""

    case: Case
    before: list[float]
    now: list[float]

    @property
    def row(self) -> tuple[str, ...]:
        """The row of the table: the medians, and how many times quicker it is."""
        before, now = statistics.median(self.before), statistics.median(self.now)
        cells = (f"{1000 * before:,.1f}", f"{1000 * now:,.1f}", f"{before / now:.2f}")
        return (self.case.name, *cells, f"{self.case.bar:g}")


class Process:
    """A process that answers queries with the code of one version."""

    def __init__(self, version: Version, graph: Path) -> None:
        environment = os.environ | {
            "PYTHONPATH": str(version.checkout),
            "OMP_NUM_THREADS": str(usable_cores()),
            # Threads that wait must leave the cores to the other process at once.
            "GOMP_SPINCOUNT": "0",
            "OMP_WAIT_POLICY": "passive",
        }
        places = (SCRIPT, graph, version.run, version.queries)
        self._process = subprocess.Popen(
            [sys.executable, *map(str, places)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        found = Path(self._read())
        if found != version.checkout:
            sys.exit(f"the code of {found} was imported in place of {version.checkout}")

    def ask(self, rows: Rows) -> float:
        """The seconds that the answers of some queries take in one call."""
        assert self._process.stdin is not None
        print(json.dumps(rows), file=self._process.stdin, flush=True)
        return float(self._read())

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def _read(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit("a version failed; see its message above")
        return line.strip()


@contextmanager
def start(versions: Sequence[Version], graph: Path) -> Iterator[list[Process]]:
    """Processes of both versions, which end with the block."""
    with ExitStack() as stack:
        yield [stack.enter_context(closing(Process(version, graph))) for version in versions]


def choose_cases(queries: Path, sizes: Sizes) -> tuple[list[Case], Rows]:
    """The cases over the test queries, and a query of each shape for a start."""
    shapes = np.array(load_queries(queries, "test").shape)
    rows = {shape: np.flatnonzero(shapes == shape).tolist() for shape in SHAPES}
    mixed = list(chain(*zip(*(of_shape[: sizes.mixed] for of_shape in rows.values()), strict=True)))
    cases = [
        Case(f"one {shape} query", [[row] for row in rows[shape][: sizes.single]], 2.5)
        for shape in ("2p", "3p")
    ]
    cases.append(Case(f"{len(mixed):,} queries of all shapes in one call", [mixed], 3))
    return cases, [of_shape[-1] for of_shape in rows.values()]


def measure(processes: Sequence[Process], case: Case, rounds: int) -> Times:
    """Ask both versions in turns."""
    seconds: list[list[float]] = [[], []]
    for turn in range(rounds):
        for rows in case.calls:
            for side in (0, 1) if turn % 2 == 0 else (1, 0):
                seconds[side].append(processes[side].ask(rows))
    return Times(case, *seconds)


def measure_all(versions: Sequence[Version], graph: Path, sizes: Sizes) -> list[Times]:
    """The times of all cases, after each version has answered queries of every shape."""
    cases, first = choose_cases(versions[1].queries, sizes)
    with start(versions, graph) as processes:
        for process in processes:
            for row in first:
                process.ask([row])
        return [measure(processes, case, sizes.rounds) for case in cases]


def page(times: Sequence[Times], versions: Sequence[Version], sizes: Sizes, rate: float) -> str:
    """The result."""
    columns = ("what", "before, ms", "now, ms", "times quicker", "bar")
    return "\n".join(
        [
            "# How long answers take, before and now\n",
            f"By `benchmarks/compare_answering.py`: the {TOP} best answers, by hybrid, of distinct "
            "queries of the test split, with the facts of train and valid. Both versions are asked "
            f"in turns, {sizes.rounds} times each; each has a model that it trained. Shown is the "
            f"median of {sizes.single} queries of a shape, each asked alone, and of all calls with "
            "many queries.\n",
            markdown_table(columns, [one.row for one in times]),
            markdown_table(
                ("on", ""),
                [
                    ("before", revision(versions[0].checkout, ["nqe"])),
                    ("now", revision(versions[1].checkout, ["nqe"])),
                    *(row for row in describe(("torch", "numpy")) if row[0] != "revision"),
                    ("2048³ multiply", f"{rate:.0f} GF/s before the measurement"),
                ],
            ),
        ]
    )


def find_versions(options: argparse.Namespace) -> list[Version]:
    """The earlier version and this one; the script ends if something is missing."""
    named = (options.before, options.before_run, options.before_queries)
    if None in named and not options.quick:
        sys.exit(HOW)
    shared = Shared(benchmark_data(quick=options.quick), quick=options.quick)
    if options.quick:
        return 2 * [Version(ROOT, shared.use_run(), shared.use_queries())]
    for folder, stamp in (
        (shared.run, shared.run_stamp),
        (shared.queries, shared.queries_stamp),
    ):
        reason = why_unusable(folder, stamp)
        if reason is not None:
            sys.exit(f"skipped: {folder} cannot be used, as {reason}; run hybrid_quality.py first")
    before = Version(*(path.resolve() for path in named))
    check_same_queries(before.queries, shared.queries)
    return [before, Version(ROOT, shared.run, shared.queries)]


def check_same_queries(before: Path, now: Path) -> None:
    """End the script if the test queries of two query sets differ."""
    first, second = ((folder / "test.parquet").read_bytes() for folder in (before, now))
    if first != second:
        sys.exit(f"skipped: {before} and {now} have different test queries; copy test.parquet")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--before", type=Path, help="a checkout of the earlier commit")
    parser.add_argument("--before-run", type=Path, help="a run that it trained")
    parser.add_argument("--before-queries", type=Path, help="the query set in its format")
    parser.add_argument("--count", type=int, help="ask only this many queries of a shape")
    options = parser.parse_args()
    versions, sizes = find_versions(options), QUICK if options.quick else Sizes()
    if options.count is not None:
        sizes = Sizes(options.count, options.count)
    graph, rate = FOLDER if options.quick else WD50K, matrix_multiply_rate()
    times = measure_all(versions, graph, sizes)
    tried = options.quick or options.count is not None
    write_result("answering-before-after", page(times, versions, sizes, rate), quick=tried)


if __name__ == "__main__":
    main()

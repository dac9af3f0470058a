"""How fast graphs are on WD50K: import from text, load, index, single look-ups and batches.

Each run is a process of its own, so that only the system's file cache is warm.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import machine
import numpy as np

from nqe import demo
from nqe.graph import Dataset, Graph, Pattern
from nqe.graph.pattern import OBJECT, Patterns
from nqe.readers import read

QUICK = "--quick" in sys.argv
SOURCE = Path(demo.__file__).parent / "atlas" if QUICK else machine.WD50K
RUNS = 1 if QUICK else 5
LOOKUPS = 20 if QUICK else 2_000  # of each kind
BATCH = 60 if QUICK else 10_000
SEED = 20
Result = TypeVar("Result")
Timings = dict[str, float]  # by what was measured: seconds, or microseconds per pattern

IMPORT = "import from text: three splits and labels"
COMMAND = "the command `nqe import`, start of Python and saving included"
LOAD = "load from the saved folder"
INDEX = "build the index of all facts"
BATCH_LISTED = f"a batch of {BATCH:,} mixed patterns, given as a list"
BATCH_FLAT = f"a batch of {BATCH:,} mixed patterns, given as arrays"
BARS = {IMPORT: 3.0, LOAD: 0.5}

KINDS = {
    "one_known": "one known slot, `r(s, ?)`",
    "two_known": "two known slots, `r(s, ?; a: v)`",
    "asked_qualifier": "asked qualifier, `r(s, o; a: ?)`",
}


# Measurements, each in a process of its own


def measure_import() -> Timings:
    seconds, _ = timed(lambda: read(SOURCE, labels=SOURCE / "labels.tsv"))
    return {IMPORT: seconds}


def measure_saved(folder: Path) -> Timings:
    load_seconds, dataset = timed(lambda: Dataset.load(folder))
    graph = dataset.graph
    index_seconds, _ = timed(lambda: graph.index)
    drawn = {kind: draw(graph, kind, LOOKUPS) for kind in KINDS}
    timings = {LOAD: load_seconds, INDEX: index_seconds}
    for kind, patterns in drawn.items():
        for way, closed in (("open", False), ("closed", True)):
            asked = [replace(pattern, closed=closed) for pattern in patterns]
            timings[lookup_name(kind, way)] = one_by_one(graph, asked)
    return timings | batches(graph)


def one_by_one(graph: Graph, patterns: Sequence[Pattern]) -> float:
    """The median time of a single look-up, in microseconds."""
    return 1e6 * statistics.median(
        timed(lambda pattern=pattern: graph.answers(pattern))[0] for pattern in patterns
    )


def batches(graph: Graph) -> Timings:
    """Microseconds per pattern, all kinds mixed, open and closed."""
    each = -(-BATCH // (2 * len(KINDS)))
    drawn = [pattern for kind in KINDS for pattern in draw(graph, kind, each)]
    both = [replace(pattern, closed=closed) for pattern in drawn for closed in (False, True)]
    order = np.random.default_rng(SEED).permutation(len(both))[:BATCH]
    patterns = [both[place] for place in order]
    flat = Patterns.of(patterns)
    return {
        BATCH_LISTED: 1e6 * timed(lambda: graph.answers_many(patterns))[0] / BATCH,
        BATCH_FLAT: 1e6 * timed(lambda: graph.answers_many(flat))[0] / BATCH,
    }


def draw(graph: Graph, kind: str, count: int) -> list[Pattern]:
    """Random facts with one slot blanked: such a pattern has an answer, open or closed."""
    wanted = 0 if kind == "one_known" else 1
    rows = np.flatnonzero(graph.facts.qualifier_count == wanted)
    chosen = np.random.default_rng(SEED).choice(rows, count)
    return [blanked(graph, int(row), kind) for row in chosen]


def blanked(graph: Graph, row: int, kind: str) -> Pattern:
    subject, relation, object_, pairs = graph.facts.row(row)
    attributes = tuple(attribute for attribute, _ in pairs)
    values = tuple(value for _, value in pairs)
    if kind == "asked_qualifier":
        return Pattern(relation, (subject, object_, None), attributes, asked=2)
    return Pattern(relation, (subject, None, *values), attributes, asked=OBJECT)


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


# Runs, and the page about them


def in_new_process(*arguments: str) -> Timings:
    command = [sys.executable, __file__, *arguments, *(["--quick"] if QUICK else [])]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    timings: Timings = json.loads(done.stdout)
    return timings


def time_command(folder: Path) -> Timings:
    command = [sys.executable, "-m", "nqe", "import", str(SOURCE), "-o", str(folder)]
    seconds, _ = timed(lambda: subprocess.run(command, capture_output=True, check=True))
    return {COMMAND: seconds}


def one_run(folder: Path) -> Timings:
    return in_new_process("import") | time_command(folder) | in_new_process("saved", str(folder))


def lookup_name(kind: str, way: str) -> str:
    return f"{KINDS[kind]}, {way}"


def rows_of(runs: Sequence[Timings]) -> list[tuple[str, ...]]:
    rows = []
    for name in runs[0]:
        values = [run[name] for run in runs]
        unit, digits = ("s", 2) if name in (IMPORT, COMMAND, LOAD, INDEX) else ("µs", 1)
        middle, least, most = statistics.median(values), min(values), max(values)
        span = f"{least:.{digits}f} to {most:.{digits}f}"
        rows.append((name, f"{middle:.{digits}f} {unit}", span, *verdict(name, middle)))
    return rows


def verdict(name: str, seconds: float) -> tuple[str, str]:
    if name not in BARS:
        return "", ""
    return f"under {BARS[name]:g} s", "pass" if seconds < BARS[name] else "fail"


def report(runs: Sequence[Timings], before: float, after: float) -> str:
    busy = ("2048³ fp32 multiply by numpy", f"{before:.0f} GF/s before, {after:.0f} GF/s after")
    surroundings = [*machine.describe(("numpy", "pyarrow")), busy]
    columns = ("what", f"median of {RUNS} runs", "least to most", "bar", "")
    return f"""# Graphs: reading, loading, looking up

Measured on WD50K (236,507 statements in three splits, 47,155 entities, 531 relations) by
`benchmarks/bench_graph.py`. Each run is a process of its own; the file cache is warm.

{machine.markdown_table(columns, rows_of(runs))}
Seconds are wall-clock times, without the start of Python unless the row says so. A look-up is one
call of `Graph.answers`, and its figure is the median of {LOOKUPS:,}. Each pattern is a random fact
with one slot blanked (a triple for one known slot, otherwise a fact with one qualifier), so it has
an answer, open or closed. A batch is one call of `Graph.answers_many` with all kinds mixed, and
its figure is the time per pattern. Arrays are `Patterns`, the form in which a caller keeps many.

{machine.markdown_table(("on", ""), surroundings)}"""


def main() -> None:
    machine.arguments(__doc__).parse_args()
    if not QUICK:
        machine.require_data()
    before = machine.matrix_multiply_rate()
    with tempfile.TemporaryDirectory() as folder:
        runs = [one_run(Path(folder) / "wd50k.graph") for _ in range(RUNS)]
    text = report(runs, before, machine.matrix_multiply_rate())
    machine.write_result("graph", text, quick=QUICK)


if __name__ == "__main__":
    match [word for word in sys.argv[1:] if word != "--quick"]:
        case ["import"]:
            print(json.dumps(measure_import()))
        case ["saved", folder]:
            print(json.dumps(measure_saved(Path(folder))))
        case _:
            main()

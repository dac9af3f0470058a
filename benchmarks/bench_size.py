"""How time and memory grow with a graph: from 10 thousand to 10 million synthetic facts.

Facts are drawn by a seed: ten for each entity, relations of very different frequency, and one
qualifier on a fifth of them. Each stage is a process of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import machine
import numpy as np

from nqe import open as open_answerer

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
QUICK_SIZES = (1_000, 3_000)
PER_ENTITY = 10
RELATIONS, ATTRIBUTES, QUALIFIED = 50, 5, 0.2
SEED = 15
BLOCK = 100_000
ASKED = 5  # how often a command is started
QUESTIONS = 200  # within one process
POLL_SECONDS, SUM_SECONDS = 0.03, 0.5  # asking for the memory of many pages slows a process down
BARS = {"import": 90.0, "import_gb": 3.0, "ask": 1.5, "work_gb": 8.0}
NQE = (sys.executable, "-m", "nqe")


@dataclass(frozen=True)
class Done:
    """How long a command took, and the most memory that it had at once."""

    seconds: float
    peak_gb: float
    cpu: float = 0.0
    """The seconds that it computed, on all cores; less than the time if others compute too."""


@dataclass(frozen=True)
class Measured:
    """The figures of one size."""

    facts: int
    text_mb: float
    importing: Done
    tables_mb: float
    index_mb: float
    asking: Done
    within_ms: float
    """One question in a process that has the graph open."""
    own_mb: float
    """What a process has for itself while another one has the same graph open."""
    shared_mb: float
    """What it shares with others."""


# Synthetic facts


def write_facts(path: Path, count: int) -> None:
    """Write statements of seeded random facts."""
    rng = np.random.default_rng(SEED)
    entities = max(count // PER_ENTITY, 1)
    with path.open("w", encoding="utf-8") as file:
        for start in range(0, count, BLOCK):
            size = min(BLOCK, count - start)
            subjects = rng.integers(entities, size=size).tolist()
            relations = (rng.zipf(1.5, size=size) % RELATIONS).tolist()
            # Some entities are objects far more often than others.
            objects = (rng.random(size) ** 2 * entities).astype(int).tolist()
            qualified = (rng.random(size) < QUALIFIED).tolist()
            attributes = rng.integers(ATTRIBUTES, size=size).tolist()
            values = rng.integers(entities, size=size).tolist()
            columns = (subjects, relations, objects, qualified, attributes, values)
            file.writelines(map(_write_fact, *columns))


def _write_fact(
    subject: int, relation: int, object_: int, qualified: bool, attribute: int, value: int
) -> str:
    pair = f",A{attribute},Q{value}" if qualified else ""
    return f"Q{subject},P{relation},Q{object_}{pair}\n"


def make_questions(count: int, facts: int) -> list[str]:
    """Questions about random entities, in one step and in two."""
    rng = np.random.default_rng(SEED + 1)
    anchors = rng.integers(max(facts // PER_ENTITY, 1), size=count).tolist()
    forms = ("?x: P1(Q{}, ?x)", "?x: P2(?x, Q{})", "?x: P1(Q{}, ?y) and P2(?y, ?x)")
    return [forms[n % len(forms)].format(anchor) for n, anchor in enumerate(anchors)]


# Processes


def run(command: Sequence[str]) -> Done:
    """Run a command, which must succeed."""
    peaks = [0.0]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    watcher = threading.Thread(target=watch_peak, args=(process.pid, peaks))
    watcher.start()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    code = process.returncode = os.waitstatus_to_exitcode(status)
    watcher.join()
    if code:
        sys.exit(f"failed with code {code}: {' '.join(command)}")
    return Done(seconds, max(peaks), usage.ru_utime + usage.ru_stime)


def watch_peak(pid: int, peaks: list[float]) -> None:
    """Add the most memory in GB that a process has had, again and again until it ends.

    What the system says of a process that has ended includes the memory of the one it came from.
    """
    while found := re.search(r"VmHWM:\s*(\d+)", read_status(pid)):
        peaks.append(int(found[1]) / 2**20)
        time.sleep(POLL_SECONDS)


def read_status(pid: int) -> str:
    """What the system says of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return ""


def run_with_children(command: Sequence[str]) -> Done:
    """Run a command; its memory is that of all its processes, shared memory counted once."""
    start, peak = time.perf_counter(), 0.0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while process.poll() is None:
        tree = [process.pid, *list_children(process.pid)]
        peak = max(peak, sum(read_memory(pid).get("Pss", 0.0) for pid in tree))
        time.sleep(SUM_SECONDS)
    if process.returncode:
        assert process.stderr is not None
        sys.exit(f"failed: {' '.join(command)}\n{process.stderr.read().decode()}")
    return Done(time.perf_counter() - start, peak / 2**10)


def list_children(pid: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        words = [word for task in tasks for word in (task / "children").read_text().split()]
    except OSError:  # it has ended
        return []
    return [one for word in words for one in (int(word), *list_children(int(word)))]


def read_memory(pid: int | str) -> dict[str, float]:
    """The memory of a process in MB, by kind; empty if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return {}
    return {line.split(":")[0]: int(line.split()[1]) / 2**10 for line in lines}


def measure_within(folder: Path, facts: int) -> None:
    """Answer questions in this process, then print what it measured and wait for a line."""
    answerer, times = open_answerer(folder), []
    for question in make_questions(QUESTIONS, facts):
        start = time.perf_counter()
        answerer.answer(question)
        times.append(time.perf_counter() - start)
    memory = read_memory("self")
    print(json.dumps({"seconds": statistics.median(times), "memory": memory}), flush=True)
    sys.stdin.readline()


def start_within(folder: Path, facts: int) -> tuple[subprocess.Popen[str], dict[str, dict]]:
    """Start a process that measures and then keeps the graph open."""
    command = [sys.executable, __file__, "within", str(folder), str(facts)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, json.loads(process.stdout.readline())


def measure_two(folder: Path, facts: int) -> dict[str, dict]:
    """What a process measures while another one has the same graph open."""
    first, _ = start_within(folder, facts)
    second, measured = start_within(folder, facts)
    for process in (first, second):
        process.communicate("\n")
    return measured


# Measuring


def measure_size(place: Path, facts: int) -> Measured:
    """Measure one size; the graph is left in the folder `graph`."""
    text, folder = place / "facts.csv", place / "graph"
    write_facts(text, facts)
    importing = run([*NQE, "import", str(text), "-o", str(folder)])
    question = make_questions(1, facts)[0]
    asked = [run([*NQE, "ask", str(folder), question]) for _ in range(ASKED)]
    seconds, cpu = (
        statistics.median(getattr(one, name) for one in asked) for name in ("seconds", "cpu")
    )
    within = measure_two(folder, facts)
    memory = within["memory"]
    own = memory["Private_Clean"] + memory["Private_Dirty"]
    return Measured(
        facts,
        text.stat().st_size / 1e6,
        importing,
        sum(path.stat().st_size for path in folder.glob("*.parquet")) / 1e6,
        (folder / "index.bin").stat().st_size / 1e6,
        Done(seconds, max(one.peak_gb for one in asked), cpu),
        1000 * within["seconds"],
        own,
        memory["Rss"] - own,
    )


def measure_work(folder: Path, place: Path) -> dict[str, Done]:
    """Sample queries from a graph, and train a model on one-hop queries for a few steps."""
    queries, model = place / "queries", place / "run"
    few = ("--train", "200", "--valid", "0", "--test", "0", "--shape", "2p", "--shape", "2i")
    steps = ("--shapes", "1p", "--set", "train.steps=10", "--set", 'train.device="cpu"')
    return {
        "sample 400 queries (`nqe sample`)": run_with_children(
            [*NQE, "sample", str(folder), "-o", str(queries), *few]
        ),
        "train 10 steps (`nqe train --shapes 1p`)": run_with_children(
            [*NQE, "train", str(folder), "-o", str(model), *steps]
        ),
    }


# The page


def make_rows(measured: Sequence[Measured]) -> list[tuple[str, ...]]:
    """The rows of the table of sizes."""
    return [
        (
            f"{one.facts:,}",
            f"{one.importing.seconds:.1f} s ({one.importing.cpu:.1f})",
            f"{one.importing.peak_gb:.2f} GB",
            f"{one.text_mb:,.1f} MB",
            f"{one.tables_mb:,.1f} MB",
            f"{one.index_mb:,.1f} MB",
            f"{one.asking.seconds:.2f} s ({one.asking.cpu:.2f})",
            f"{one.within_ms:.2f} ms",
            f"{one.own_mb:,.0f} MB",
            f"{one.shared_mb:,.0f} MB",
        )
        for one in measured
    ]


def make_growth(measured: Sequence[Measured]) -> list[tuple[str, ...]]:
    """How much each figure grows from one size to the next, and how much facts do."""
    rows = []
    for before, after in pairwise(measured):
        pairs = (
            (before.facts, after.facts),
            (before.importing.seconds, after.importing.seconds),
            (before.importing.peak_gb, after.importing.peak_gb),
            (before.tables_mb + before.index_mb, after.tables_mb + after.index_mb),
            (before.asking.seconds, after.asking.seconds),
            (before.within_ms, after.within_ms),
            (before.own_mb, after.own_mb),
        )
        name = f"{before.facts:,} to {after.facts:,}"
        rows.append((name, *(f"× {new / old:.1f}" for old, new in pairs)))
    return rows


def make_bars(largest: Measured, work: dict[str, Done]) -> list[tuple[str, ...]]:
    """The bars at the largest size, and whether each is met."""
    importing, asking = largest.importing, largest.asking
    found = [
        ("import from text", importing.seconds, BARS["import"], "s"),
        ("memory of the import", importing.peak_gb, BARS["import_gb"], "GB"),
        ("`nqe ask`, from the start of the program", asking.seconds, BARS["ask"], "s"),
        *((f"memory: {what}", one.peak_gb, BARS["work_gb"], "GB") for what, one in work.items()),
    ]
    return [
        (what, f"{value:.2f} {unit}", f"{bar:g} {unit}", "pass" if value < bar else "fail")
        for what, value, bar, unit in found
    ]


def report(measured: Sequence[Measured], work: dict[str, Done], rates: Sequence[float]) -> str:
    """The page of all results."""
    largest = measured[-1]
    columns = ("facts", "import", "its memory", "text", "tables", "index", "`nqe ask`")
    columns += ("one question", "own memory", "shared memory")
    growth = ("size", "facts", "import", "its memory", "folder", "`nqe ask`", "one question", "own")
    busy = f"{rates[0]:.0f} GF/s before, {rates[1]:.0f} GF/s after"
    surroundings = [*machine.describe(("numpy", "pyarrow")), ("2048³ fp32 multiply", busy)]
    works = [(what, f"{d.seconds:.0f} s", f"{d.peak_gb:.2f} GB") for what, d in work.items()]
    return f"""# Size: from {measured[0].facts:,} to {largest.facts:,} facts

By `benchmarks/bench_size.py`: synthetic facts, {PER_ENTITY} for each entity, {RELATIONS}
relations, a qualifier on {QUALIFIED:.0%} of the facts, seed {SEED}. The file cache is warm.

{machine.markdown_table(columns, make_rows(measured))}
Import and `nqe ask` are commands, from the start of Python to its end, with the seconds that they
computed in brackets; of `nqe ask` the median of {
        ASKED
    }. Tables are the Parquet files of the graph folder, the index is `index.bin`. One question is
the median of {QUESTIONS} in a process that has the graph open, in one step or in two. Own memory is
what that process has for itself, and shared memory what it shares, while a second process has the
same graph open.

Growth from one size to the next; nothing should grow faster than the facts do:

{machine.markdown_table(growth, make_growth(measured))}
With {largest.facts:,} facts and {largest.facts // PER_ENTITY:,} entities, all processes of a
command together, shared memory counted once:

{machine.markdown_table(("what", "time", "most memory"), works)}
{
        machine.markdown_table(
            ("bar, with the largest size", "measured", "less than", ""), make_bars(largest, work)
        )
    }
{machine.markdown_table(("on", ""), surroundings)}"""


def main() -> None:
    """Measure all sizes, and write the page."""
    parser = machine.arguments(__doc__)
    parser.add_argument("--largest", type=int, help="leave out larger sizes, and write no result")
    given = parser.parse_args()
    sizes = QUICK_SIZES if given.quick else SIZES
    sizes = tuple(size for size in sizes if size <= (given.largest or sizes[-1]))
    rates, measured, work = [machine.matrix_multiply_rate()], [], {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as place:
            measured.append(measure_size(Path(place), size))
            print(measured[-1], file=sys.stderr, flush=True)
            if size == sizes[-1]:
                work = measure_work(Path(place) / "graph", Path(place))
            shutil.rmtree(Path(place) / "graph")
    rates.append(machine.matrix_multiply_rate())
    machine.write_result("size", report(measured, work, rates), quick=len(sizes) < len(SIZES))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["within", folder, facts]:
            measure_within(Path(folder), int(facts))
        case _:
            main()

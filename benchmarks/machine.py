"""What benchmarks share: the data, a description of the machine, and the pages they write."""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

from nqe.cores import usable_cores
from nqe.demo import demo_dataset
from nqe.graph import Dataset
from nqe.readers import read
from nqe.reproduction.graphs import FORMATS
from nqe.reproduction.machine import find_commit, find_processor

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
WD50K = DATA / "wd50k"
RESULTS = ROOT / "benchmarks" / "results"
SIDE = 2048


def arguments(description: str | None) -> argparse.ArgumentParser:
    """The arguments of every benchmark: `--quick` tries the script on the small embedded graph."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="try the script out: the embedded graph, small sizes, and no result is written",
    )
    return parser


def benchmark_data(name: str = "wd50k", *, quick: bool) -> Dataset:
    """A data set with its labels, or the embedded graph; without the data set the script ends."""
    if quick:
        return demo_dataset()
    require_data(name)
    return read(DATA / name, format=FORMATS.get(name))


def require_data(name: str = "wd50k") -> None:
    """End the script if a data set is not beside the project."""
    if not (DATA / name).is_dir():
        sys.exit(f"skipped: {name} is not beside the project, in ../shared/data")


def matrix_multiply_rate(repeats: int = 5) -> float:
    """GF/s of a 2048³ fp32 multiply by numpy, the median; it falls when the machine is busy."""
    matrix = np.random.default_rng(0).random((SIDE, SIDE), dtype=np.float32)
    product = matrix @ matrix  # the first multiply starts the threads
    return statistics.median(_rate(matrix, product) for _ in range(repeats))


def _rate(matrix: np.ndarray, product: np.ndarray) -> float:
    start = time.perf_counter()
    np.matmul(matrix, matrix, out=product)
    return 2 * SIDE**3 / (time.perf_counter() - start) / 1e9


def revision(folder: Path = ROOT, paths: Sequence[str] = ("nqe", "benchmarks/*.py")) -> str:
    """The commit of a checkout, and whether any of these files differ from it."""
    return find_commit(folder, paths) or "unknown (no git)"


def describe(packages: Iterable[str]) -> list[tuple[str, str]]:
    """The date, the revision, the machine and the versions of packages, as rows of a table."""
    return [
        ("date", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("revision", revision()),
        ("processor", f"{find_processor()}, {usable_cores()} cores"),
        ("system", f"{platform.system()} {platform.machine()}"),
        ("Python", platform.python_version()),
        *((package, version(package)) for package in packages),
    ]


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write_result(name: str, text: str, *, quick: bool = False) -> None:
    """Print a result, and keep it in benchmarks/results unless the script was only tried out."""
    print(text)
    if quick:
        return
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.md"
    path.write_text(text, encoding="utf-8")
    print(f"\nwritten to {path.relative_to(ROOT)}")


def peak_memory() -> float:
    """The most memory that this process has used so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def use_one_core() -> None:
    """Keep this process on its first core, where the system allows that."""
    if hasattr(os, "sched_setaffinity"):  # not on macOS
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

"""What benchmarks share: the data, a description of the machine, and the pages they write."""

from __future__ import annotations

import argparse
import platform
import resource
import statistics
import subprocess
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


def benchmark_data(*, quick: bool) -> Dataset:
    """WD50K with its labels, or the embedded graph; without WD50K the script ends."""
    if quick:
        return demo_dataset()
    require_wd50k()
    return read(WD50K)


def require_wd50k() -> None:
    """End the script if WD50K is not beside the project."""
    if not WD50K.is_dir():
        sys.exit("skipped: WD50K is not beside the project, in ../shared/data")


def cpu_model() -> str:
    """The name that the processor gives itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())


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
    commit = _git(folder, "rev-parse", "--short=12", "HEAD")
    if commit is None:
        return "unknown (no git)"
    changed = _git(folder, "status", "--porcelain", "--", *paths)
    return f"{commit} with uncommitted changes" if changed else commit


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def describe(packages: Iterable[str]) -> list[tuple[str, str]]:
    """The date, the revision, the machine and the versions of packages, as rows of a table."""
    return [
        ("date", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("revision", revision()),
        ("processor", f"{cpu_model()}, {usable_cores()} cores"),
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

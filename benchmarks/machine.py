"""What benchmarks share: the data, the machine they ran on, and the files they write."""

from __future__ import annotations

import platform
import resource
import statistics
import subprocess
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

from nqe.cores import usable_cores

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
RESULTS = ROOT / "benchmarks" / "results"
SIDE = 2048


def cpu_model() -> str:
    """What the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())


def matrix_multiply_rate(repeats: int = 5) -> float:
    """GF/s of a 2048³ fp32 multiply by numpy, the median; it falls when the machine is busy."""
    one = np.random.default_rng(0).random((SIDE, SIDE), dtype=np.float32)
    product = one @ one  # the first one starts the threads
    return statistics.median(_rate(one, product) for _ in range(repeats))


def _rate(one: np.ndarray, product: np.ndarray) -> float:
    start = time.perf_counter()
    np.matmul(one, one, out=product)
    return 2 * SIDE**3 / (time.perf_counter() - start) / 1e9


def revision(paths: Sequence[str] = ("nqe", "benchmarks/*.py")) -> str:
    """The commit measured, and whether anything that matters differs from it."""
    commit = _git("rev-parse", "--short=12", "HEAD")
    if commit is None:
        return "unknown (no git)"
    changed = _git("status", "--porcelain", "--", *paths)
    return f"{commit} with uncommitted changes" if changed else commit


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def describe(packages: Iterable[str]) -> list[tuple[str, str]]:
    """The machine, the software and the moment, as rows of a table."""
    return [
        ("date", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("revision", revision()),
        ("processor", f"{cpu_model()}, {usable_cores()} cores"),
        ("system", f"{platform.system()} {platform.machine()}"),
        ("Python", platform.python_version()),
        *((package, version(package)) for package in packages),
    ]


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows under a header."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write_result(name: str, text: str) -> Path:
    """Put a result where the others are, and say so."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.md"
    path.write_text(text, encoding="utf-8")
    print(f"\nwritten to {path.relative_to(ROOT)}")
    return path


def peak_memory() -> float:
    """The most memory that this process has held so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20

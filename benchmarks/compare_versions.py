"""Measure two checkouts of the project against each other on one machine.

`python benchmarks/compare_versions.py /path/to/before . -o versions` runs every scenario of
`version_scenarios.py` nine times on each checkout, in turns and each time in a new process, and
shows the median of the nine ratios with its interval. A measurement is called slower only if the
whole interval is above 1. Nine pairs take about a quarter of an hour on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from machine import (
    ROOT,
    WD50K,
    describe,
    markdown_table,
    matrix_multiply_rate,
    require_data,
    revision,
    write_result,
)
from version_scenarios import SCENARIOS, Seconds

SCRIPT = Path(__file__).with_name("version_scenarios.py")
PAIRS = 9
COVERAGE = 0.95


@dataclass(frozen=True)
class Comparison:
    """The times of one measurement on both checkouts, pair by pair."""

    name: str
    before: tuple[float, ...]
    after: tuple[float, ...]

    @property
    def ratios(self) -> list[float]:
        """After divided by before, for each pair: above 1 is slower."""
        return [after / before for before, after in zip(self.before, self.after, strict=True)]

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the median ratio lies with 95% confidence; None if there are too few pairs."""
        return median_interval(self.ratios)

    @property
    def verdict(self) -> str:
        """Slower or faster if the whole interval is."""
        if self.interval is None:
            return "too few pairs"
        low, high = self.interval
        return "slower" if low > 1 else "faster" if high < 1 else "the same"

    @property
    def row(self) -> tuple[str, ...]:
        """The row of the table."""
        low_high = "" if self.interval is None else "{:.3f} to {:.3f}".format(*self.interval)
        times = (f"{1000 * statistics.median(one):.1f}" for one in (self.before, self.after))
        return (self.name, *times, f"{statistics.median(self.ratios):.3f}", low_high, self.verdict)


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The k-th lowest and the k-th highest value, between which the median is likely to lie.

    The median lies outside with the chance that fewer than k of n tosses of a coin are heads,
    twice; k is the largest for which that is at most 5%. Six values are the fewest that do.
    """
    count, ordered = len(values), sorted(values)
    outside, chosen = 0.0, 0
    for below in range(count // 2):
        outside += 2 * math.comb(count, below) / 2**count
        if outside > 1 - COVERAGE:
            break
        chosen = below + 1
    return (ordered[chosen - 1], ordered[-chosen]) if chosen else None


def run(checkout: Path, *words: str | Path) -> str:
    """What the scenarios' script prints when it runs on a checkout."""
    environment = os.environ | {
        "PYTHONPATH": str(checkout),
        "NQE_BENCHMARK_DATA": str(WD50K),
    }
    done = subprocess.run(
        [sys.executable, str(SCRIPT), *map(str, words)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env=environment,
    )
    return done.stdout


def measure(
    checkouts: Sequence[Path], scenarios: Sequence[str], pairs: int, folder: Path
) -> list[Comparison]:
    """Every scenario on both checkouts in turns; which one comes first changes each time."""
    homes = [folder / "before", folder / "after"]
    for checkout, home in zip(checkouts, homes, strict=True):
        home.mkdir()
        run(checkout, "prepare", home)
    found: list[list[Seconds]] = [[], []]
    for pair in range(pairs):
        start = time.monotonic()
        times: list[Seconds] = [{}, {}]
        for scenario in scenarios:
            for side in (0, 1) if pair % 2 == 0 else (1, 0):
                times[side] |= json.loads(run(checkouts[side], scenario, homes[side]))
        for side in (0, 1):
            found[side].append(times[side])
        print(f"pair {pair + 1} of {pairs}: {time.monotonic() - start:.0f} s", flush=True)
    return compared(*found)


def compared(before: Sequence[Seconds], after: Sequence[Seconds]) -> list[Comparison]:
    """The measurements by name; both checkouts measure the same things."""
    return [
        Comparison(name, tuple(one[name] for one in before), tuple(one[name] for one in after))
        for name in before[0]
    ]


def report(
    comparisons: Sequence[Comparison],
    revisions: Sequence[str],
    pairs: int,
    rates: tuple[float, float],
) -> str:
    """The result as a page."""
    columns = ("what", "before, ms", "after, ms", "ratio", "interval", "")
    return "\n".join(
        [
            "# Two versions of the project, measured in turns\n",
            f"By `benchmarks/compare_versions.py` on WD50K, {pairs} pairs. The ratio is the median "
            "of after divided by before, pair by pair, with the order statistics between which "
            "it lies with at least 95% confidence. Slower means that the whole interval is "
            "above 1.\n",
            markdown_table(columns, [one.row for one in comparisons]),
            markdown_table(
                ("on", ""),
                [
                    ("before", revisions[0]),
                    ("after", revisions[1]),
                    *(row for row in describe(("torch", "numpy")) if row[0] != "revision"),
                    ("2048³ multiply", "{:.0f} GF/s before, {:.0f} after".format(*rates)),
                ],
            ),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, help="a checkout")
    parser.add_argument("after", type=Path, nargs="?", default=ROOT, help="another; this one")
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument("--only", default=",".join(SCENARIOS), help="scenarios, with commas")
    parser.add_argument("-o", "--output", help="the name of a result to write")
    options = parser.parse_args()
    require_data()
    checkouts = [options.before.resolve(), options.after.resolve()]
    rate = matrix_multiply_rate()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(checkouts, options.only.split(","), options.pairs, Path(folder))
    revisions = [revision(checkout, ["nqe"]) for checkout in checkouts]
    text = report(found, revisions, options.pairs, (rate, matrix_multiply_rate()))
    write_result(options.output or "", text, quick=options.output is None)


if __name__ == "__main__":
    main()

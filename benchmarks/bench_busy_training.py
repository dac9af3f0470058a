"""Training beside a busy process, and on idle cores, by how long threads spin while they wait.

Every round trains anew, in a process of its own each, with the spin count that OpenMP has without
nqe and with that of `nqe/threads.py` (or with those of `--values`), idle and beside one process
that computes without end at nice 19. Ratios are of runs of the same round. Run it on an idle
machine: what else runs there counts as busy too.

Linux shares the processor between sessions first, and `nice` counts only within one. The busy
process therefore belongs to the session of the trainings.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machine import WD50K, arguments, describe, markdown_table, require_data, write_result

from nqe.demo import NAME
from nqe.threads import CHOICES, WAITING

SCRIPT = Path(__file__).with_name("training_process.py")
VARIABLE = "GOMP_SPINCOUNT"
DEFAULT, CHOSEN = "300000", WAITING[VARIABLE]
IDLE_BAR, BUSY_BAR = 0.97, 0.45
COLUMNS = (
    *("spin count", "idle, queries/s", "busy, queries/s"),
    *(f"idle / today's idle (bar {IDLE_BAR})", f"busy / today's idle (bar {BUSY_BAR})"),
    *("busy / its own idle", "same weights"),
)


@dataclass(frozen=True)
class Sizes:
    """How much is measured: a run ends after this many steps, or else after this many seconds."""

    rounds: int = 9
    steps: int = 20
    seconds: float = 30.0


QUICK = Sizes(1, 4, 5.0)


@dataclass(frozen=True)
class Measured:
    """The rates of one spin count in each round, and the weights of all its trainings."""

    spins: str
    idle: tuple[float, ...]
    busy: tuple[float, ...]
    digests: frozenset[str]

    def compare(self, idle: Sequence[float]) -> tuple[float, float]:
        """The medians of its idle and of its busy rates as parts of other idle rates."""
        return _median_ratio(self.idle, idle), _median_ratio(self.busy, idle)

    def row(self, default: Measured) -> tuple[str, ...]:
        """The row of the table."""
        idle, busy = self.compare(default.idle)
        name = {DEFAULT: f"{DEFAULT} (OpenMP's)", CHOSEN: f"{CHOSEN} (nqe's)"}
        return (
            name.get(self.spins, self.spins),
            f"{statistics.median(self.idle):,.0f}",
            f"{statistics.median(self.busy):,.0f}",
            *(f"{ratio:.2f}" for ratio in (idle, busy, _median_ratio(self.busy, self.idle))),
            "yes" if self.digests == default.digests and len(self.digests) == 1 else "NO",
        )


def _median_ratio(rates: Sequence[float], others: Sequence[float]) -> float:
    return statistics.median(rate / other for rate, other in zip(rates, others, strict=True))


@contextmanager
def busy_process() -> Iterator[None]:
    """Keep one core busy at nice 19."""
    command = ["nice", "-n", "19", sys.executable, "-c", "while True: pass"]
    process = subprocess.Popen(command)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def train(data: str, sizes: Sizes, spins: str, *, busy: bool) -> dict[str, Any]:
    """What one training prints; nqe itself sets the spin count that it has."""
    environment = {name: value for name, value in os.environ.items() if name not in CHOICES}
    if spins != CHOSEN:
        environment[VARIABLE] = spins
    command = [sys.executable, str(SCRIPT), data, str(sizes.steps), str(sizes.seconds)]
    with busy_process() if busy else nullcontext():
        done = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=True, env=environment
        )
    result: dict[str, Any] = json.loads(done.stdout)
    if result["spins"] != spins:
        sys.exit(f"the training ran with {VARIABLE}={result['spins']}, not {spins}")
    where = "busy" if busy else "idle"
    speed = f"{result['rate']:.0f} queries/s, {result['threads']} threads"
    print(f"{spins} {where}: {speed}", file=sys.stderr, flush=True)
    return result


def measure(data: str, sizes: Sizes, values: Sequence[str]) -> list[Measured]:
    """All spin counts in turns; which one comes first changes each time."""
    cases = [(spins, busy) for spins in values for busy in (False, True)]
    rates: dict[tuple[str, bool], list[float]] = {case: [] for case in cases}
    digests: dict[str, set[str]] = {spins: set() for spins in values}
    for number in range(sizes.rounds):
        for spins, busy in cases if number % 2 == 0 else reversed(cases):
            result = train(data, sizes, spins, busy=busy)
            rates[spins, busy].append(result["rate"])
            digests[spins] |= {result["digest"]} if result["digest"] else set()
    return [
        Measured(
            spins, tuple(rates[spins, False]), tuple(rates[spins, True]), frozenset(digests[spins])
        )
        for spins in values
    ]


def parse_values(text: str) -> list[str]:
    """Spin counts, with that of OpenMP first; nqe's own is always among them."""
    given = [value.strip() for value in text.split(",") if value.strip()]
    wrong = [value for value in given if not value.isdecimal()]
    if wrong:
        raise argparse.ArgumentTypeError(f"'{wrong[0]}' is not a number of turns")
    return list(dict.fromkeys((DEFAULT, CHOSEN, *given)))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--values", type=parse_values, default=parse_values(""))
    parser.add_argument("--rounds", type=int, help="rounds, instead of nine")
    given = parser.parse_args()
    sizes = QUICK if given.quick else Sizes(rounds=given.rounds or Sizes.rounds)
    if not given.quick:
        require_data()
    load = os.getloadavg()[0]
    measured = measure(NAME if given.quick else str(WD50K), sizes, given.values)
    default = measured[0]
    text = "\n".join(
        [
            "# Training on a busy machine\n",
            f"By `benchmarks/bench_busy_training.py`: {sizes.rounds} rounds of default trainings "
            f"of {sizes.steps} steps on one-hop queries of WD50K's train split, a process each. "
            f"One that takes longer than {sizes.seconds:.0f} s ends early, before the slower steps "
            "with the full softmax. Busy: beside one process that computes without end at nice "
            "19, in the same session. Rates and ratios are medians; a ratio is of two runs of one "
            f"round. The spin count is `{VARIABLE}`, and today's is OpenMP's own.\n",
            markdown_table(
                ("what", "value"), [*describe(("torch",)), ("load before", f"{load:.2f}")]
            ),
            markdown_table(COLUMNS, [one.row(default) for one in measured]),
        ]
    )
    write_result("busy-training", text, quick=given.quick)
    chosen = next(one for one in measured if one.spins == CHOSEN)
    idle, busy = chosen.compare(default.idle)
    same = chosen.digests == default.digests and len(default.digests) == 1
    if not given.quick and (idle < IDLE_BAR or busy < BUSY_BAR or not same):
        sys.exit("a bar is missed")


if __name__ == "__main__":
    main()

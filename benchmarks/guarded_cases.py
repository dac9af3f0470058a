"""Runs numbered cases in forked processes that are limited in time and memory.

A process that hangs, dies or takes too much memory costs one case: it is recorded, and another
process goes on with the next one.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal

SECONDS = 5.0
"""A case that computes longer has failed; what other programs take from a processor is no part."""
PATIENCE = 60.0
"""A case without a result after this time is ended, however little it computed."""
MEGABYTES = 1024.0
"""A case that takes more memory than this, beyond what the process had before, has failed."""
ADDRESS_SPACE = 4 << 30
"""What a worker may reserve beyond what it began with, so that the machine is never in danger."""

Verdict = Literal["refused", "harmless", "differs", "failed"]


@dataclass(frozen=True)
class Outcome:
    """How a case ended."""

    verdict: Verdict
    detail: str = ""
    """What was done and what came of it; shown for failures."""


@dataclass(frozen=True)
class Measured:
    """The outcome of a numbered case, with its time and memory."""

    case: int
    outcome: Outcome
    seconds: float
    megabytes: float


@dataclass
class Tally:
    """The sum of many cases."""

    verdicts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)
    seconds: float = 0.0
    megabytes: float = 0.0

    @property
    def cases(self) -> int:
        """The number of cases so far."""
        return self.verdicts.total()

    def add(self, measured: Measured) -> None:
        """Count a case."""
        self.verdicts[measured.outcome.verdict] += 1
        self.seconds = max(self.seconds, measured.seconds)
        self.megabytes = max(self.megabytes, measured.megabytes)
        if measured.outcome.verdict == "failed":
            self.failures.append((measured.case, measured.outcome.detail))


Run = Callable[[int], Outcome]
"""Runs the case of a number."""


def run_cases(run: Run, count: int, *, seconds: float = PATIENCE) -> Iterator[Measured]:
    """Run the cases 0 … count - 1, and yield what came of each."""
    first = 0
    while first < count:
        for measured in _run_in_worker(run, first, count, seconds):
            yield measured
            first = measured.case + 1


def run_here(run: Run, case: int) -> Measured:
    """Run one case in this process, and measure it."""
    before = _reset_peak()
    start = _read_clock()
    try:
        outcome = run(case)
    except BaseException as error:  # whatever a case raises is what the campaign looks for
        if isinstance(error, KeyboardInterrupt):
            raise
        outcome = Outcome("failed", describe_error(error))
    seconds = _read_clock() - start
    return _judge(Measured(case, outcome, seconds, _read_peak() - before))


def _read_clock() -> float:
    """The processor's seconds of this process and of those that it started and that ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def describe_error(error: BaseException) -> str:
    """An error in one line, with the place in the package that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if f"{os.sep}nqe{os.sep}" in frame.filename] or frames
    place = f" at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    return f"{type(error).__name__}{place}: {' '.join(str(error).split())[:200]}"


def preload() -> None:
    """Import the whole package, with one thread each, so that workers can be forked quickly."""
    import gc
    from importlib import import_module
    from pkgutil import walk_packages

    import pyarrow
    import torch

    import nqe

    for module in walk_packages(nqe.__path__, "nqe."):
        if not module.name.endswith(("__main__", "build_atlas")):
            import_module(module.name)
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())
    pyarrow.set_cpu_count(1)
    torch.set_num_threads(1)
    gc.freeze()


def _judge(measured: Measured) -> Measured:
    """Turn a case that took too long or too much memory into a failure."""
    for what, value, limit in (
        ("s", measured.seconds, SECONDS),
        ("MB", measured.megabytes, MEGABYTES),
    ):
        if value > limit and measured.outcome.verdict != "failed":
            detail = f"took {value:,.0f} {what} ({measured.outcome.detail})"
            return Measured(
                measured.case, Outcome("failed", detail), measured.seconds, measured.megabytes
            )
    return measured


def _run_in_worker(run: Run, first: int, count: int, seconds: float) -> Iterator[Measured]:
    """Run cases in one worker until all are done or one of them ends it."""
    fork = multiprocessing.get_context("fork")
    receiver, sender = fork.Pipe(duplex=False)
    worker = fork.Process(target=_work, args=(run, first, count, sender), daemon=False)
    worker.start()
    sender.close()
    case = first
    try:
        while case < count:
            if not receiver.poll(seconds):
                detail = f"no result after {seconds:g} s"
                yield Measured(case, Outcome("failed", detail), seconds, 0.0)
                return
            try:
                measured: Measured = receiver.recv()
            except EOFError:
                worker.join()
                detail = f"the process ended with {worker.exitcode}"
                yield Measured(case, Outcome("failed", detail), 0.0, 0.0)
                return
            yield measured
            case = measured.case + 1
    finally:
        if worker.is_alive() and case < count:
            _kill_group(worker.pid)
        worker.join()
        receiver.close()


def _work(run: Run, first: int, count: int, sender: Connection) -> None:
    """Run cases and send what came of them; this is the forked process."""
    os.setpgid(0, 0)  # so that the processes it starts can be ended with it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore")
    _limit_address_space()
    for case in range(first, count):
        sender.send(run_here(run, case))
    sender.close()
    sys.stdout.flush()
    os._exit(0)


def _kill_group(process: int | None) -> None:
    if process is not None:
        try:
            os.killpg(process, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)


def _limit_address_space() -> None:
    reserved = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (reserved + ADDRESS_SPACE, hard))


def _reset_peak() -> float:
    """Set the peak of this process's memory to what it has now, and return that, in MB."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return 0.0  # then the peak is that of the process's whole life
    return _read_peak()


def _read_peak() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0

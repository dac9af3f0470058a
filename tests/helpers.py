"""What several tests use: types of fixtures, and the command line in a process of its own."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from unittest.mock import patch

from forked_nqe import forked_program

from nqe.cli import _run
from nqe.graph import Dataset


class ReadContent(Protocol):
    """Reads a content as if it stood in a file of that name."""

    def __call__(self, content: str | bytes, name: str = ..., **options: Any) -> Dataset: ...


COMMAND = (sys.executable, "-m", "nqe")
# Two workers with two threads each would wait for each other most of the time.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# What a user's process has: output is buffered, whatever the tests themselves run under.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


@dataclass(frozen=True)
class Run:
    """How a run of the command line ended."""

    code: int
    out: str
    err: str


def quick_command() -> tuple[str, ...]:
    """The command `nqe` without the start of Python, where processes can be forked safely."""
    return (str(forked_program()),) if sys.platform == "linux" else COMMAND


def nqe(
    *arguments: str | Path,
    cwd: Path,
    given: bytes = b"",
    env: dict[str, str] | None = None,
    before: tuple[str, ...] = (),
) -> Run:
    """Run `nqe` in a process of its own; `before` is what stands before it.

    Python is started anew only if the environment changes or something stands before.
    """
    program = COMMAND if before or env else quick_command()
    done = subprocess.run(
        [*before, *program, *map(str, arguments)],
        cwd=cwd,
        input=given,
        capture_output=True,
        timeout=300,
        check=False,
        env=ENVIRONMENT | (env or {}),
    )
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode())


def nqe_here(*arguments: str | Path, cwd: Path) -> Run:
    """Run `nqe` within this process, for tables of hundreds of short commands."""
    out, err = io.StringIO(), io.StringIO()
    with (
        chdir(cwd),
        redirect_stdout(out),
        redirect_stderr(err),
        patch.object(sys, "argv", ["nqe", *map(str, arguments)]),
    ):
        code = _run()
    return Run(code if isinstance(code, int) else 0, out.getvalue(), err.getvalue())


@contextmanager
def interruptible() -> Iterator[None]:
    """A block in which SIGINT interrupts, also where the tests were started with it ignored.

    A shell ignores SIGINT for what it starts in the background (`nohup make test &`), and a
    process that is started within the block does not inherit that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def start(*arguments: str | Path, cwd: Path) -> subprocess.Popen[bytes]:
    """Start `nqe` in a process that Ctrl-C can interrupt, with all three streams as pipes."""
    with interruptible():
        return subprocess.Popen(
            [*COMMAND, *map(str, arguments)],
            cwd=cwd,
            env=ENVIRONMENT,
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )


def well(run: Run) -> str:
    """What a run printed that ended well."""
    assert run.code == 0, run.err
    assert "Traceback" not in run.err
    return run.out


def told(run: Run) -> str:
    """The one sentence of a run that was refused: where or what, and after `;` what next."""
    lines = run.err.splitlines()
    assert run.code == 2, run
    assert len(lines) == 1, run.err
    assert run.out == ""
    assert lines[0].startswith("nqe: ")
    assert "; " in lines[0]
    return lines[0].removeprefix("nqe: ")


def files(folder: Path) -> list[str]:
    """Everything in a folder, hidden or not, at any depth."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))

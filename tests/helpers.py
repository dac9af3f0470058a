"""What several tests use: types of fixtures, and the command line in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

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


def nqe(
    *arguments: str | Path,
    cwd: Path,
    given: bytes = b"",
    env: dict[str, str] | None = None,
    before: tuple[str, ...] = (),
) -> Run:
    """Run `nqe` in a process of its own; `before` is what stands before it."""
    done = subprocess.run(
        [*before, *COMMAND, *map(str, arguments)],
        cwd=cwd,
        input=given,
        capture_output=True,
        timeout=300,
        check=False,
        env=ENVIRONMENT | (env or {}),
    )
    return Run(done.returncode, done.stdout.decode(), done.stderr.decode())


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

"""What a result was computed with: the processor, the versions of nqe, and the commit."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nqe import version
from nqe.cores import usable_cores

PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Origin:
    """When, on which machine and with which code something was computed."""

    date: str
    processor: str
    cores: int
    commit: str | None
    """The commit of the package; None if it is no git checkout."""
    versions: Mapping[str, Any]

    @classmethod
    def find(cls) -> Origin:
        """The origin of what is computed now."""
        return cls(
            datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            find_processor(),
            usable_cores(),
            find_commit(),
            {
                "nqe": version.VERSION,
                "sampler": version.SAMPLER_VERSION,
                "model": version.MODEL_VERSION,
                "trainer": version.TRAINER_VERSION,
                "evaluation": version.EVALUATION_VERSION,
            },
        )


def find_processor() -> str:
    """The name that the processor gives itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.machine())


def find_commit(folder: Path = PACKAGE, paths: Sequence[str] = (".",)) -> str | None:
    """The commit of a folder in a checkout, and whether any of its files differ from it.

    None if git does not know the folder's files, as when the package is installed.
    """
    commit = _run_git(folder, "rev-parse", "--short=12", "HEAD")
    if not commit or not _run_git(folder, "ls-files", "--", *paths):
        return None
    changed = _run_git(folder, "status", "--porcelain", "--", *paths)
    return f"{commit} with uncommitted changes" if changed else commit


def _run_git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()

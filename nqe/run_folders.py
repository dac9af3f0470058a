"""RUN and checkpoint folders: how to recognize them, and which checkpoint a path means.

A RUN holds the checkpoints `best/` and `last/`, settings and metrics. Nothing here needs PyTorch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nqe.errors import StorageError
from nqe.folders import FolderKind

BEFORE_KINDS = 2
"""The version of checkpoints that do not name a kind of model: all of them are NQE models."""
CHECKPOINT = FolderKind(
    "nqe-checkpoint",
    3,
    "checkpoint",
    "nqe train",
    "train the model again",
    "config.json",
    older_versions=(BEFORE_KINDS,),
)
RUN = FolderKind("nqe-run", 1, "run or checkpoint", "nqe train", "train the model again")
BEST, LAST = "best", "last"


def is_run(path: Path) -> bool:
    """Whether a path is a RUN or a checkpoint, or was before something damaged it."""
    return path.is_dir() and (RUN.recognises(path) or CHECKPOINT.recognises(path))


def checkpoint_of(path: Path) -> Path:
    """The checkpoint that a path means: itself, a RUN's best, or its last if it has no best."""
    if CHECKPOINT.recognises(path):
        return path
    RUN.read_manifest(path)
    for name in (BEST, LAST):
        if CHECKPOINT.recognises(path / name):
            return path / name
    raise StorageError(f"{path}: holds no checkpoint yet; continue with `nqe train --resume`")


def run_manifest(path: str | Path) -> dict[str, Any] | None:
    """The manifest of a RUN, or None for a bare checkpoint."""
    folder = Path(path)
    return RUN.read_manifest(folder) if RUN.recognises(folder) else None

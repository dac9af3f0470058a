"""RUN and checkpoint folders: how to recognize them, and which checkpoint a path means.

A RUN holds the checkpoints `best/` and `last/`, settings and metrics. Nothing here needs PyTorch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import NoneType
from typing import Any

from nqe.documents import parse_document
from nqe.errors import StorageError
from nqe.files import raise_storage_errors
from nqe.folders import MANIFEST, FolderKind
from nqe.locks import hold_lock

WEIGHTS, TENSORS = "model.safetensors", "training.safetensors"
STATE, CARD = "state.json", "README.md"
VOCABULARY = "vocabulary"
"""The folder of a checkpoint that holds its entities and relations: a graph without facts."""
RULES = "rules"
"""The folder of a RUN that holds its rules."""
CALIBRATION_FILE, RELIABILITY_FILE = "calibration.json", "reliability.json"
_Entries = dict[str, tuple[type, ...]]


def _make_entries(required: _Entries, *optional: str) -> _Entries:
    """The entries of a manifest: those that are required, and texts that may be missing."""
    names = ("dataset", "fingerprint", "trained_on", *optional)
    return required | dict.fromkeys(names, (str, NoneType))


CHECKPOINT = FolderKind(
    "nqe-checkpoint",
    5,
    "checkpoint",
    "nqe train",
    "train the model again",
    (
        *(WEIGHTS, TENSORS, STATE, CARD, CALIBRATION_FILE, RELIABILITY_FILE),
        *(f"{VOCABULARY}/{name}" for name in (MANIFEST, "entities.parquet", "relations.parquet")),
    ),
    _make_entries({"model": (dict,), "entity_count": (int,), "relation_count": (int,)}, "run"),
    "config.json",
    for_people=(CARD,),
)
RUN = FolderKind(
    "nqe-run",
    2,
    "run or checkpoint",
    "nqe train",
    "train the model again",
    (
        *("settings.toml", "metrics.jsonl"),
        *("best/*", "last/*", f"{RULES}/*", "reports/*", "tensorboard/*"),
    ),
    _make_entries({"settings": (dict,)}, "queries", "queries_digest", "identity", "started_from"),
    older_versions=(1,),
    grows=True,
)
BEST, LAST = "best", "last"
LOCK = ".nqe-run.lock"
"""The lock file of a run or a checkpoint that is being changed."""


def is_run(path: Path) -> bool:
    """Whether a path is a RUN or a checkpoint, or was before something damaged it."""
    return path.is_dir() and (RUN.recognises(path) or CHECKPOINT.recognises(path))


def checkpoint_of(path: Path) -> Path:
    """The checkpoint that a path means: itself, a RUN's best, or its last if it has no best."""
    if CHECKPOINT.recognises(path):
        return path
    manifest = RUN.read_manifest(path)
    for name in (BEST, LAST):
        if (path / name).exists():
            _check_recognised(path / name)
            check_same_run(path, manifest, CHECKPOINT.read_manifest(path / name))
            if name == LAST:
                _check_no_best(path)
            return path / name
    raise StorageError(f"{path}: holds no checkpoint yet; continue with `nqe train --resume`")


@contextmanager
def lock_run(path: Path) -> Iterator[None]:
    """Lock a RUN within the block, or a checkpoint that is in no RUN, against other writers."""
    is_inside = not RUN.recognises(path) and RUN.recognises(path.parent)
    run = path.parent if is_inside else path
    with raise_storage_errors(run), hold_lock(run / LOCK, run):
        yield


def _check_recognised(checkpoint: Path) -> None:
    """Refuse a checkpoint that is damaged; another one of its RUN might give other answers."""
    if not CHECKPOINT.recognises(checkpoint):
        last = checkpoint.parent / LAST
        instead = f"use {last} instead, or " if checkpoint.name == BEST and last.exists() else ""
        raise StorageError(
            f"{checkpoint}: damaged, as its {CHECKPOINT.manifest_file} is missing or unreadable; "
            f"{instead}{CHECKPOINT.how_to_rebuild}"
        )


def _check_no_best(run: Path) -> None:
    """Refuse to use `last` in place of a `best` that training wrote and somebody removed."""
    last = CHECKPOINT.open(run / LAST)
    try:
        state = parse_document(last.read_bytes(STATE)) if last.has(STATE) else {}
    except ValueError:
        return  # whoever continues the training is told of it
    if state.get("best") is not None:
        raise StorageError(
            f"{run / BEST}: is missing, though training wrote it; restore it, or use {run / LAST} "
            "instead"
        )


def check_same_run(run: Path, manifest: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """Refuse a RUN whose manifest and checkpoint are of two trainings.

    A RUN has an identity, which its checkpoints repeat; those of older versions have none.
    """
    for said, own in (
        (manifest.get("identity"), config.get("run")),
        (manifest.get("fingerprint"), config.get("fingerprint")),
    ):
        if None not in (said, own) and said != own:
            raise StorageError(
                f"{run}: its checkpoint is of another training ({own}) than its manifest ({said}); "
                f"{CHECKPOINT.how_to_rebuild}"
            )


def run_manifest(path: str | Path) -> dict[str, Any] | None:
    """The manifest of a RUN, or None for a bare checkpoint."""
    folder = Path(path)
    return RUN.read_manifest(folder) if RUN.recognises(folder) else None

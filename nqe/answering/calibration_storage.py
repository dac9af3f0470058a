"""Calibrations on disk: `calibration.json` in a checkpoint, with its kind and format version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nqe.answering.calibration import Calibration
from nqe.errors import StorageError
from nqe.files import new_file

CALIBRATION_FILE = "calibration.json"
FORMAT, VERSION = "nqe-calibration", 1
CALIBRATIONS: dict[str, type[Calibration]] = {Calibration.kind: Calibration}
"""The kinds of calibration by name. A new kind is a subclass of `Calibration` listed here."""


def save_calibration(calibration: Calibration, checkpoint: Path) -> None:
    """Write a calibration into a checkpoint."""
    head = {"format": FORMAT, "kind": calibration.kind, "version": VERSION}
    with new_file(checkpoint / CALIBRATION_FILE) as temporary:
        text = json.dumps({**head, **calibration.to_json()})
        temporary.write_text(text + "\n", encoding="utf-8")


def load_calibration(checkpoint: Path) -> Calibration | None:
    """Read the calibration of a checkpoint; None if it has none."""
    path = checkpoint / CALIBRATION_FILE
    if not path.is_file():
        return None
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(data, dict):
            raise ValueError("not a JSON object")
        return _find_kind(path, data).from_json(data)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StorageError(f"{path}: damaged ({error}); {_remedy(path)}") from error


def _find_kind(path: Path, data: dict[str, Any]) -> type[Calibration]:
    """Find the class for the data, which says its format, version and kind."""
    if "format" not in data:
        # Files from before formats had a version are all logistic.
        return Calibration
    if data["format"] != FORMAT:
        raise ValueError(f"its format is '{data['format']}', not '{FORMAT}'")
    if data["version"] != VERSION:
        raise StorageError(
            f"{path}: format version {data['version']}, but this nqe reads {VERSION}; "
            f"{_remedy(path)}"
        )
    if data["kind"] not in CALIBRATIONS:
        known = ", ".join(CALIBRATIONS)
        raise StorageError(
            f"{path}: unknown kind of calibration '{data['kind']}'; this nqe reads {known}, "
            f"so {_remedy(path)}"
        )
    return CALIBRATIONS[data["kind"]]


def _remedy(path: Path) -> str:
    return f"calibrate the model again with `nqe calibrate {path.parent}`"

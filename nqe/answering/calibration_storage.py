"""Calibrations on disk: `calibration.json` in a checkpoint, with its kind and format version."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from nqe.answering.calibration import Calibration
from nqe.documents import check_digest, parse_document, read_document_bytes, render_document
from nqe.errors import StorageError
from nqe.files import new_file
from nqe.folders import FILES
from nqe.run_folders import CALIBRATION_FILE, CHECKPOINT, WEIGHTS

FORMAT, VERSION = "nqe-calibration", 6
CALIBRATIONS: dict[str, type[Calibration]] = {Calibration.kind: Calibration}
"""The kinds of calibration by name. A new kind is a subclass of `Calibration` listed here."""


def save_calibration(calibration: Calibration, checkpoint: Path) -> None:
    """Write a calibration into a checkpoint."""
    path = checkpoint / CALIBRATION_FILE
    head = {"format": FORMAT, "kind": calibration.kind, "version": VERSION}
    weights = find_weights_digest(_read_config(checkpoint))
    text = render_document(path, {**head, "weights": weights, **calibration.to_json()})
    with new_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def load_calibration(checkpoint: Path, weights: str | None = None) -> Calibration | None:
    """Read the calibration of a checkpoint; None if it has none.

    `weights` is the digest of the model's weights if that was loaded already, perhaps from
    another version of the folder.
    """
    path = checkpoint / CALIBRATION_FILE
    if not os.path.lexists(path):
        return None
    try:
        data = parse_document(read_document_bytes(path))
        kind = _find_kind(path, data)
        calibration = kind.from_json(data)
        config = _read_config(checkpoint)
        if "weights" in data and data["weights"] != (weights or find_weights_digest(config)):
            raise ValueError("it is that of another model")
        _check_size(calibration, config)
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise StorageError(f"{path}: damaged ({error}); {_remedy(path)}") from error
    return calibration


def find_weights_digest(config: Mapping[str, Any]) -> str | None:
    """The digest of the weights in the config of a checkpoint; older ones have none."""
    described = config.get(FILES, {}).get(WEIGHTS, {})
    return cast(str | None, described.get("sha256"))


def _read_config(checkpoint: Path) -> Mapping[str, Any]:
    """The config of a checkpoint; empty for a folder that is none."""
    return CHECKPOINT.read_manifest(checkpoint) if CHECKPOINT.recognises(checkpoint) else {}


def _check_size(calibration: Calibration, config: Mapping[str, Any]) -> None:
    """Refuse a calibration of a model with another number of relations."""
    count = config.get("relation_count")
    for curve in (calibration.facts, calibration.alone):
        if count not in (None, len(curve.own)):
            raise ValueError(f"it is for {len(curve.own)} relations, but the model has {count}")


def _find_kind(path: Path, data: dict[str, Any]) -> type[Calibration]:
    """Find the class for the data, which says its format, version and kind."""
    if data.get("format", FORMAT) != FORMAT:
        raise ValueError(f"its format is '{data['format']}', not '{FORMAT}'")
    # Files from before formats had a version are of the first one.
    version = data.get("version", 1) if {"facts", "alone"} <= set(data) else data["version"]
    if version != VERSION:
        raise StorageError(
            f"{path}: format version {version}, but this nqe reads {VERSION}; {_remedy(path)}"
        )
    if data["kind"] not in CALIBRATIONS:
        known = ", ".join(CALIBRATIONS)
        raise StorageError(
            f"{path}: unknown kind of calibration '{data['kind']}'; this nqe reads {known}, "
            f"so {_remedy(path)}"
        )
    check_digest(data, required=True)
    return CALIBRATIONS[data["kind"]]


def _remedy(path: Path) -> str:
    return f"calibrate the model again with `nqe calibrate {path.parent}`"

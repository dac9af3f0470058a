"""What is known about the model of a run: its card, learning curve and reliability."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nqe.answering.answerer import Answerer
from nqe.answering.reliability import ALL
from nqe.documents import check_digest, parse_document, read_document_bytes
from nqe.errors import StorageError
from nqe.run_folders import CARD, CHECKPOINT, RELIABILITY_FILE, checkpoint_of, run_manifest

METRICS = "metrics.jsonl"


def describe_model(answerer: Answerer, run: Path | None) -> dict[str, Any] | None:
    """The model of an answerer, with what its folder says; None if it has none, or rules alone."""
    if not answerer.has_model or answerer.neural.is_blank:
        return None
    engine = answerer.neural
    model = engine.predictor.model
    found: dict[str, Any] = {
        "kind": model.settings.kind,
        "parameters": sum(one.numel() for one in model.parameters()),
        "trained_on": None,
        "calibrated": engine.is_calibrated,
        "settings": {},
        "card": None,
        "curve": [],
        "reliability": None,
    }
    return found if run is None else found | _read_folder(run)


def _read_folder(run: Path) -> dict[str, Any]:
    checkpoint = checkpoint_of(run)
    opened = CHECKPOINT.open(checkpoint)
    manifest = run_manifest(run) or {}
    return {
        "trained_on": opened.manifest.get("trained_on"),
        "settings": manifest.get("settings", {}),
        "card": opened.read_bytes(CARD).decode() if opened.has(CARD) else None,
        "curve": _read_curve(run / METRICS),
        "reliability": read_reliability(checkpoint / RELIABILITY_FILE),
    }


def read_reliability(path: Path) -> dict[str, Any] | None:
    """The reliability over all shapes before and after calibrating; None if it was not measured.

    The file is not among those that a checkpoint signs, as calibrating comes later.
    """
    if not path.is_file():
        return None
    try:
        content = parse_document(read_document_bytes(path))
        check_digest(content)
        measured = {when: content[when][ALL] for when in ("before", "after")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StorageError(f"{path}: cannot be read ({error}); run `nqe calibrate` again") from None
    return {"split": content.get("split"), **measured}


def _read_curve(path: Path) -> list[dict[str, Any]]:
    """The validations of a training: minutes and MRR."""
    if not path.is_file():
        return []
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line)
    return [
        {"minutes": one["seconds"] / 60, "step": one["step"], "mrr": one["mrr"]}
        for one in lines
        if "mrr" in one
    ]

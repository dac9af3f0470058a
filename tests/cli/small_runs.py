"""Runs of small untrained models, written to disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from nqe.graph import Dataset
from nqe.model import new_model, save_pretrained
from nqe.model.checkpoint import Card
from nqe.run_folders import BEST, RUN
from nqe.settings import ModelSettings, RunSettings


def write_run(folder: Path, dataset: Dataset, seed: int, **changes: Any) -> Path:
    """Write a run of a small model with its initial weights."""
    torch.manual_seed(seed)
    names = dataset.vocabulary
    small = ModelSettings(width=16, layers=1, heads=2, feed_forward=16, **changes)
    model = new_model(small, len(names.entities), len(names.relations), names)
    settings = RunSettings(model=small).to_json()
    manifest = {"dataset": "atlas", "fingerprint": dataset.fingerprint, "settings": settings}
    with RUN.create(folder, manifest) as temporary:
        card = Card("atlas", dataset.fingerprint, "train", step=0)
        save_pretrained(model, temporary / BEST, card)
    return folder

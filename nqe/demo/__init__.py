"""The embedded demo data set, atlas: a small graph of the real world."""

from __future__ import annotations

from pathlib import Path

from nqe.graph.dataset import Dataset
from nqe.readers.read_dataset import read
from nqe.settings import ModelSettings, RunSettings, TrainSettings

NAME = "atlas"
FOLDER = Path(__file__).parent / NAME


def demo_dataset() -> Dataset:
    """Countries, cities, languages, currencies and time zones, with labels, in three splits."""
    return read(FOLDER)


def make_demo_settings(seconds: float) -> RunSettings:
    """Settings of a short training; smaller than the defaults, which suit larger graphs."""
    return RunSettings(
        ModelSettings(width=128, layers=2, feed_forward=256, dropout=0.1),
        TrainSettings(shapes=("1p",), batch=256, minutes=seconds / 60),
    )

"""The embedded demo data set, atlas: a small graph of the real world."""

from __future__ import annotations

from pathlib import Path

from nqe.graph.dataset import Dataset
from nqe.readers.read_dataset import read

NAME = "atlas"
FOLDER = Path(__file__).parent / NAME


def demo_dataset() -> Dataset:
    """Countries, cities, languages, currencies and time zones, with labels, in three splits."""
    return read(FOLDER)

"""What a training tells while it goes on, and what it came to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Report:
    """How far training is, and how it goes."""

    step: int
    progress: float
    """From 0 to 1."""
    epoch: int
    rate: float
    """Queries a second."""
    loss: float
    best: float | None
    """The best validation MRR."""


class Watch(Protocol):
    """Someone who wants to see how far training is."""

    def update(self, report: Report) -> None:
        """So far it is."""


@dataclass(frozen=True)
class Trained:
    """What a training came to."""

    folder: Path
    steps: int
    """In all."""
    new_steps: int
    """Those of this time; none when a run that is resumed was complete."""
    seconds: float
    best: float | None
    """The best validation MRR; only the first of several processes knows it."""

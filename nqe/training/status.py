"""The status of a training while it runs, and its outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TrainingStatus:
    """How far a training is, after a step."""

    step: int
    progress: float
    """From 0 to 1."""
    epoch: int
    rate: float
    """Queries per second."""
    loss: float
    best: float | None
    """The best validation MRR so far."""


OnStep = Callable[[TrainingStatus], None]
"""Called after every step."""


@dataclass(frozen=True)
class Trained:
    """The outcome of a training."""

    folder: Path
    steps: int
    """In all."""
    new_steps: int
    """Of this call; 0 if the run was complete already."""
    seconds: float
    best: float | None
    """The best validation MRR; known only to the first of several processes."""

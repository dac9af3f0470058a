"""The status of training after a step, and its outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TrainingStatus:
    """The progress of training after a step."""

    step: int
    progress: float
    """How much of the training is done, from 0 to 1."""
    epoch: int
    rate: float
    """Queries per second."""
    loss: float
    """The mean loss of the step's queries."""
    best: float | None
    """The best validation MRR so far."""


OnStep = Callable[[TrainingStatus], None]
"""Called after every step."""


@dataclass(frozen=True)
class FitResult:
    """The outcome of fitting a model's weights."""

    folder: Path
    """The RUN folder."""
    steps: int
    """The steps of the run in total."""
    new_steps: int
    """The steps of this call; 0 if the run was complete already."""
    seconds: float
    """The duration of the run in total."""
    best: float | None
    """The best validation MRR; only the first of several processes has it."""

"""The status of training after a step or a validation, and its outcome."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nqe.training.forecast import Forecast


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
    forecast: Forecast | None = None
    """What the run will come to by its pace; None in the first seconds."""


@dataclass(frozen=True)
class Validation:
    """The scores of a validation during training."""

    step: int
    mrr: float
    """The mean over the shapes."""
    by_shape: Mapping[str, float]


OnStep = Callable[[TrainingStatus], None]
"""Called after every step."""
OnValidation = Callable[[Validation], None]
"""Called after every validation."""


@dataclass(frozen=True)
class Listeners:
    """The functions of a caller that are told about a training while it runs."""

    on_step: OnStep | None = None
    on_validation: OnValidation | None = None


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

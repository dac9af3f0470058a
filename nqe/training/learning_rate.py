"""The schedule of the learning rate: warm-up, then decay."""

from __future__ import annotations

import math
from collections.abc import Callable

from nqe.errors import choose
from nqe.settings import TrainSettings

_DECAYS: dict[str, Callable[[float], float]] = {
    "linear": lambda done: 1 - done,
    "cosine": lambda done: (1 + math.cos(math.pi * done)) / 2,
    "none": lambda _: 1.0,
}


def compute_rate(settings: TrainSettings, progress: float) -> float:
    """Return the learning rate when `progress`, from 0 to 1, of the training is done."""
    progress = min(max(progress, 0.0), 1.0)
    if progress < settings.warm_up:
        # Never zero, so that the first step changes something.
        return settings.rate * max(progress / settings.warm_up, 0.01)
    done = (progress - settings.warm_up) / max(1 - settings.warm_up, 1e-9)
    return settings.rate * choose(_DECAYS, settings.decay, "decay")(done)

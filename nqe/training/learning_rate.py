"""How the learning rate goes over a training."""

from __future__ import annotations

import math
from collections.abc import Callable

from nqe.settings import TrainSettings

_DECAYS: dict[str, Callable[[float], float]] = {
    "linear": lambda part: 1 - part,
    "cosine": lambda part: (1 + math.cos(math.pi * part)) / 2,
    "none": lambda _: 1.0,
}


def rate(settings: TrainSettings, progress: float) -> float:
    """The learning rate when so much of the training, from 0 to 1, is done."""
    progress = min(max(progress, 0.0), 1.0)
    if progress < settings.warm_up:
        # Never nothing, so that the first step counts.
        return settings.rate * max(progress / settings.warm_up, 0.01)
    rest = (progress - settings.warm_up) / max(1 - settings.warm_up, 1e-9)
    return settings.rate * _DECAYS[settings.decay](rest)

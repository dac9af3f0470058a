"""Fitting the weights of a model: query sources, loss, optimizer, loop, RUN folders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nqe.lazy_names import load_on_use

if TYPE_CHECKING:
    from nqe.training.forecast import Forecast
    from nqe.training.status import FitResult, OnStep, OnValidation, TrainingStatus, Validation
    from nqe.training.trainer import fit_weights

_HOMES = {
    "FitResult": "nqe.training.status",
    "Forecast": "nqe.training.forecast",
    "OnStep": "nqe.training.status",
    "OnValidation": "nqe.training.status",
    "TrainingStatus": "nqe.training.status",
    "Validation": "nqe.training.status",
    "fit_weights": "nqe.training.trainer",
}

__all__ = [
    "FitResult",
    "Forecast",
    "OnStep",
    "OnValidation",
    "TrainingStatus",
    "Validation",
    "fit_weights",
]


__getattr__ = load_on_use(__name__, _HOMES)

"""Fitting the weights of a model: query sources, loss, optimizer, loop, RUN folders."""

from nqe.training.status import FitResult, OnStep, TrainingStatus
from nqe.training.trainer import fit_weights

__all__ = ["FitResult", "OnStep", "TrainingStatus", "fit_weights"]

"""Training: queries, loss, schedule, loop."""

from nqe.training.status import Trained, TrainingStatus
from nqe.training.trainer import train

__all__ = ["Trained", "TrainingStatus", "train"]

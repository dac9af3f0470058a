"""Training: queries, loss, schedule, loop."""

from nqe.training.trainer import train
from nqe.training.watch import Report, Trained, Watch

__all__ = ["Report", "Trained", "Watch", "train"]

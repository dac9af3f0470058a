"""Training: queries, loss, schedule, loop."""

from nqe.training.progress import Report, Trained, Watch
from nqe.training.trainer import train

__all__ = ["Report", "Trained", "Watch", "train"]

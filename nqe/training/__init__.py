"""Training: queries, loss, schedule, loop."""

from nqe.training.trainer import Trained, train

__all__ = ["Trained", "train"]

"""Answers by any of three runners, with probabilities and reasons."""

from nqe.answering.answerer import MODES, Answerer
from nqe.answering.answers import Answer, Answers
from nqe.answering.calibration import Calibration
from nqe.answering.calibration_fitting import Calibrated, calibrate
from nqe.answering.explanation import Explanation, explain
from nqe.answering.hybrid import HybridOptions
from nqe.answering.hybrid_runner import HybridRunner
from nqe.answering.statement_scores import StatementScore, Suggestion, score, suggest
from nqe.answering.train import TrainResult, train

__all__ = [
    "MODES",
    "Answer",
    "Answerer",
    "Answers",
    "Calibrated",
    "Calibration",
    "Explanation",
    "HybridOptions",
    "HybridRunner",
    "StatementScore",
    "Suggestion",
    "TrainResult",
    "calibrate",
    "explain",
    "score",
    "suggest",
    "train",
]

"""Answers by any of three runners, with probabilities and reasons."""

from nqe.answering.answerer import MODES, Answerer
from nqe.answering.answers import Answer, Answers
from nqe.answering.calibration import Calibration
from nqe.answering.explanation import Explanation, explain
from nqe.answering.fitting import Calibrated, calibrate
from nqe.answering.hybrid import HybridOptions
from nqe.answering.runner import HybridRunner
from nqe.answering.statements import StatementScore, Suggestion, score, suggest

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
    "calibrate",
    "explain",
    "score",
    "suggest",
]

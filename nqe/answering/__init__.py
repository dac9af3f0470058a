"""Answer queries exactly, by a model or by both, with probabilities and explanations."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nqe.answering.answerer import Answerer
    from nqe.answering.answers import Answer, Answers
    from nqe.answering.calibration import Calibration
    from nqe.answering.calibration_fitting import Calibrated, calibrate
    from nqe.answering.explanation import Explanation, explain
    from nqe.answering.hybrid import HybridOptions
    from nqe.answering.hybrid_runner import HybridRunner
    from nqe.answering.open_answerer import open
    from nqe.answering.open_graph import open_dataset
    from nqe.answering.open_run import OpenedRun
    from nqe.answering.request import MODES, Request
    from nqe.answering.statement_scores import StatementScore, Suggestion, score, suggest
    from nqe.answering.train_model import TrainResult, train

# Exact answers must not load PyTorch, so each name is imported when it is first used.
_HOMES = {
    "MODES": "request",
    "Answer": "answers",
    "Answerer": "answerer",
    "Answers": "answers",
    "Calibrated": "calibration_fitting",
    "Calibration": "calibration",
    "Explanation": "explanation",
    "HybridOptions": "hybrid",
    "HybridRunner": "hybrid_runner",
    "OpenedRun": "open_run",
    "Request": "request",
    "StatementScore": "statement_scores",
    "Suggestion": "statement_scores",
    "TrainResult": "train_model",
    "calibrate": "calibration_fitting",
    "explain": "explanation",
    "open": "open_answerer",
    "open_dataset": "open_graph",
    "score": "statement_scores",
    "suggest": "statement_scores",
    "train": "train_model",
}

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
    "OpenedRun",
    "Request",
    "StatementScore",
    "Suggestion",
    "TrainResult",
    "calibrate",
    "explain",
    "open",
    "open_dataset",
    "score",
    "suggest",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'nqe.answering' has no attribute '{name}'")
    return getattr(import_module(f"nqe.answering.{_HOMES[name]}"), name)

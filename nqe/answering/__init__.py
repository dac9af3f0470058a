"""Answer queries exactly, by a model or by both, with probabilities and explanations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nqe.lazy_names import load_on_use

if TYPE_CHECKING:
    from nqe.answering.answerer import Answerer
    from nqe.answering.answers import Answer, Answers
    from nqe.answering.calibration import Calibration
    from nqe.answering.calibration_fitting import Calibrated, calibrate
    from nqe.answering.check_folder import Checked, check
    from nqe.answering.explanation import Explanation, explain
    from nqe.answering.hybrid import HybridOptions
    from nqe.answering.hybrid_runner import HybridRunner
    from nqe.answering.open_answerer import open
    from nqe.answering.open_graph import open_dataset
    from nqe.answering.open_run import OpenedRun
    from nqe.answering.relation_prediction import RelationAnswer, predict_relations
    from nqe.answering.request import MODES, Request
    from nqe.answering.row_answers import RowAnswer, RowAnswers
    from nqe.answering.row_explanation import RowExplanation
    from nqe.answering.rule_mining import mine_rules
    from nqe.answering.statement_scores import StatementScore, Suggestion, score, suggest
    from nqe.answering.train_model import TrainResult, train

# Exact answers must not load PyTorch, so each name is imported when it is first used.
_HOMES = {
    "MODES": "nqe.answering.request",
    "Answer": "nqe.answering.answers",
    "Answerer": "nqe.answering.answerer",
    "Answers": "nqe.answering.answers",
    "Calibrated": "nqe.answering.calibration_fitting",
    "Calibration": "nqe.answering.calibration",
    "Checked": "nqe.answering.check_folder",
    "Explanation": "nqe.answering.explanation",
    "HybridOptions": "nqe.answering.hybrid",
    "HybridRunner": "nqe.answering.hybrid_runner",
    "OpenedRun": "nqe.answering.open_run",
    "RelationAnswer": "nqe.answering.relation_prediction",
    "Request": "nqe.answering.request",
    "RowAnswer": "nqe.answering.row_answers",
    "RowAnswers": "nqe.answering.row_answers",
    "RowExplanation": "nqe.answering.row_explanation",
    "StatementScore": "nqe.answering.statement_scores",
    "Suggestion": "nqe.answering.statement_scores",
    "TrainResult": "nqe.answering.train_model",
    "calibrate": "nqe.answering.calibration_fitting",
    "check": "nqe.answering.check_folder",
    "explain": "nqe.answering.explanation",
    "mine_rules": "nqe.answering.rule_mining",
    "open": "nqe.answering.open_answerer",
    "open_dataset": "nqe.answering.open_graph",
    "predict_relations": "nqe.answering.relation_prediction",
    "score": "nqe.answering.statement_scores",
    "suggest": "nqe.answering.statement_scores",
    "train": "nqe.answering.train_model",
}

__all__ = [
    "MODES",
    "Answer",
    "Answerer",
    "Answers",
    "Calibrated",
    "Calibration",
    "Checked",
    "Explanation",
    "HybridOptions",
    "HybridRunner",
    "OpenedRun",
    "RelationAnswer",
    "Request",
    "RowAnswer",
    "RowAnswers",
    "RowExplanation",
    "StatementScore",
    "Suggestion",
    "TrainResult",
    "calibrate",
    "check",
    "explain",
    "mine_rules",
    "open",
    "open_dataset",
    "predict_relations",
    "score",
    "suggest",
    "train",
]


__getattr__ = load_on_use(__name__, _HOMES)

"""Evaluation: rank the answers of any runner, report metrics, compare runs."""

from nqe.evaluation.bootstrap import Bootstrap
from nqe.evaluation.comparison import compare
from nqe.evaluation.evaluator import Ranking, Runner, evaluate
from nqe.evaluation.link_prediction import predict_links
from nqe.evaluation.metrics import METRICS, Metric, Metrics
from nqe.evaluation.ranks import Scores
from nqe.evaluation.report import Report

__all__ = [
    "METRICS",
    "Bootstrap",
    "Metric",
    "Metrics",
    "Ranking",
    "Report",
    "Runner",
    "Scores",
    "compare",
    "evaluate",
    "predict_links",
]

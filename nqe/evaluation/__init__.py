"""Evaluation: filtered ranks of anything that scores plans, reports, comparisons."""

from nqe.evaluation.bootstrap import Bootstrap
from nqe.evaluation.comparison import compare
from nqe.evaluation.evaluator import Ranking, Runner, evaluate
from nqe.evaluation.link_prediction import LinkReport, predict_links
from nqe.evaluation.ranks import Scores
from nqe.evaluation.report import Metrics, Report

__all__ = [
    "Bootstrap",
    "LinkReport",
    "Metrics",
    "Ranking",
    "Report",
    "Runner",
    "Scores",
    "compare",
    "evaluate",
    "predict_links",
]

"""Evaluation: rank the answers of any runner, report metrics, compare runs."""

from nqe.evaluation.bootstrap import Bootstrap
from nqe.evaluation.comparison import compare
from nqe.evaluation.evaluator import Ranking, Runner, evaluate
from nqe.evaluation.link_prediction import predict_links
from nqe.evaluation.metrics import METRICS, Metric, Metrics
from nqe.evaluation.ranks import Scores
from nqe.evaluation.report import Report
from nqe.evaluation.row_ranking import QuestionRunner, rank_rows

__all__ = [
    "METRICS",
    "Bootstrap",
    "Metric",
    "Metrics",
    "QuestionRunner",
    "Ranking",
    "Report",
    "Runner",
    "Scores",
    "compare",
    "evaluate",
    "predict_links",
    "rank_rows",
]

"""NQE: logical questions over incomplete hyper-relational knowledge graphs.

The public names, loaded when first used, so that reading and exact answers never import torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nqe import version
from nqe.lazy_names import load_on_use

if TYPE_CHECKING:
    from nqe.answering import (
        Answerer,
        HybridOptions,
        Request,
        calibrate,
        check,
        explain,
        mine_rules,
        open,
        predict_relations,
        score,
        suggest,
        train,
    )
    from nqe.demo import demo_dataset
    from nqe.errors import NqeError, QueryError
    from nqe.evaluation import Report, compare, evaluate, predict_links
    from nqe.graph import Dataset, EntitySet, Fact, Graph, Pattern
    from nqe.graph.holdout import split
    from nqe.graph.statistics import compute_statistics
    from nqe.model import EmbeddingRunner, Model, load
    from nqe.query import (
        SHAPES,
        And,
        Atom,
        Comparison,
        Not,
        Or,
        Plan,
        Query,
        Variable,
        atom,
        bind,
        comparison,
        execute,
        execute_many,
        parse,
        variables,
    )
    from nqe.readers import read
    from nqe.readers.fetch_dataset import fetch
    from nqe.rules import Rules, load_rules
    from nqe.sampling import sample
    from nqe.server.client import AsyncClient, Client
    from nqe.settings import ModelSettings, RunSettings, SamplingSettings, TrainSettings
    from nqe.writers import write

__version__ = version.VERSION

_HOMES = {
    "And": "nqe.query",
    "Answerer": "nqe.answering",
    "AsyncClient": "nqe.server.client",
    "Atom": "nqe.query",
    "Client": "nqe.server.client",
    "Comparison": "nqe.query",
    "Dataset": "nqe.graph",
    "EmbeddingRunner": "nqe.model",
    "EntitySet": "nqe.graph",
    "Fact": "nqe.graph",
    "Graph": "nqe.graph",
    "HybridOptions": "nqe.answering",
    "Model": "nqe.model",
    "ModelSettings": "nqe.settings",
    "Not": "nqe.query",
    "NqeError": "nqe.errors",
    "Or": "nqe.query",
    "Pattern": "nqe.graph",
    "Plan": "nqe.query",
    "Query": "nqe.query",
    "QueryError": "nqe.errors",
    "Report": "nqe.evaluation",
    "Request": "nqe.answering",
    "Rules": "nqe.rules",
    "RunSettings": "nqe.settings",
    "SHAPES": "nqe.query",
    "SamplingSettings": "nqe.settings",
    "TrainSettings": "nqe.settings",
    "Variable": "nqe.query",
    "atom": "nqe.query",
    "bind": "nqe.query",
    "calibrate": "nqe.answering",
    "check": "nqe.answering",
    "compare": "nqe.evaluation",
    "comparison": "nqe.query",
    "demo_dataset": "nqe.demo",
    "evaluate": "nqe.evaluation",
    "execute": "nqe.query",
    "execute_many": "nqe.query",
    "explain": "nqe.answering",
    "fetch": "nqe.readers.fetch_dataset",
    "load": "nqe.model",
    "load_rules": "nqe.rules",
    "mine_rules": "nqe.answering",
    "open": "nqe.answering",
    "parse": "nqe.query",
    "predict_links": "nqe.evaluation",
    "predict_relations": "nqe.answering",
    "read": "nqe.readers",
    "sample": "nqe.sampling",
    "score": "nqe.answering",
    "split": "nqe.graph.holdout",
    "compute_statistics": "nqe.graph.statistics",
    "suggest": "nqe.answering",
    "train": "nqe.answering",
    "variables": "nqe.query",
    "write": "nqe.writers",
}

__all__ = [
    "SHAPES",
    "And",
    "Answerer",
    "AsyncClient",
    "Atom",
    "Client",
    "Comparison",
    "Dataset",
    "EmbeddingRunner",
    "EntitySet",
    "Fact",
    "Graph",
    "HybridOptions",
    "Model",
    "ModelSettings",
    "Not",
    "NqeError",
    "Or",
    "Pattern",
    "Plan",
    "Query",
    "QueryError",
    "Report",
    "Request",
    "Rules",
    "RunSettings",
    "SamplingSettings",
    "TrainSettings",
    "Variable",
    "__version__",
    "atom",
    "bind",
    "calibrate",
    "check",
    "compare",
    "comparison",
    "compute_statistics",
    "demo_dataset",
    "evaluate",
    "execute",
    "execute_many",
    "explain",
    "fetch",
    "load",
    "load_rules",
    "mine_rules",
    "open",
    "parse",
    "predict_links",
    "predict_relations",
    "read",
    "sample",
    "score",
    "split",
    "suggest",
    "train",
    "variables",
    "write",
]


__getattr__ = load_on_use(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__

"""Validation: the queries to validate on, and a model's MRR on them by shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from nqe.evaluation.bootstrap import Bootstrap
from nqe.evaluation.evaluator import evaluate
from nqe.evaluation.report import Report
from nqe.graph.dataset import Dataset
from nqe.model.embedding_runner import EmbeddingRunner
from nqe.model.model import Model
from nqe.query.shapes import SHAPES
from nqe.sampling import sample
from nqe.sampling.one_hop import NAME as ONE_HOP
from nqe.sampling.one_hop import link_queries
from nqe.sampling.query_table import QueryTable, concatenate
from nqe.sampling.storage import read_manifest
from nqe.settings import SamplingSettings, TrainSettings
from nqe.training.query_sources import query_table, shapes_of

_LEAST = 20


def validation_of(
    dataset: Dataset, queries: str | None, settings: TrainSettings
) -> QueryTable | None:
    """What to validate on: queries of the query set, or drawn ones; None if there are none."""
    shapes, count, seed = shapes_of(settings), settings.valid_queries, settings.seed
    if queries is None:
        named = [name.strip() for name in settings.facts.split(",")]
        if "valid" in named or "all" in named:
            return None
        return validation_queries(dataset, shapes or list(SHAPES), count, seed)
    told = read_manifest(queries)["splits"].get("valid")
    if told is None or not told["queries"]:
        return None
    present = [name for name in shapes if name in told["shapes"]]
    if shapes and not present:
        return None
    return some_queries(query_table(dataset, queries, "valid", present), count, seed)


def validation_queries(
    dataset: Dataset, shapes: Sequence[str], count: int, seed: int
) -> QueryTable | None:
    """Queries of these shapes whose hard answers need validation facts; None without a split."""
    facts = dataset.splits.get("valid")
    if facts is None or not len(facts):
        return None
    others = tuple(shape for shape in shapes if shape != ONE_HOP)
    each = max(_LEAST, count // max(len(shapes), 1))
    tables = []
    if others:
        settings = SamplingSettings(shapes=others, train=0, valid=each, test=0, seed=seed)
        tables.append(sample(dataset, settings, workers=1).splits["valid"])
    if ONE_HOP in shapes:
        table = link_queries(facts, dataset.known("train,valid"))
        tables.append(some_queries(table, count if not others else each, seed))
    return concatenate(tables)


def some_queries(table: QueryTable, count: int, seed: int) -> QueryTable:
    """So many of the queries, drawn evenly."""
    if len(table) <= count:
        return table
    return table.take(np.sort(np.random.default_rng(seed).permutation(len(table))[:count]))


def mean_reciprocal_ranks(model: Model, queries: QueryTable) -> dict[str, float]:
    """MRR of hard answers by shape: over a query's answers, then over queries."""
    ranking = evaluate(EmbeddingRunner(model), queries)
    if not len(ranking.query):
        return {}
    report = Report.of(ranking, bootstrap=Bootstrap(samples=0))
    return {name: one.mrr for name, one in report.group("shape").items()}


def plain_mean(scores: Mapping[str, float]) -> float:
    """The mean over shapes."""
    return sum(scores.values()) / max(len(scores), 1)

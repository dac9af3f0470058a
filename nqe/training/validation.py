"""Validation during training: the queries to validate on, and the MRR of a model by shape."""

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
from nqe.sampling.one_hop import make_link_queries
from nqe.sampling.query_table import QueryTable, concatenate
from nqe.sampling.storage import read_manifest
from nqe.settings import SamplingSettings, TrainSettings
from nqe.training.query_sources import load_checked_queries, parse_shapes

_LEAST = 20
"""At least this many queries of every shape are drawn."""


def choose_validation_queries(
    dataset: Dataset, queries: str | None, settings: TrainSettings
) -> QueryTable | None:
    """Return the queries to validate on, from the query set or drawn; None if there are none."""
    shapes, count, seed = parse_shapes(settings), settings.valid_queries, settings.seed
    if queries is None:
        if includes_valid(settings.facts):
            return None
        return draw_validation_queries(dataset, shapes or list(SHAPES), count, seed)
    contents = read_manifest(queries)["splits"].get("valid")
    if contents is None or not contents["queries"]:
        return None
    present = [name for name in shapes if name in contents["shapes"]]
    if shapes and not present:
        return None
    return draw_rows(load_checked_queries(dataset, queries, "valid", present), count, seed)


def includes_valid(facts: str) -> bool:
    """Whether a list of splits, such as 'train,valid' or 'all', includes the validation split."""
    return bool({"valid", "all"} & {name.strip() for name in facts.split(",")})


def draw_validation_queries(
    dataset: Dataset, shapes: Sequence[str], count: int, seed: int
) -> QueryTable | None:
    """Draw queries whose hard answers need validation facts; None if there are no such facts.

    A validation fact that train states as well is known, so it is no hard answer.
    """
    if "valid" not in dataset.splits or not len(held_out := dataset.held_out("valid")):
        return None
    others = tuple(shape for shape in shapes if shape != ONE_HOP)
    per_shape = max(_LEAST, count // max(len(shapes), 1))
    tables = []
    if others:
        settings = SamplingSettings(shapes=others, train=0, valid=per_shape, test=0, seed=seed)
        tables.append(sample(dataset, settings, workers=1).splits["valid"])
    if ONE_HOP in shapes:
        table = make_link_queries(held_out, dataset.full_for("valid"))
        tables.append(draw_rows(table, per_shape if others else count, seed))
    return concatenate(tables)


def draw_rows(table: QueryTable, count: int, seed: int) -> QueryTable:
    """Return `count` of the queries, drawn at random, or all if there are no more."""
    if len(table) <= count:
        return table
    return table.take(np.sort(np.random.default_rng(seed).permutation(len(table))[:count]))


def measure_mrr(model: Model, queries: QueryTable) -> dict[str, float]:
    """Return the MRR of hard answers by shape: the mean over a query's answers, then queries."""
    ranking = evaluate(EmbeddingRunner(model), queries)
    if not len(ranking.query):
        return {}
    report = Report.of(ranking, bootstrap=Bootstrap(samples=0))
    return {name: one.mrr for name, one in report.group("shape").items()}


def average_shapes(scores: Mapping[str, float]) -> float:
    """Return the plain mean of the shapes' scores."""
    return sum(scores.values()) / max(len(scores), 1)

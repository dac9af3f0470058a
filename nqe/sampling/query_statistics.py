"""Statistics of a query set: counts by shape, arity, slot, relation and missing links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nqe.figures import choose_picture_format, create_figure, escape_figure_text
from nqe.graph.arrays import Integers
from nqe.query.plan import Op
from nqe.query.shapes import rank_shape
from nqe.sampling.query_table import QueryTable
from nqe.sampling.storage import load_queries, read_manifest
from nqe.settings import SLOTS


@dataclass(frozen=True)
class SplitStatistics:
    """The distributions of the queries of one split."""

    split: str
    queries: int
    shapes: dict[str, int]
    """The number of queries by shape."""
    answers: dict[str, float]
    """The mean number of answers by shape."""
    hard_answers: dict[str, float]
    """The mean number of hard answers by shape."""
    missing: dict[str, dict[int, int]]
    """The number of hard answers by shape and by number of missing links."""
    arities: dict[int, int]
    """The number of atoms by the number of their entities."""
    asked: dict[str, int]
    """The number of queries by the kind of slot asked for."""
    relations: dict[int, int]
    """The number of atoms by the number of the relation."""
    attributes: dict[int, int]
    """The number of qualifiers by the number of the attribute."""
    refused: dict[str, int]
    """How many drawn queries were refused, by reason."""
    also_in_training: int | None
    """The number of queries that are the same formula as a training query."""


def count_queries(folder: str | Path) -> list[SplitStatistics]:
    """Count the queries of every split of a query set."""
    manifest = read_manifest(folder)
    return [
        count_split(split, load_queries(folder, split), manifest) for split in manifest["splits"]
    ]


def count_split(split: str, table: QueryTable, manifest: dict[str, Any]) -> SplitStatistics:
    """Count the queries of one split."""
    shapes = np.array(table.shape)
    names = sorted(set(table.shape), key=rank_shape)
    plans = table.plans
    refused: Counter[str] = Counter()
    for counts in manifest["refused"].get(split, {}).values():
        refused.update(counts)
    return SplitStatistics(
        split=split,
        queries=len(table),
        shapes={name: int((shapes == name).sum()) for name in names},
        answers={name: _mean(table.answer_count[shapes == name]) for name in names},
        hard_answers={name: _mean(table.hard.lengths[shapes == name]) for name in names},
        missing={name: _count_missing(table, shapes == name) for name in names},
        arities=_count(plans.arities.values),
        asked={SLOTS[kind]: count for kind, count in _count(plans.asked_kinds).items()},
        relations=_count(plans.relation[plans.op == Op.PROJECTION]),
        attributes=_count(plans.attribute[plans.attribute >= 0]),
        refused=dict(refused.most_common()),
        also_in_training=manifest["formulas_also_in_training"].get(split),
    )


def plot(splits: list[SplitStatistics], path: Path) -> None:
    """Draw bar charts of arities, asked slots and missing links, one row per split."""
    form = choose_picture_format(path)
    figure = create_figure(11, 3.4 * len(splits))
    axes = figure.subplots(len(splits), 3, squeeze=False)
    for row, one in zip(axes, splits, strict=True):
        missing: Counter[int] = Counter()
        for counts in one.missing.values():
            missing.update(counts)
        charts: tuple[tuple[str, Mapping[Any, int]], ...] = (
            ("entities in an atom", one.arities),
            ("slot asked for", one.asked),
            ("missing links of hard answers", dict(sorted(missing.items()))),
        )
        for axis, (title, counts_of) in zip(row, charts, strict=True):
            axis.bar([str(key) for key in counts_of], list(counts_of.values()), color="#3b6fb6")
            axis.set_title(escape_figure_text(f"{one.split}: {title}"), fontsize=10)
            axis.set_yscale("log" if len(counts_of) > 3 else "linear")
    figure.savefig(path, format=form)


def _count_missing(table: QueryTable, chosen: Any) -> dict[int, int]:
    return _count(table.missing.values[chosen[table.missing.owner]])


def _count(numbers: Integers) -> dict[int, int]:
    values, counts = np.unique(numbers, return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def _mean(numbers: Integers) -> float:
    return round(float(numbers.mean()), 2) if len(numbers) else 0.0

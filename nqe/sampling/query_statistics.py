"""What is in a query set: counts by shape, arity, slot, relation and missing links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nqe.figures import choose_picture_format, create_figure
from nqe.graph.arrays import Integers
from nqe.query.plan import Op
from nqe.query.shapes import rank_shape
from nqe.sampling.query_table import QueryTable
from nqe.sampling.storage import load_queries, read_manifest
from nqe.settings import SLOTS


@dataclass(frozen=True)
class SplitReport:
    """The distributions of one split; lists of numbers go with `shapes`."""

    split: str
    queries: int
    shapes: dict[str, int]
    answers: dict[str, float]
    """Mean number of answers by shape."""
    hard_answers: dict[str, float]
    """Mean number of hard answers by shape."""
    missing: dict[str, dict[int, int]]
    """Hard answers by shape and number of missing links."""
    arities: dict[int, int]
    """Atoms by the number of their entities."""
    asked: dict[str, int]
    """Queries by the kind of slot asked for."""
    relations: dict[int, int]
    """Atoms by the number of their main relation."""
    attributes: dict[int, int]
    """Qualifiers by the number of their attribute."""
    refused: dict[str, int]
    """Drawn and not taken, by reason."""
    also_in_training: int | None
    """Queries that are the same formula as one of training."""


def report(folder: str | Path) -> list[SplitReport]:
    """The report of every split of a query set."""
    manifest = read_manifest(folder)
    return [
        split_report(split, load_queries(folder, split), manifest) for split in manifest["splits"]
    ]


def split_report(split: str, table: QueryTable, manifest: dict[str, Any]) -> SplitReport:
    """The report of one split."""
    shapes = np.array(table.shape)
    names = sorted(set(table.shape), key=rank_shape)
    plans = table.plans
    refused: Counter[str] = Counter()
    for counts in manifest["refused"].get(split, {}).values():
        refused.update(counts)
    return SplitReport(
        split=split,
        queries=len(table),
        shapes={name: int((shapes == name).sum()) for name in names},
        answers={name: _mean(table.answer_count[shapes == name]) for name in names},
        hard_answers={name: _mean(table.hard.lengths[shapes == name]) for name in names},
        missing={name: _missing(table, shapes == name) for name in names},
        arities=_count(plans.arities.values),
        asked={SLOTS[kind]: count for kind, count in _count(plans.asked_kinds).items()},
        relations=_count(plans.relation[plans.op == Op.PROJECTION]),
        attributes=_count(plans.attribute[plans.attribute >= 0]),
        refused=dict(refused.most_common()),
        also_in_training=manifest["formulas_also_in_training"].get(split),
    )


def plot(reports: list[SplitReport], path: Path) -> None:
    """Bars of arities, asked slots and missing links of every split."""
    form = choose_picture_format(path)
    figure = create_figure(11, 3.4 * len(reports))
    axes = figure.subplots(len(reports), 3, squeeze=False)
    for row, one in zip(axes, reports, strict=True):
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
            axis.set_title(f"{one.split}: {title}", fontsize=10)
            axis.set_yscale("log" if len(counts_of) > 3 else "linear")
    figure.savefig(path, format=form)


def _missing(table: QueryTable, chosen: Any) -> dict[int, int]:
    return _count(table.missing.values[chosen[table.missing.owner]])


def _count(numbers: Integers) -> dict[int, int]:
    values, counts = np.unique(numbers, return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))


def _mean(numbers: Integers) -> float:
    return round(float(numbers.mean()), 2) if len(numbers) else 0.0

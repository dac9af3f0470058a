"""Statistics of a query set beyond trees: counts of queries, rows and missing links by pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from nqe.sampling.row_query import RowQuery
from nqe.sampling.row_storage import load_row_queries, read_row_manifest


@dataclass(frozen=True)
class RowSplitStatistics:
    """The distributions of the queries of one split."""

    split: str
    queries: int
    patterns: dict[str, int]
    """The number of queries by pattern."""
    rows: dict[str, float]
    """The mean number of rows by pattern."""
    hard_rows: dict[str, float]
    """The mean number of hard rows by pattern."""
    missing: dict[str, dict[int, int]]
    """The number of hard rows by pattern and by number of missing links."""
    refused: dict[str, int]
    """How many drawn queries were refused, by reason."""


def count_row_queries(folder: str | Path) -> list[RowSplitStatistics]:
    """Count the queries of every split of a query set."""
    manifest = read_row_manifest(folder)
    return [
        _count_split(split, load_row_queries(folder, split), manifest)
        for split in manifest["splits"]
    ]


def _count_split(
    split: str, queries: Sequence[RowQuery], manifest: Mapping[str, Any]
) -> RowSplitStatistics:
    by_pattern: dict[str, list[RowQuery]] = {}
    for one in queries:
        by_pattern.setdefault(one.pattern, []).append(one)
    refused: Counter[str] = Counter()
    for counts in manifest["refused"].get(split, {}).values():
        refused.update(counts)
    return RowSplitStatistics(
        split=split,
        queries=len(queries),
        patterns={name: len(found) for name, found in by_pattern.items()},
        rows={name: _mean(len(q.easy) + len(q.hard) for q in f) for name, f in by_pattern.items()},
        hard_rows={name: _mean(len(q.hard) for q in f) for name, f in by_pattern.items()},
        missing={name: _count_missing(found) for name, found in by_pattern.items()},
        refused=dict(refused.most_common()),
    )


def _count_missing(queries: Sequence[RowQuery]) -> dict[int, int]:
    found = Counter(links for one in queries for links in one.missing.tolist())
    return dict(sorted(found.items()))


def _mean(numbers: Any) -> float:
    return round(fmean(numbers), 2)

"""Select the queries to evaluate: a split of a query set, or some shapes or a few queries of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from nqe.errors import NqeError
from nqe.evaluation.groupings import OF_QUERIES, OF_ROWS
from nqe.evaluation.published_results import find_query_benchmark
from nqe.graph.arrays import Integers
from nqe.query.shapes import parse_shape
from nqe.sampling.query_table import QueryTable
from nqe.sampling.row_query import RowQuery
from nqe.sampling.row_storage import has_rows, load_row_queries, read_row_manifest, row_digest_of
from nqe.sampling.storage import digest_of, load_queries, read_manifest


@dataclass(frozen=True)
class Selection:
    """Queries of a query set on disk, whatever kind they are of."""

    folder: str
    split: str = "test"
    shapes: tuple[str, ...] | None = None
    """Names or trees of the shapes to select, or names of patterns; None means all."""
    limit: int | None = None
    """How many queries of each shape to select, the first ones; None means all."""

    @property
    def manifest(self) -> dict[str, Any]:
        """The manifest of the query set."""
        raise NotImplementedError

    @property
    def is_whole_split(self) -> bool:
        """Whether it selects every query of the split."""
        return self.shapes is None and self.limit is None

    def _find_rows(self, names: Sequence[str], wanted: set[str] | None) -> Integers:
        """The selected queries, of which these are the names of the shapes."""
        of_query = np.array(names, dtype=object)
        rows = [
            np.flatnonzero(of_query == name)[: self.limit]
            for name in dict.fromkeys(names)
            if wanted is None or name in wanted
        ]
        if not rows:
            present = ", ".join(dict.fromkeys(names)) or "no queries"
            chosen = "at all" if self.shapes is None else f"of shapes {', '.join(self.shapes)}"
            raise NqeError(f"{self.folder}: no queries {chosen}; the split has {present}")
        return np.sort(np.concatenate(rows))


@dataclass(frozen=True)
class QuerySelection(Selection):
    """Queries that are trees."""

    groupings: ClassVar[tuple[str, ...]] = OF_QUERIES

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The manifest of the query set."""
        return read_manifest(self.folder)

    def load(self) -> QueryTable:
        """Read the selected queries."""
        table = load_queries(self.folder, self.split)
        if self.is_whole_split and len(table):
            return table
        wanted = None if self.shapes is None else {parse_shape(shape).name for shape in self.shapes}
        return table.take(self._find_rows(table.shape, wanted))

    def describe(self) -> dict[str, Any]:
        """What a report says about the queries it was made from."""
        name = Path(self.folder).resolve().name
        graph = self.manifest.get("dataset") or ""
        return {
            "queries": self.folder,
            "benchmark": find_query_benchmark(self.manifest.get("settings"), name, graph),
            "fingerprint": self.manifest["fingerprint"],
            "digest": digest_of(self.folder),
        }


@dataclass(frozen=True)
class RowSelection(Selection):
    """Queries that are no trees; the shape of each is the name of its pattern."""

    groupings: ClassVar[tuple[str, ...]] = OF_ROWS

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The manifest of the query set."""
        return read_row_manifest(self.folder)

    def load(self) -> tuple[RowQuery, ...]:
        """Read the selected queries."""
        queries = load_row_queries(self.folder, self.split)
        wanted = None if self.shapes is None else set(self.shapes)
        rows = self._find_rows([one.pattern for one in queries], wanted)
        return tuple(queries[row] for row in rows.tolist())

    def describe(self) -> dict[str, Any]:
        """What a report says about the queries it was made from."""
        return {
            "queries": self.folder,
            "benchmark": None,
            "fingerprint": self.manifest["fingerprint"],
            "digest": row_digest_of(self.folder),
        }


def select(
    folder: str, split: str, shapes: tuple[str, ...] | None, limit: int | None
) -> QuerySelection | RowSelection:
    """Select queries of a folder of either kind."""
    kind = RowSelection if has_rows(folder) else QuerySelection
    return kind(folder, split, shapes, limit)

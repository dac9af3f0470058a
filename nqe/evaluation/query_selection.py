"""Select the queries to evaluate: a split of a query set, or some shapes or a few queries of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from nqe.errors import NqeError
from nqe.evaluation.published_results import find_query_benchmark
from nqe.graph.arrays import Integers
from nqe.query.shapes import parse_shape
from nqe.sampling.query_table import QueryTable
from nqe.sampling.storage import digest_of, load_queries, read_manifest


@dataclass(frozen=True)
class QuerySelection:
    """Queries of a query set on disk."""

    folder: str
    split: str = "test"
    shapes: tuple[str, ...] | None = None
    """Names or trees of the shapes to select; None means all."""
    limit: int | None = None
    """How many queries of each shape to select, the first ones; None means all."""

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The manifest of the query set."""
        return read_manifest(self.folder)

    @property
    def is_whole_split(self) -> bool:
        """Whether it selects every query of the split."""
        return self.shapes is None and self.limit is None

    def load(self) -> QueryTable:
        """Read the selected queries."""
        table = load_queries(self.folder, self.split)
        if self.is_whole_split and len(table):
            return table
        return table.take(self._find_rows(table))

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

    def _find_rows(self, table: QueryTable) -> Integers:
        wanted = None if self.shapes is None else {parse_shape(shape).name for shape in self.shapes}
        names = np.array(table.shape, dtype=object)
        rows = [
            np.flatnonzero(names == name)[: self.limit]
            for name in dict.fromkeys(table.shape)
            if wanted is None or name in wanted
        ]
        if not rows:
            present = ", ".join(dict.fromkeys(table.shape)) or "no queries"
            chosen = "at all" if self.shapes is None else f"of shapes {', '.join(self.shapes)}"
            raise NqeError(f"{self.folder}: no queries {chosen}; the split has {present}")
        return np.sort(np.concatenate(rows))

"""Query sets beyond trees on disk: a folder with one JSON Lines file per split, and a manifest.

A line is one query, with these entries:
- pattern: the name of its pattern;
- query: its text, in ids of the graph;
- easy, hard: the rows that follow from known facts, and those that need others as well; a row has
  one number of an entity of the graph per target;
- missing: for each hard row, the least number of unknown facts that it needs;
- missing_of_targets: for each hard row and each target, the same for the question that asks for the
  target, with the row's other entities put in; -1 if known facts answer that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import NoneType
from typing import Any

import numpy as np

from nqe.documents import compute_digest
from nqe.errors import NqeError, QueryError, StorageError
from nqe.folders import FolderKind, OpenFolder
from nqe.graph.arrays import Integers
from nqe.graph.dataset import Dataset
from nqe.graph.splits import SPLITS, check_splits
from nqe.query.query import Query, parse
from nqe.sampling.row_answers import KNOWN
from nqe.sampling.row_query import RowQuery
from nqe.sampling.row_sampler import RowQuerySet
from nqe.sampling.set_checks import are_counts, check_fits

KIND = FolderKind(
    "nqe-row-queries",
    1,
    "query set beyond trees",
    "nqe sample",
    "sample the queries again",
    tuple(f"{split}.jsonl" for split in SPLITS),
    {
        "fingerprint": (str,),
        "dataset": (str, NoneType),
        "entities": (int,),
        "relations": (int,),
        "settings": (dict,),
        "splits": (dict,),
        "refused": (dict,),
    },
)
_ENTRIES = ("pattern", "query", "easy", "hard", "missing", "missing_of_targets")


def has_rows(folder: str | Path) -> bool:
    """Whether a folder is a query set beyond trees."""
    return KIND.recognises(Path(folder))


def check_row_output(folder: str | Path) -> None:
    """Refuse a path that `save_row_queries` would not replace, before any work."""
    KIND.check_output(Path(folder))


def save_row_queries(queries: RowQuerySet, folder: str | Path, dataset: str | None = None) -> None:
    """Write a query set; `dataset` says where its graph is, for later readers."""
    with KIND.create(Path(folder), _make_manifest(queries, dataset)) as temporary:
        for split, found in queries.splits.items():
            lines = "".join(json.dumps(_to_json(one), ensure_ascii=False) + "\n" for one in found)
            (temporary / f"{split}.jsonl").write_text(lines, encoding="utf-8", newline="\n")


def read_row_manifest(folder: str | Path) -> dict[str, Any]:
    """Read the manifest of a query set and check its format."""
    manifest = KIND.read_manifest(Path(folder))
    try:
        check_splits(manifest["splits"])
        splits = manifest["splits"].values()
        for name, fits in (
            ("queries", all(are_counts(one.get("queries"), 0) for one in splits)),
            ("patterns", all(are_counts(one.get("patterns"), 1) for one in splits)),
            ("refused", are_counts(manifest["refused"], 3)),
        ):
            if not fits:
                raise ValueError(f"'{name}' in the manifest is missing or of another type")
    except ValueError as error:
        raise StorageError(f"{folder}: damaged ({error}); {KIND.how_to_rebuild}") from error
    return manifest


def row_digest_of(folder: str | Path) -> str:
    """Compute a hash of the manifest, which identifies a query set wherever it is."""
    return compute_digest(read_row_manifest(folder))


def check_row_graph(folder: str | Path, dataset: Dataset) -> None:
    """Refuse a query set that was sampled from another graph."""
    check_fits(folder, read_row_manifest(folder), dataset, KIND.how_to_rebuild)


def load_row_queries(folder: str | Path, split: str) -> tuple[RowQuery, ...]:
    """Load all queries of a split."""
    read_row_manifest(folder)
    return KIND.read(Path(folder), lambda opened: _load(opened, split))


def _load(opened: OpenFolder, split: str) -> tuple[RowQuery, ...]:
    names = [name for name in SPLITS if name in opened.manifest["splits"]]
    if split not in names:
        has = ", ".join(names) or "none"
        raise NqeError(f"{opened.path}: no {split} queries; the set has {has}")
    name, count = f"{split}.jsonl", opened.manifest["entities"]
    found = []
    try:
        for number, line in enumerate(opened.read_bytes(name).decode().splitlines()):
            found.append(_from_line(line, number, count))
        if len(found) != opened.manifest["splits"][split]["queries"]:
            raise ValueError("the manifest gives another number of queries")
    except ValueError as error:
        raise StorageError(
            f"{opened.path / name}: damaged ({error}); {KIND.how_to_rebuild}"
        ) from error
    return tuple(found)


def _make_manifest(queries: RowQuerySet, dataset: str | None) -> dict[str, Any]:
    return {
        "fingerprint": queries.fingerprint,
        "entities": queries.entity_count,
        "relations": queries.relation_count,
        "dataset": dataset,
        "settings": queries.settings.to_json(),
        "splits": {
            split: {"queries": len(found), "patterns": _count_patterns(found)}
            for split, found in queries.splits.items()
        },
        "refused": {
            split: {pattern: dict(sorted(counts.items())) for pattern, counts in patterns.items()}
            for split, patterns in queries.refused.items()
        },
    }


def _count_patterns(queries: tuple[RowQuery, ...]) -> dict[str, int]:
    names = [one.pattern for one in queries]
    return {name: names.count(name) for name in dict.fromkeys(names)}


# Lines


def _to_json(query: RowQuery) -> dict[str, Any]:
    return {
        "pattern": query.pattern,
        "query": query.query.text,
        "easy": query.easy.tolist(),
        "hard": query.hard.tolist(),
        "missing": query.missing.tolist(),
        "missing_of_targets": query.missing_of_targets.tolist(),
    }


def _from_line(line: str, number: int, entity_count: int) -> RowQuery:
    """The query of a line; raises a ValueError that names the line."""
    try:
        data = json.loads(line)
        if not isinstance(data, dict) or set(data) != set(_ENTRIES):
            raise ValueError(f"its entries are not {', '.join(_ENTRIES)}")
        return _from_json(data, entity_count)
    except (ValueError, RecursionError, QueryError) as error:
        raise ValueError(f"query {number}: {error}") from error


def _from_json(data: Mapping[str, Any], entity_count: int) -> RowQuery:
    if not isinstance(data["pattern"], str) or not isinstance(data["query"], str):
        raise ValueError("its pattern or its query is no text")
    query = parse(data["query"])
    targets = len(query.targets)
    _check_query(query)
    easy, hard, of_targets = (
        _read_rows(data[name], targets) for name in ("easy", "hard", "missing_of_targets")
    )
    missing = _read_rows([data["missing"]], None)[0]
    for what, rows in (("easy", easy), ("hard", hard)):
        _check_rows(rows, entity_count, what)
    if len(np.unique(np.concatenate([easy, hard]), axis=0)) != len(easy) + len(hard):
        raise ValueError("a row is easy and hard")
    if not len(missing) == len(of_targets) == len(hard):
        raise ValueError("there are not as many numbers of missing links as hard rows")
    most = query.formula.atom_count
    for links, least in ((missing, 0), (of_targets, KNOWN)):
        if len(links) and not least <= links.min() <= links.max() <= most:
            raise ValueError(f"a number of missing links is not from {least} to {most}")
    return RowQuery(data["pattern"], query, easy, hard, missing, of_targets)


def _check_query(query: Query) -> None:
    graph = query.graph  # which checks that it has a meaning
    if graph.counted is not None or not graph.relation_variables.isdisjoint(graph.targets):
        raise ValueError("it asks for something else than entities")


def _read_rows(data: Any, width: int | None) -> Integers:
    """Rows of whole numbers, of this width if it is given."""
    is_table = isinstance(data, list) and all(isinstance(row, list) for row in data)
    if not is_table or not all(type(one) is int for row in data for one in row):
        raise ValueError("its rows are no lists of whole numbers")
    if width is None:
        return np.array(data, dtype=np.int64)
    if any(len(row) != width for row in data):
        raise ValueError(f"a row has not {width} numbers, one per target")
    return np.array(data, dtype=np.int64).reshape(len(data), width)


def _check_rows(rows: Integers, entity_count: int, what: str) -> None:
    if len(rows) and not 0 <= rows.min() <= rows.max() < entity_count:
        raise ValueError(f"a number in its {what} rows is out of range")
    if not np.array_equal(np.unique(rows, axis=0), rows):
        raise ValueError(f"its {what} rows are not in ascending order, each once")

"""Saves data sets as a folder of Parquet files with a manifest, and loads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from nqe.errors import StorageError
from nqe.folders import FolderKind
from nqe.graph.arrays import Integers
from nqe.graph.fact_columns import Facts
from nqe.graph.splits import check_splits
from nqe.graph.vocabulary import Names, Vocabulary

KIND = FolderKind("nqe-graph", 1, "graph folder", "nqe import", "import the graph again")

_MAIN = ("subject", "relation", "object")
_PAIR = pa.struct([("attribute", pa.int32()), ("value", pa.int32())])
_FACT_SCHEMA = pa.schema(
    [
        ("subject", pa.int32()),
        ("relation", pa.int32()),
        ("object", pa.int32()),
        ("qualifiers", pa.list_(_PAIR)),
        ("count", pa.int32()),
    ]
)


def save(
    folder: Path,
    vocabulary: Vocabulary,
    splits: Mapping[str, Facts],
    fingerprint: str,
    extra: Mapping[str, str],
) -> None:
    """Write a folder; a folder that exists is replaced when the new one is complete.

    `extra` holds the contents of further text files to write beside the graph, by file name.
    """
    with KIND.create(folder, _make_manifest(vocabulary, splits, fingerprint)) as temporary:
        for kind, names in _kinds(vocabulary):
            _write_table(_names_table(names), temporary / f"{kind}.parquet", "snappy")
        for split, facts in splits.items():
            _write_table(_facts_table(facts), temporary / f"{split}.parquet", "zstd")
        for name, text in extra.items():
            (temporary / name).write_text(text, encoding="utf-8")


def load(folder: Path) -> tuple[Vocabulary, dict[str, Facts]]:
    """Read a folder that `save` wrote."""
    manifest = KIND.read_manifest(folder)
    try:
        check_splits(manifest.get("splits"))
        entities = _read_names("entity", folder / "entities.parquet")
        relations = _read_names("relation", folder / "relations.parquet")
        splits = {name: _read_facts(folder / f"{name}.parquet") for name in manifest["splits"]}
        _check(folder, manifest, len(entities), len(relations), splits)
    except (OSError, pa.ArrowException, AttributeError, KeyError, TypeError, ValueError) as error:
        # A damaged file may be unreadable, lack a column, or have gaps in one.
        raise StorageError(f"{folder}: damaged graph folder ({error}); import it again") from error
    return Vocabulary(entities, relations), splits


def is_saved(folder: Path) -> bool:
    """Whether a folder is a saved graph, or was one before it was damaged."""
    return (folder / "entities.parquet").is_file() or KIND.recognises(folder)


def check_output(folder: Path) -> None:
    """Refuse a folder that `save` would not replace."""
    KIND.check_output(folder)


def _make_manifest(
    vocabulary: Vocabulary, splits: Mapping[str, Facts], fingerprint: str
) -> dict[str, Any]:
    return {
        "fingerprint": fingerprint,
        "entities": len(vocabulary.entities),
        "relations": len(vocabulary.relations),
        "splits": {
            name: {"facts": len(facts), "qualifiers": len(facts.value)}
            for name, facts in splits.items()
        },
    }


def _check(
    folder: Path,
    manifest: dict[str, Any],
    entity_count: int,
    relation_count: int,
    splits: Mapping[str, Facts],
) -> None:
    counts = {"entities": entity_count, "relations": relation_count}
    expected_counts = {key: manifest.get(key) for key in counts}
    facts = {name: len(columns) for name, columns in splits.items()}
    expected_facts = {name: split["facts"] for name, split in manifest["splits"].items()}
    if (
        counts != expected_counts
        or facts != expected_facts
        or not all(_is_within(columns, entity_count, relation_count) for columns in splits.values())
    ):
        raise StorageError(f"{folder}: files and manifest do not fit together; import it again")


def _is_within(facts: Facts, entity_count: int, relation_count: int) -> bool:
    """Whether every number in the columns is that of an entity or relation."""
    entities = (facts.subject, facts.object, facts.value)
    relations = (facts.relation, facts.attribute)
    return all(
        column.min(initial=0) >= 0 and column.max(initial=-1) < count
        for columns, count in ((entities, entity_count), (relations, relation_count))
        for column in columns
    )


def _write_table(table: Any, path: Path, compression: str) -> None:
    parquet.write_table(table, path, compression=compression, write_page_checksum=True)


def _read_table(path: Path) -> Any:
    # Checksums, as a flipped bit may give another valid number.
    with parquet.ParquetFile(path, page_checksum_verification=True) as file:
        return file.read().combine_chunks()


def _kinds(vocabulary: Vocabulary) -> tuple[tuple[str, Names], ...]:
    return ("entities", vocabulary.entities), ("relations", vocabulary.relations)


def _names_table(names: Names) -> Any:
    aliases = [list(names.aliases.get(number, ())) for number in range(len(names))]
    return pa.table(
        {
            names.kind: pa.array(range(len(names)), pa.int32()),
            "id": pa.array(names.ids, pa.string()),
            "label": pa.array(names.labels, pa.string()),
            "description": pa.array(names.descriptions, pa.string()),
            "aliases": pa.array(aliases, pa.list_(pa.string())),
        }
    )


def _read_names(kind: str, path: Path) -> Names:
    table = _read_table(path)
    aliases = table.column("aliases").combine_chunks()
    lengths: Sequence[int] = aliases.value_lengths().to_numpy(zero_copy_only=False)
    described = np.flatnonzero(lengths).tolist()
    return Names(
        kind,
        table.column("id").to_pylist(),
        table.column("label").to_pylist(),
        table.column("description").to_pylist(),
        {number: tuple(aliases[number].as_py()) for number in described},
    )


def _facts_table(facts: Facts) -> Any:
    attribute, value = (pa.array(column, pa.int32()) for column in (facts.attribute, facts.value))
    pairs = pa.StructArray.from_arrays([attribute, value], fields=list(_PAIR))
    qualifiers = pa.ListArray.from_arrays(pa.array(facts.offset, pa.int32()), pairs)
    main = (facts.subject, facts.relation, facts.object)
    columns = [pa.array(column, pa.int32()) for column in main]
    columns += [qualifiers, pa.array(facts.count, pa.int32())]
    return pa.Table.from_arrays(columns, schema=_FACT_SCHEMA)


def _read_facts(path: Path) -> Facts:
    table = _read_table(path)
    if not len(table):
        return Facts.empty()
    qualifiers = table.column("qualifiers").chunk(0)
    pairs = qualifiers.flatten()
    lengths = qualifiers.value_lengths().to_numpy(zero_copy_only=False)
    offset = np.concatenate([[0], np.cumsum(lengths)])
    columns = {name: _integers(table.column(name).chunk(0)) for name in (*_MAIN, "count")}
    return Facts(
        **columns,
        offset=offset,
        attribute=_integers(pairs.field(0)),
        value=_integers(pairs.field(1)),
    )


def _integers(array: Any) -> Integers:
    if array.null_count:
        raise ValueError("a column has gaps")
    numbers: Integers = array.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers

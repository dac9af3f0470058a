"""Saves data sets as a folder of Parquet files with a manifest and an index, and loads them.

The Parquet files are what a graph is; other tools read them too. The index holds the same in the
form in which questions are answered, and is mapped into memory. It is used only if the manifest
says that it was made from these very files; otherwise the Parquet files are read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from operator import lt
from pathlib import Path
from textwrap import shorten
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from pyarrow import compute, parquet

from nqe.errors import StorageError
from nqe.folders import FILES, FolderKind, OpenFolder
from nqe.graph.arrays import Integers
from nqe.graph.fact_columns import Facts
from nqe.graph.fingerprint import compute_fingerprint
from nqe.graph.index import Index
from nqe.graph.literal_storage import LITERAL_SCHEMA, from_table, to_table
from nqe.graph.ragged import offsets
from nqe.graph.splits import SPLITS, check_splits
from nqe.graph.stored_index import (
    INDEX_FILE,
    compare_index,
    has_index,
    load_index,
    write_index,
)
from nqe.graph.vocabulary import ENTITY, Names, Vocabulary

Loaded = TypeVar("Loaded")

_ENTITIES, _RELATIONS = "entities.parquet", "relations.parquet"
_LITERALS = "literals.parquet"
BAD_LINES = "bad_lines.tsv"
"""The file of an imported graph that lists the lines that were skipped."""
_BEFORE_DIGESTS = 1
KIND = FolderKind(
    "nqe-graph",
    2,
    "graph folder",
    "nqe import",
    "import the graph again",
    (
        *(_ENTITIES, _RELATIONS, _LITERALS),
        *(f"{split}.parquet" for split in SPLITS),
        *(INDEX_FILE, BAD_LINES),
    ),
    {"fingerprint": (str,), "entities": (int,), "relations": (int,), "splits": (dict,)},
    older_versions=(_BEFORE_DIGESTS,),
)

_ODD_ID = r"[\p{Cc}\x{2028}\x{2029}\x{feff}]|^[\s\p{Z}]|[\s\p{Z}]$|^$"
_LARGE = 1 << 24
"""Bytes from which a file is decoded by several threads.

A process that ends right after it started Arrow's threads, as a command does that finds damage, may
be aborted by them; for small files they bring nothing.
"""
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


@dataclass(frozen=True, eq=False)
class SavedGraph:
    """What a graph folder holds."""

    vocabulary: Vocabulary
    splits: Mapping[str, Facts]
    fingerprint: str
    index: Index | None = None
    """The index of the facts of all splits together, if the folder has one."""


def save(
    folder: Path,
    vocabulary: Vocabulary,
    splits: Mapping[str, Facts],
    fingerprint: str,
    bad_lines: str | None = None,
) -> None:
    """Write a folder; a folder that exists is replaced when the new one is complete."""
    manifest = _make_manifest(vocabulary, splits, fingerprint)
    with KIND.create(folder, manifest) as temporary:
        for file, names in ((_ENTITIES, vocabulary.entities), (_RELATIONS, vocabulary.relations)):
            _write_table(_names_table(names), temporary / file, "snappy")
        if vocabulary.entities.literals:
            table = to_table(vocabulary.entities.literals)
            _write_table(table, temporary / _LITERALS, "snappy")
        for split, facts in splits.items():
            _write_table(_facts_table(facts), temporary / f"{split}.parquet", "zstd")
        if bad_lines is not None:
            (temporary / BAD_LINES).write_text(bad_lines, encoding="utf-8")
        if splits and _is_regular(vocabulary, splits):  # not the vocabulary of a checkpoint
            manifest |= write_index(temporary, manifest, vocabulary, splits)


def load(folder: Path) -> SavedGraph:
    """Read a folder that `save` wrote."""
    return KIND.read(folder, load_opened)


def load_opened(folder: OpenFolder) -> SavedGraph:
    """Read an opened folder, and compare its content with its manifest."""
    return _report_damage(folder, _load_index if has_index(folder) else _load_tables)


def check_index(folder: OpenFolder) -> None:
    """Refuse an index that differs from what the tables of an opened folder give."""

    def compare(folder: OpenFolder) -> None:
        tables = _load_tables(folder)
        compare_index(folder, tables.vocabulary, tables.splits)

    if has_index(folder):
        _report_damage(folder, compare)


def _report_damage(folder: OpenFolder, read: Callable[[OpenFolder], Loaded]) -> Loaded:
    """The result of reading a folder; what is wrong with its content is a StorageError."""
    try:
        return read(folder)
    except (
        pa.ArrowException,
        OSError,
        LookupError,
        AttributeError,
        TypeError,
        ValueError,
    ) as error:
        # A damaged file may be unreadable, lack a column, or have gaps in one.
        reason = shorten(str(error), 200, placeholder=" …")
        raise StorageError(
            f"{folder.path}: damaged graph folder ({reason}); {KIND.how_to_rebuild}"
        ) from error


def _load_tables(folder: OpenFolder) -> SavedGraph:
    """Read the Parquet files of an opened folder, and check every number in them."""
    entities = _read_names(ENTITY, folder.read_bytes(_ENTITIES))
    if folder.has(_LITERALS):
        table = _read_table(folder.read_bytes(_LITERALS), LITERAL_SCHEMA)
        entities = replace(entities, literals=from_table(table, entities.ids))
    relations = _read_names("relation", folder.read_bytes(_RELATIONS))
    splits = {
        name: _read_facts(folder.read_bytes(f"{name}.parquet"))
        for name in _list_splits(folder.manifest)
    }
    vocabulary = Vocabulary(entities, relations)
    fingerprint = compute_fingerprint(vocabulary, splits)
    for name, facts in splits.items():
        _check_facts(name, facts, vocabulary)
    _check_manifest(folder.manifest, _make_manifest(vocabulary, splits, fingerprint))
    return SavedGraph(vocabulary, splits, fingerprint)


def _load_index(folder: OpenFolder) -> SavedGraph:
    """Map the index of an opened folder; the other files are only compared with their digests."""
    for name in folder.manifest[FILES]:
        if name.endswith(".parquet"):
            folder.check_file(name)
    stored = load_index(folder, _list_splits(folder.manifest))
    fingerprint = folder.manifest["fingerprint"]
    return SavedGraph(stored.vocabulary, stored.splits, fingerprint, stored.index)


def _is_regular(vocabulary: Vocabulary, splits: Mapping[str, Facts]) -> bool:
    """Whether reading the tables would find nothing wrong.

    The numbers of an index are checked here, when it is written, and not when it is loaded.
    """
    names = (vocabulary.entities, vocabulary.relations)
    try:
        for name, facts in splits.items():
            _check_facts(name, facts, vocabulary)
    except ValueError:
        return False
    return all(all(map(lt, one.ids, islice(one.ids, 1, None))) for one in names)


def is_saved(folder: Path) -> bool:
    """Whether a folder is a saved graph, or was one before it was damaged."""
    return (folder / _ENTITIES).is_file() or KIND.recognises(folder)


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


def _list_splits(manifest: Mapping[str, Any]) -> list[str]:
    check_splits(manifest["splits"])
    return [name for name in SPLITS if name in manifest["splits"]]


def _check_manifest(manifest: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """Refuse files that differ from the manifest in what it says of them."""
    for key, value in found.items():
        if manifest.get(key) != value and not _may_differ(key, manifest):
            raise ValueError(f"the {key} of its files and of its manifest differ")


def _may_differ(key: str, manifest: Mapping[str, Any]) -> bool:
    """Whether a key had another meaning in the first version.

    The vocabulary of a checkpoint had the fingerprint of the data set that it was trained on.
    """
    is_vocabulary = not manifest["splits"]
    return key == "fingerprint" and is_vocabulary and manifest["version"] == _BEFORE_DIGESTS


def _check_facts(split: str, facts: Facts, vocabulary: Vocabulary) -> None:
    """Refuse numbers that are none of an entity or relation, and facts not in canonical order."""
    entity_count, relation_count = len(vocabulary.entities), len(vocabulary.relations)
    entities = (facts.subject, facts.object, facts.value)
    relations = (facts.relation, facts.attribute)
    for kind, columns, count in (
        ("entity", entities, entity_count),
        ("relation", relations, relation_count),
    ):
        for column in columns:
            if column.min(initial=0) < 0 or column.max(initial=-1) >= count:
                raise ValueError(f"{split}.parquet: a number is that of no {kind}")
    if not facts.is_canonical():
        raise ValueError(f"{split}.parquet: the facts are not in order")


def _write_table(table: Any, path: Path, compression: str) -> None:
    parquet.write_table(table, path, compression=compression, write_page_checksum=True)


def _read_table(data: bytes, schema: Any) -> Any:
    """The columns of a schema, each in one chunk."""
    # Checksums, as a flipped bit may give another valid number.
    with parquet.ParquetFile(pa.BufferReader(data), page_checksum_verification=True) as file:
        table = file.read(use_threads=len(data) > _LARGE)
    return table.select(schema.names).cast(schema).combine_chunks()


def _names_schema(kind: str) -> Any:
    texts = [(name, pa.string()) for name in ("id", "label", "description")]
    return pa.schema([(kind, pa.int32()), *texts, ("aliases", pa.list_(pa.string()))])


def _names_table(names: Names) -> Any:
    aliases = [list(names.aliases.get(number, ())) for number in range(len(names))]
    columns = (range(len(names)), names.ids, names.labels, names.descriptions, aliases)
    schema = _names_schema(names.kind)
    arrays = [pa.array(one, field.type) for one, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _read_names(kind: str, data: bytes) -> Names:
    table = _read_table(data, _names_schema(kind))
    if not np.array_equal(_integers(table.column(kind)), np.arange(len(table))):
        raise ValueError(f"the {kind} numbers do not count up from 0")
    _check_ids(kind, table.column("id"))
    aliases = table.column("aliases").combine_chunks()
    if aliases.flatten().null_count:
        raise ValueError("an alias is missing")
    described = np.flatnonzero(_integers(aliases.value_lengths())).tolist()
    return Names(
        kind,
        table.column("id").to_pylist(),
        table.column("label").to_pylist(),
        table.column("description").to_pylist(),
        {number: tuple(aliases[number].as_py()) for number in described},
    )


def _check_ids(kind: str, ids: Any) -> None:
    """Refuse ids that are not sorted; then none is missing or stands twice."""
    in_order = compute.less(ids[:-1], ids[1:])
    if ids.null_count or not compute.all(in_order, min_count=0).as_py():
        raise ValueError(f"the {kind} ids are not in order, or one is missing or stands twice")
    # What `check_id` refuses when a graph is built.
    odd = compute.match_substring_regex(ids, _ODD_ID)
    if compute.any(odd, min_count=0).as_py():
        raise ValueError(f"a {kind} id is empty or has a control character or outer spaces")


def _facts_table(facts: Facts) -> Any:
    attribute, value = (pa.array(column, pa.int32()) for column in (facts.attribute, facts.value))
    pairs = pa.StructArray.from_arrays([attribute, value], fields=list(_PAIR))
    qualifiers = pa.ListArray.from_arrays(pa.array(facts.offset, pa.int32()), pairs)
    main = (facts.subject, facts.relation, facts.object)
    columns = [pa.array(column, pa.int32()) for column in main]
    columns += [qualifiers, pa.array(facts.count, pa.int32())]
    return pa.Table.from_arrays(columns, schema=_FACT_SCHEMA)


def _read_facts(data: bytes) -> Facts:
    table = _read_table(data, _FACT_SCHEMA)
    if not len(table):
        return Facts.empty()
    qualifiers = table.column("qualifiers").chunk(0)
    pairs = qualifiers.flatten()
    if pairs.null_count:
        raise ValueError("a qualifier is missing")
    offset = offsets(_integers(qualifiers.value_lengths()))
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

"""Rules on disk: a folder of Parquet files with a manifest.

- rules.parquet: one row per rule, with head, body_1 to body_3, constant, answer, support and
  predictions; heads and bodies are numbers of kinds, and -1 stands for nothing;
- kinds.parquet: the kinds of edges: a relation, and the roles of both ends in its facts, which are
  0 for the subject, 1 for the object, and 2 + a for the value of the attribute a;
- entities.parquet, relations.parquet: the ids and labels of all names that occur, in the order of
  the ids; their places are the numbers in the other files.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from operator import lt
from pathlib import Path
from textwrap import shorten
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from nqe.errors import StorageError
from nqe.folders import FolderKind, OpenFolder
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.pattern import FIRST_QUALIFIER
from nqe.graph.vocabulary import ENTITY, Names, Vocabulary
from nqe.rules.edges import EdgeKinds
from nqe.rules.rule_table import RuleTable
from nqe.rules.walks import LONGEST

_RULES, _KINDS = "rules.parquet", "kinds.parquet"
_ENTITIES, _RELATIONS = "entities.parquet", "relations.parquet"
_MINED_FROM: dict[str, tuple[type, ...]] = {
    "fingerprint": (str, NoneType),
    "facts": (str,),
    "fact_count": (int,),
}
KIND = FolderKind(
    "nqe-rules",
    1,
    "rules folder",
    "nqe rules -o",
    "mine the rules again",
    (_RULES, _KINDS, _ENTITIES, _RELATIONS),
    {**_MINED_FROM, "rules": (int,)},
)
_BODY = tuple(f"body_{place}" for place in range(1, LONGEST + 1))
_COUNTS = ("support", "predictions")
_RULE_SCHEMA = pa.schema(
    [
        *((name, pa.int32()) for name in ("head", *_BODY, "constant", "answer")),
        *((name, pa.int64()) for name in _COUNTS),
    ]
)
_KIND_SCHEMA = pa.schema([(name, pa.int32()) for name in ("relation", "source", "target")])
_NAME_SCHEMA = pa.schema([("id", pa.string()), ("label", pa.string())])

Saved = tuple[RuleTable, Vocabulary, dict[str, Any]]
"""Rules, the names that they use, and what they were mined from."""


def save(
    folder: Path, table: RuleTable, vocabulary: Vocabulary, mined_from: Mapping[str, Any]
) -> None:
    """Write a folder; a folder of rules that exists is replaced when the new one is complete."""
    kinds = table.kinds
    columns = {
        "head": table.head,
        **dict(zip(_BODY, table.body.T, strict=True)),
        **{name: getattr(table, name) for name in ("constant", "answer", *_COUNTS)},
    }
    files = {
        _RULES: _make_table(_RULE_SCHEMA, columns),
        _KINDS: _make_table(_KIND_SCHEMA, vars(kinds)),
        _ENTITIES: _make_table(_NAME_SCHEMA, _list_names(vocabulary.entities)),
        _RELATIONS: _make_table(_NAME_SCHEMA, _list_names(vocabulary.relations)),
    }
    with KIND.create(folder, {**mined_from, "rules": len(table)}) as temporary:
        for name, content in files.items():
            parquet.write_table(
                content, temporary / name, compression="zstd", write_page_checksum=True
            )


def check_output(folder: Path) -> None:
    """Refuse a folder that `save` would not replace, before minutes of work."""
    KIND.check_output(folder)


def load(folder: Path) -> Saved:
    """Read a folder that `save` wrote."""
    return KIND.read(folder, load_opened)


def load_opened(folder: OpenFolder) -> Saved:
    """Read an opened folder, and check every number in it."""
    try:
        return _load(folder)
    except (pa.ArrowException, OSError, LookupError, TypeError, ValueError) as error:
        reason = shorten(str(error), 200, placeholder=" …")
        raise StorageError(f"{folder.path}: damaged ({reason}); {KIND.how_to_rebuild}") from error


def _load(folder: OpenFolder) -> Saved:
    entities = _read_names(ENTITY, _read_table(folder, _ENTITIES, _NAME_SCHEMA))
    relations = _read_names("relation", _read_table(folder, _RELATIONS, _NAME_SCHEMA))
    kinds = _read_kinds(_read_table(folder, _KINDS, _KIND_SCHEMA), len(relations))
    columns = _read_table(folder, _RULES, _RULE_SCHEMA)
    head, constant, answer, support, predictions = (
        _integers(columns, name) for name in ("head", "constant", "answer", *_COUNTS)
    )
    body = np.stack([_integers(columns, name) for name in _BODY], axis=1)
    table = RuleTable(kinds, head, body, constant, answer, support, predictions)
    _check_rules(table, len(entities))
    if len(table) != folder.manifest["rules"]:
        raise ValueError("its manifest gives another number of rules")
    if folder.manifest["fact_count"] < 0:
        raise ValueError("its manifest gives a negative number of facts")
    mined_from = {name: folder.manifest.get(name) for name in _MINED_FROM}
    return table, Vocabulary(entities, relations), mined_from


def make_names(kind: str, ids: list[str], labels: list[str | None]) -> Names:
    """Names that have ids and labels and nothing else."""
    return Names(kind, ids, labels, [None] * len(ids), {})


def _list_names(names: Names) -> dict[str, Any]:
    return {"id": names.ids, "label": names.labels}


def _make_table(schema: Any, columns: Mapping[str, Any]) -> Any:
    arrays = [pa.array(columns[field.name], field.type) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _read_table(folder: OpenFolder, name: str, schema: Any) -> Any:
    data = pa.BufferReader(folder.read_bytes(name))
    # Checksums, as a flipped bit may give another valid number.
    with parquet.ParquetFile(data, page_checksum_verification=True) as file:
        return file.read(use_threads=False).select(schema.names).cast(schema).combine_chunks()


def _read_names(kind: str, table: Any) -> Names:
    ids, labels = (table.column(name).to_pylist() for name in _NAME_SCHEMA.names)
    if None in ids or not all(map(lt, ids, islice(ids, 1, None))):
        raise ValueError(f"the {kind} ids are not in order, or one is missing or stands twice")
    return make_names(kind, ids, labels)


def _read_kinds(table: Any, relation_count: int) -> EdgeKinds:
    relation, source, target = (_integers(table, name) for name in _KIND_SCHEMA.names)
    role_count = relation_count + FIRST_QUALIFIER
    _check("a kind of edges", _is_within(relation, 0, relation_count))
    for role in (source, target):
        _check("a kind of edges", _is_within(role, 0, role_count))
    kinds = EdgeKinds(relation, source, target, role_count)
    if (np.diff(kinds.keys) <= 0).any():
        raise ValueError("the kinds of edges are not in order, or one stands twice")
    return kinds


def _check_rules(table: RuleTable, entity_count: int) -> None:
    """Refuse numbers that are none of a kind or an entity, and rules of none of the three forms."""
    kind_count, length = len(table.kinds), table.length
    _check("the head of a rule", _is_within(table.head, 0, kind_count))
    _check("the body of a rule", _is_within(table.body, -1, kind_count))
    _check("the body of a rule", (np.arange(LONGEST) < length[:, None]) == (table.body >= 0))
    for name in ("constant", "answer"):
        _check(f"the {name} of a rule", _is_within(getattr(table, name), -1, entity_count))
    has_constant, has_answer = table.constant >= 0, table.answer >= 0
    is_walk = ~has_answer & ~has_constant & (length >= 1)
    _check("the form of a rule", is_walk | (has_answer & (length == has_constant)))
    _check("the support of a rule", (table.support >= 0) & (table.support <= table.predictions))


def _is_within(numbers: Integers, first: int, end: int) -> Booleans:
    within: Booleans = (numbers >= first) & (numbers < end)
    return within


def _check(what: str, right: Booleans) -> None:
    if not right.all():
        raise ValueError(f"{what} is impossible")


def _integers(table: Any, name: str) -> Integers:
    column = table.column(name)
    if column.null_count:
        raise ValueError("a column has gaps")
    numbers: Integers = column.to_numpy().astype(np.int64)
    return numbers

"""Reads and writes the JSON of the NQE paper: vocab.txt and tasks/SHAPE/SPLIT.json in a folder.

Each line of a task file is an object {query id: query}; nqe_json_query.py describes a query.
All atoms are closed. The format has no missing links; they are read as -1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from nqe.errors import InputError, QueryError, StorageError, choose
from nqe.files import new_folder
from nqe.graph.arrays import Integers
from nqe.graph.ragged import Ragged
from nqe.graph.splits import SPLITS
from nqe.graph.vocabulary import Vocabulary
from nqe.query.plan import Plan
from nqe.query.shapes import SHAPES, Shape, parse_shape
from nqe.query.step_table import StepTable
from nqe.readers.source import Source
from nqe.sampling.exchange.nqe_json_query import (
    VARIABLE,
    Malformed,
    Unwritable,
    read_answers,
    read_query,
    write_query,
)
from nqe.sampling.query_checks import check_imported
from nqe.sampling.query_table import QueryTable, concatenate

FILES = {"train": ("train",), "valid": ("validation", "valid"), "test": ("test",)}
SPECIAL = ("[PAD]", "[MASK]")
# Marks a folder that nqe wrote, so that a later export may replace it.
MARKER, MARK = "README.txt", "Queries in the published NQE JSON, written by nqe."
_CONTENTS = (MARKER, "vocab.txt", "tasks/*.json")
"""The files that an export may write, which the next one may replace."""


def read_nqe_json(folder: str | Path, vocabulary: Vocabulary) -> dict[str, QueryTable]:
    """Read the queries of a folder by split; `vocabulary` must contain all their ids."""
    folder = Path(folder)
    _check_tokens(folder / "vocab.txt")
    tables: dict[str, list[QueryTable]] = {}
    for split, path in _task_files(folder / "tasks"):
        tables.setdefault(split, []).append(_read_file(path, vocabulary))
    if not tables:
        raise InputError(
            f"{folder}: contains no tasks/SHAPE/train.json, validation.json or test.json; "
            "give the folder that has `tasks`"
        )
    joined = {split: concatenate(tables[split]) for split in SPLITS if split in tables}
    check_imported(folder, joined, vocabulary)
    return joined


def _task_files(tasks: Path) -> Iterator[tuple[str, Path]]:
    """Yield each file of queries with its split."""
    for shape in sorted(tasks.iterdir()) if tasks.is_dir() else ():
        for split, names in FILES.items():
            found = [path for name in names if (path := shape / f"{name}.json").is_file()]
            if len(found) > 1:
                raise InputError(f"{found[1]}: {found[0].name} exists as well; keep one of the two")
            yield from ((split, path) for path in found)


def _check_tokens(path: Path) -> None:
    """Refuse a file that is not a vocabulary: one token per line, perhaps a tab and its number."""
    tokens = set()
    for number, line in _lines(path):
        token, *rest = line.split("\t")
        if len(rest) > 1 or not all(one.strip().isdecimal() for one in rest):
            raise InputError(f"{path}:{number}: not a token and its number; remove what is extra")
        tokens.add(token)
    for token in SPECIAL:
        if token not in tokens:
            raise InputError(f"{path}: the token {token} is missing; is this an NQE vocabulary?")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers."""
    with Source(str(path)) as source:
        yield from source.lines()


def _read_file(path: Path, vocabulary: Vocabulary) -> QueryTable:
    """Read the queries of one task file."""
    plans: list[Plan] = []
    easy: list[Integers] = []
    hard: list[Integers] = []
    for number, line in _lines(path):
        try:
            for query in _parse_line(line):
                plans.append(read_query(query, vocabulary))
                for rows, row in zip((easy, hard), read_answers(query, vocabulary), strict=True):
                    rows.append(np.array(row, dtype=np.int64))
        except Malformed as error:
            raise InputError(f"{path}:{number}: {error}") from error
    return _build_table(path.parent.name, plans, Ragged.of(easy), Ragged.of(hard))


def _parse_line(line: str) -> list[Any]:
    try:
        queries = json.loads(line, object_pairs_hook=_refuse_repeated_keys)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"not JSON ({error}); write one object {{id: query}} per line") from error
    if not isinstance(queries, dict):
        raise Malformed("not an object; write one object {id: query} per line")
    return list(queries.values())


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; of equal keys, the json module would keep only the last."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key stands twice")
    return members


def _build_table(folder: str, plans: list[Plan], easy: Ragged, hard: Ragged) -> QueryTable:
    shapes = tuple(_shape_name(folder, plan.shape) for plan in plans)
    return QueryTable.of(shapes, StepTable.of(plans), easy, hard)


@cache
def _shape_name(folder: str, shape: Shape) -> str:
    """Return the name of the folder if it names this shape in any order, else the shape's own."""
    try:
        named = parse_shape(folder)
    except QueryError:
        return shape.name
    return folder if named.sorted() == shape.sorted() else shape.name


def write_nqe_json(
    tables: Mapping[str, QueryTable], vocabulary: Vocabulary, folder: str | Path
) -> None:
    """Write queries and vocabulary; an earlier export in the folder is replaced.

    The answers of training queries are written as easy answers.
    """
    _check_names(vocabulary)
    with new_folder(Path(folder), MARKER, MARK, contents=_CONTENTS) as temporary:
        (temporary / MARKER).write_text(MARK + "\n", encoding="utf-8")
        _write_tokens(vocabulary, temporary / "vocab.txt")
        for split, table in tables.items():
            name = choose(FILES, split, "split")[0]
            _write_split(table, vocabulary, temporary / "tasks", f"{name}.json")


def _check_names(vocabulary: Vocabulary) -> None:
    for name in (VARIABLE, *SPECIAL):
        if name in vocabulary.entities.ids or name in vocabulary.relations.ids:
            raise StorageError(
                f"the graph has the id '{name}', which the NQE format reserves; "
                "rename it in the source"
            )


def _write_tokens(vocabulary: Vocabulary, path: Path) -> None:
    """Write the reserved tokens, then relations, then entities, each token once."""
    every = (*SPECIAL, *vocabulary.relations.ids, *vocabulary.entities.ids)
    lines = (f"{token}\t{number}\n" for number, token in enumerate(dict.fromkeys(every)))
    path.write_text("".join(lines), encoding="utf-8")


def _write_split(table: QueryTable, vocabulary: Vocabulary, tasks: Path, name: str) -> None:
    """Write one file per shape."""
    shapes: dict[str, list[int]] = {}
    for row, shape in enumerate(table.shape):
        shapes.setdefault(_folder_name(shape), []).append(row)
    for shape, rows in shapes.items():
        (tasks / shape).mkdir(parents=True, exist_ok=True)
        with (tasks / shape / name).open("w", encoding="utf-8") as file:
            for count, row in enumerate(rows):
                query = _write_row(table, row, vocabulary)
                file.write(json.dumps({f"{shape}_{count}": query}, ensure_ascii=False) + "\n")


@cache
def _folder_name(shape: str) -> str:
    """Return a name for the folder of a shape; what does not parse never becomes a path."""
    tree = str(parse_shape(shape))
    if shape in SHAPES:
        return shape
    # A file system allows 255 bytes; the reader needs no name that says the shape.
    return tree if len(tree) <= 200 else f"tree-{sha256(tree.encode()).hexdigest()[:16]}"


def _write_row(table: QueryTable, row: int, vocabulary: Vocabulary) -> dict[str, Any]:
    try:
        easy, hard = table.easy[row].tolist(), table.hard[row].tolist()
        return write_query(table.plans.plan(row), easy, hard, vocabulary)
    except Unwritable as error:
        raise StorageError(
            f"the shape {table.shape[row]} has {error}, which the NQE format cannot express; "
            "leave these queries out, or sample with --match closed"
        ) from error

"""The formats, and how a file's content tells which it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nqe.errors import InputError
from nqe.readers import nary_facts, statements, table
from nqe.readers.bad_lines import Lines
from nqe.readers.source import Source

Reader = Callable[[Source], Lines]

FORMATS = ("statements", "nary", "table")


def reader(name: str, columns: table.Columns) -> Reader:
    """The reader of a format."""
    readers: dict[str, Reader] = {
        "statements": statements.read,
        "nary": nary_facts.read,
        "table": partial(table.read, columns=columns),
    }
    if name not in readers:
        raise InputError(f"unknown format '{name}'; choose one of {', '.join(FORMATS)}")
    return readers[name]


def detect(source: Source, columns: table.Columns) -> str:
    """The format of a source by its first lines."""
    if table.PARQUET_MAGIC.match(source.head):
        return "table"
    lines = source.head_lines()
    if not lines:
        raise InputError(f"{source.name}: empty; there is nothing to import")
    if lines[0].lstrip().startswith("{"):
        return "nary"
    if columns.separator(lines[0]):
        return "table"
    if "\t" in lines[0]:
        return _tab_separated(source, [line.split("\t") for line in lines])
    if lines[0].count(",") >= 2:
        return "statements"
    raise InputError(
        f"{source.name}:1: not a form that can be told by itself; "
        f"say which with --format ({', '.join(FORMATS)})"
    )


def _tab_separated(source: Source, rows: list[list[str]]) -> str:
    """Relation first (nary) or second (statements): the relation is what varies less.

    Statements have an odd number of parts, so that where none has, relations stand first.
    """
    even = sum(len(row) % 2 == 0 for row in rows)
    if even == len(rows):
        return "nary"
    first, second = (len({row[place] for row in rows if len(row) > 1}) for place in (0, 1))
    if first == second:
        raise InputError(
            f"{source.name}:1: cannot tell whether the relation stands first or second; "
            "say --format nary (first) or --format statements (second)"
        )
    return "nary" if first < second else "statements"

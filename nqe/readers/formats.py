"""The table of formats with their readers, and detection of a file's format from its content."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nqe.errors import InputError
from nqe.readers import nary_facts, parquet_table, statements, table
from nqe.readers.columns import Columns
from nqe.readers.records import Records
from nqe.readers.source import HEAD, Source

Reader = Callable[[Source], Records]

FORMATS = ("statements", "nary", "table")


def choose_reader(name: str, columns: Columns) -> Reader:
    """The reader of a format; `columns` are the main columns of tables."""
    readers: dict[str, Reader] = {
        "statements": statements.read,
        "nary": nary_facts.read,
        "table": partial(table.read, columns=columns),
    }
    if name not in readers:
        raise InputError(f"unknown format '{name}'; choose one of {', '.join(FORMATS)}")
    return readers[name]


def detect_format(source: Source, columns: Columns) -> str:
    """The format that the first lines of a source are written in."""
    if parquet_table.is_parquet(source):
        return "table"
    lines = source.head_lines()
    if not lines and len(source.head) < HEAD:
        raise InputError(f"{source.name}: empty; there is nothing to import")
    if not lines:
        raise InputError(
            f"{source.name}:1: the first {HEAD >> 10} KB are empty lines; remove them, or name the "
            f"format with --format ({', '.join(FORMATS)})"
        )
    if lines[0].lstrip().startswith("{"):
        return "nary"
    if columns.find_separator(lines[0]):
        return "table"
    if "\t" in lines[0]:
        return _detect_tab_separated(source, [line.split("\t") for line in lines])
    if lines[0].count(",") >= 2:
        return "statements"
    raise InputError(
        f"{source.name}:1: the format cannot be detected from the content; "
        f"name it with --format ({', '.join(FORMATS)})"
    )


def _detect_tab_separated(source: Source, rows: list[list[str]]) -> str:
    """Whether the relation is first (nary) or second (statements): it varies less than entities.

    Statements have an odd number of parts, so if no line has, the relation is first.
    """
    even = sum(len(row) % 2 == 0 for row in rows)
    if even == len(rows):
        return "nary"
    first, second = (len({row[place] for row in rows if len(row) > 1}) for place in (0, 1))
    if first == second:
        raise InputError(
            f"{source.name}:1: cannot tell whether the relation is first or second; "
            "give --format nary (first) or --format statements (second)"
        )
    return "nary" if first < second else "statements"

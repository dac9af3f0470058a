"""The table of formats with their readers, and detection of a file's format from its content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from nqe.errors import InputError
from nqe.readers import nary_facts, parquet_table, statements, table
from nqe.readers.columns import Columns
from nqe.readers.header import looks_like_header
from nqe.readers.records import Records
from nqe.readers.source import HEAD, Source
from nqe.readers.unknown_format import (
    explain_unknown,
    find_document,
    find_json_lines,
    find_signature,
    refuse_header,
)

Reader = Callable[[Source], Records]

FORMATS = ("statements", "nary", "table")


def choose_reader(name: str, columns: Columns, *, typed: bool = False) -> Reader:
    """The reader of a format; `columns` says what the columns of tables mean.

    If `typed`, the numbers and dates of formats that know such types are literals.
    """
    readers: dict[str, Reader] = {
        "statements": statements.read,
        "nary": partial(nary_facts.read, typed=typed),
        "table": partial(_read_table, columns=columns, typed=typed),
    }
    if name not in readers:
        raise InputError(f"unknown format '{name}'; choose one of {', '.join(FORMATS)}")
    if name != "table" and columns.are_given:
        raise InputError(
            f"the format {name} has no columns with names; leave out --format, or the options "
            "about columns"
        )
    return readers[name]


def _read_table(source: Source, columns: Columns, *, typed: bool) -> Records:
    """The records of a table; what cannot be one is refused in words that name it."""
    if not parquet_table.is_parquet(source):
        lines = source.head_lines()
        looks = find_signature(source) or find_document(lines) or find_json_lines(lines)
        if looks is not None:
            raise InputError(f"{source.name}:1: not a table; it looks like {looks}")
    return table.read(source, columns, typed=typed)


def detect_format(source: Source, columns: Columns) -> str:
    """The format that the first lines of a source are written in.

    If anything is said about columns, it is a table.
    """
    if columns.are_given or parquet_table.is_parquet(source):
        return "table"
    lines = _list_first_lines(source)
    if document := find_document(lines):
        raise InputError(f"{source.name}:1: looks like {document}")
    if lines[0].lstrip().startswith("{"):
        return "nary"
    if columns.find_separator(lines[0]):
        return "table"
    if any(line.count("\t") > 1 for line in lines) and "\t" in lines[0]:
        _ask_about_header(source, lines, "\t", "--format statements or --format nary")
        return _detect_tab_separated(source, [line.split("\t") for line in lines])
    if lines[0].count(",") >= 2:
        _ask_about_header(source, lines, ",", "--format statements")
        return "statements"
    raise explain_unknown(source, lines, FORMATS)


def _list_first_lines(source: Source) -> list[str]:
    """The first lines of a source that is text and not empty."""
    if signature := find_signature(source):
        raise InputError(f"{source.name}:1: looks like {signature}")
    lines = source.head_lines()
    if not lines and len(source.head) < HEAD:
        raise InputError(f"{source.name}: empty; there is nothing to import")
    if not lines:
        raise InputError(
            f"{source.name}:1: the first {HEAD >> 10} KB are empty lines; remove them, or name the "
            f"format with --format ({', '.join(FORMATS)})"
        )
    return lines


def _ask_about_header(source: Source, lines: Sequence[str], separator: str, otherwise: str) -> None:
    """Refuse a first line that looks like a header, which would be read as a fact."""
    if looks_like_header(lines, separator):
        raise refuse_header(source, lines[0], separator, otherwise)


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

"""The table of formats with their readers, and detection of a file's format from its content."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from nqe.errors import InputError
from nqe.readers import nary_facts, statements, table
from nqe.readers.rdf_syntax import SYNTAXES, detect_ending, detect_syntax
from nqe.readers.records import Records
from nqe.readers.source import HEAD, Source

Reader = Callable[[Source], Records]

FORMATS = ("statements", "nary", "table", *SYNTAXES)
LANGUAGE = "en"
"""The language of labels, unless another is chosen."""


def choose_reader(
    name: str,
    columns: table.Columns,
    *,
    typed: bool = False,
    language: str = LANGUAGE,
    file_number: int = 1,
) -> Reader:
    """The reader of a format; `columns` are the main columns of tables.

    If `typed`, the numbers and dates of formats that know such types are literals. `language` is
    that of the labels in RDF, and `file_number` distinguishes the blank nodes of several files.
    """
    readers: dict[str, Reader] = {
        "statements": statements.read,
        "nary": partial(nary_facts.read, typed=typed),
        "table": partial(table.read, columns=columns, typed=typed),
    }
    for syntax in SYNTAXES:
        readers[syntax] = partial(_read_rdf, syntax, language, file_number)
    if name not in readers:
        raise InputError(f"unknown format '{name}'; choose one of {', '.join(FORMATS)}")
    return readers[name]


def _read_rdf(syntax: str, language: str, file_number: int, source: Source) -> Records:
    try:
        from nqe.readers import rdf
    except ModuleNotFoundError as error:
        raise InputError(
            f"{source.name}: RDF is read with pyoxigraph, which is not installed; install NQE with "
            "the extra rdf: pip install -c constraints.txt '.[rdf]'"
        ) from error
    return rdf.read(source, syntax, language, file_number)


def detect_format(source: Source, columns: table.Columns) -> str:
    """The format that the first lines of a source are written in."""
    if table.PARQUET_MAGIC.match(source.head):
        return "table"
    lines = source.head_lines()
    if not lines and len(source.head) < HEAD:
        raise InputError(f"{source.name}: empty; there is nothing to import")
    if not lines:
        raise InputError(
            f"{source.name}:1: the first {HEAD >> 10} KB are empty lines; remove them, or name the "
            f"format with --format ({', '.join(FORMATS)})"
        )
    if syntax := detect_syntax(source):
        return syntax
    if lines[0].lstrip().startswith("{"):
        return "nary"
    if columns.find_separator(lines[0]):
        return "table"
    if "\t" in lines[0]:
        return _detect_tab_separated(source, [line.split("\t") for line in lines])
    return _detect_lines(source, lines)


def _detect_lines(source: Source, lines: list[str]) -> str:
    """The format of lines without tabs; if they say nothing, the file's ending may."""
    if lines[0].count(",") >= 2:
        return "statements"
    if syntax := detect_ending(source.name):
        return syntax
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

"""The table of formats with their readers, and detection of a file's format from its content."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from nqe.errors import InputError, NqeError
from nqe.readers import nary_facts, parquet_table, statements, table
from nqe.readers.cells import split_or_skip
from nqe.readers.columns import Columns
from nqe.readers.header import looks_like_header
from nqe.readers.rdf_syntax import SYNTAXES, detect_ending, detect_syntax
from nqe.readers.records import Records
from nqe.readers.relation_column import has_one_even_width, is_relation_first, may_be_statements
from nqe.readers.source import HEAD, Source
from nqe.readers.unknown_format import (
    explain_unknown,
    find_document,
    find_json_lines,
    find_signature,
    refuse_header,
    refuse_rows,
)
from nqe.readers.wikidata_policy import WikidataPolicy

Reader = Callable[[Source], Records]

WIKIDATA = "wikidata"
FORMATS = ("statements", "nary", "table", WIKIDATA, *SYNTAXES)
# How a dump of Wikidata begins: an object, or an array of objects, with keys that hold objects.
_WIKIDATA_HEAD = re.compile(
    rb"""(\[\s*)?\{.*?(
        "(labels|descriptions|aliases|lemmas|claims|sitelinks)"\s*:\s*\{
        | "entities"\s*:\s*\{\s*"[A-Z][0-9]+"\s*:\s*\{\s*"(pageid|type|id|missing)"\s*:
        | "type"\s*:\s*"(item|property|lexeme|mediainfo)"\s*,\s*"id"\s*:\s*"[A-Z][0-9]+"
        | "id"\s*:\s*"[A-Z][0-9]+"\s*,\s*"type"\s*:\s*"(item|property|lexeme|mediainfo)"
    )""",
    re.DOTALL | re.VERBOSE,
)
_NO_COLUMNS = "leave out --format and the options about columns"


@dataclass(frozen=True)
class _Choice:
    """What can be chosen, by which options, in which formats."""

    what: str
    options: str
    formats: tuple[str, ...]


_LANGUAGE = _Choice("languages", "--language", (WIKIDATA, *SYNTAXES))
_STATEMENTS = _Choice(
    "ranks, relations and classes",
    "--deprecated, --external-ids, --keep-relations and --keep-classes",
    (WIKIDATA,),
)


def choose_reader(
    name: str,
    columns: Columns,
    *,
    typed: bool = False,
    language: str | None = None,
    wikidata: WikidataPolicy | None = None,
    file_number: int = 1,
) -> Reader:
    """The reader of a format; `columns` says what the columns of tables mean.

    If `typed`, the numbers and dates of formats that know such types are literals. `language` is
    that of the labels in Wikidata's JSON and RDF, and `wikidata` says which statements to take from
    the former. `file_number` distinguishes the blank nodes of several files.
    """
    readers: dict[str, Reader] = {
        "statements": statements.read,
        "nary": partial(nary_facts.read, typed=typed),
        "table": partial(_read_table, columns=columns, typed=typed),
        WIKIDATA: partial(_read_wikidata, language=language, policy=wikidata),
    }
    for syntax in SYNTAXES:
        readers[syntax] = partial(
            _read_rdf, syntax=syntax, language=language, file_number=file_number
        )
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
        looks = find_signature(source)
        lines = [] if looks else source.head_lines()
        looks = looks or _find_graph(source, lines)
        looks = looks or find_document(lines) or find_json_lines(lines)
        if looks is not None:
            raise InputError(f"{source.name}:1: not a table; it looks like {looks}")
    return table.read(source, columns, typed=typed)


def _find_graph(source: Source, lines: Sequence[str]) -> str | None:
    """What a file is that is written in a format of graphs; None if it may be a table."""
    if _is_wikidata(source):
        return f"Wikidata's JSON; {_NO_COLUMNS}"
    # A line of IRIs with tabs between them may be a row as well as a triple.
    is_rdf = lines and "\t" not in lines[0] and detect_syntax(source)
    return f"RDF; {_NO_COLUMNS}" if is_rdf else None


def _read_wikidata(source: Source, language: str | None, policy: WikidataPolicy | None) -> Records:
    try:
        from nqe.readers import wikidata
    except ImportError as error:
        if error.name != "msgspec":
            raise
        raise NqeError(
            "Wikidata's JSON is read with msgspec; install nqe with the extra `wikidata`"
        ) from None
    return wikidata.read(source, language=language, policy=policy)


def _read_rdf(source: Source, syntax: str, language: str | None, file_number: int) -> Records:
    try:
        from nqe.readers import rdf
    except ImportError as error:
        if error.name != "pyoxigraph":
            raise
        raise NqeError("RDF is read with pyoxigraph; install nqe with the extra `rdf`") from None
    return rdf.read(source, syntax, language, file_number)


def check_options(source: str, format: str, language: str | None, wikidata: WikidataPolicy) -> None:
    """Refuse options that would have no effect on a source."""
    given = {_LANGUAGE: language is not None, _STATEMENTS: wikidata.is_given}
    for choice, is_given in given.items():
        if is_given and format not in choice.formats:
            raise InputError(
                f"{source}: {choice.what} can be chosen only in {', '.join(choice.formats)}, "
                f"and this is {format}; leave out {choice.options}"
            )


def detect_format(source: Source, columns: Columns) -> str:
    """The format that the first lines of a source are written in.

    If anything is said about columns, it is a table. If the lines do not tell, the ending of the
    file's name may.
    """
    if columns.are_given or parquet_table.is_parquet(source):
        return "table"
    lines = _list_first_lines(source)
    in_lines = _detect_graph(source) or _detect_rows(source, lines, columns)
    found = in_lines or detect_ending(source.name)
    if found is None:
        raise explain_unknown(source, lines, FORMATS)
    return found


def _detect_graph(source: Source) -> str | None:
    """Which format of graphs a source is written in, if any."""
    return WIKIDATA if _is_wikidata(source) else detect_syntax(source)


def _detect_rows(source: Source, lines: list[str], columns: Columns) -> str | None:
    """Which format has facts in lines such as these, if any."""
    if find_document(lines):
        return None
    if lines[0].lstrip().startswith("{"):
        return "nary"
    if columns.find_separator(lines[0]):
        return "table"
    if any(line.count("\t") > 1 for line in lines) and "\t" in lines[0]:
        return _detect_tab_separated(source, lines)
    if lines[0].count(",") >= 2:
        return _detect_comma_separated(source, lines)
    return None


def _is_wikidata(source: Source) -> bool:
    return _WIKIDATA_HEAD.match(source.head[:HEAD].lstrip()) is not None


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
        raise refuse_header(source, lines, separator, otherwise)


def _detect_tab_separated(source: Source, lines: Sequence[str]) -> str:
    """Whether the relation is first (nary) or second (statements)."""
    rows = [line.split("\t") for line in lines]
    may_be_odd = any(len(row) % 2 for row in rows)
    formats = "--format statements or --format nary" if may_be_odd else "--format nary"
    _ask_about_header(source, lines, "\t", formats)
    is_first = is_relation_first(rows)
    if is_first is None and not may_be_odd:
        raise refuse_rows(source, rows, "--format nary if the first cell is the relation")
    if is_first is None:
        raise InputError(
            f"{source.name}:1: cannot tell whether the relation is first or second; "
            "give --format nary (first) or --format statements (second)"
        )
    if not is_first:
        _ask_about_columns(source, rows)
    return "nary" if is_first else "statements"


def _detect_comma_separated(source: Source, lines: Sequence[str]) -> str | None:
    """Statements, unless no line can be one."""
    rows = [row for row in (split_or_skip(line, ",") for line in lines) if row]
    if has_one_even_width(rows):
        return None
    _ask_about_header(source, lines, ",", "--format statements")
    _ask_about_columns(source, rows)
    return "statements"


def _ask_about_columns(source: Source, rows: Sequence[Sequence[str]]) -> None:
    """Refuse rows that do not vary as statements do."""
    if not may_be_statements(rows):
        raise refuse_rows(
            source, rows, "--format statements if the second cell, the fourth, … are relations"
        )

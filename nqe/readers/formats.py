"""The table of formats with their readers, and detection of a file's format from its content."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from nqe.errors import InputError, NqeError
from nqe.readers import nary_facts, statements, table
from nqe.readers.records import Records
from nqe.readers.source import HEAD, Source
from nqe.readers.wikidata_policy import WikidataPolicy

Reader = Callable[[Source], Records]

WIKIDATA = "wikidata"
FORMATS = ("statements", "nary", "table", WIKIDATA)
# How a dump of Wikidata begins: an object, or an array of objects, with keys that hold objects.
_WIKIDATA_HEAD = re.compile(
    rb"""(\[\s*)?\{.*?(
        "(labels|descriptions|aliases|lemmas|claims|sitelinks|entities)"\s*:\s*\{
        | "type"\s*:\s*"(item|property|lexeme|mediainfo)"\s*,\s*"id"\s*:\s*"[A-Z][0-9]+"
        | "id"\s*:\s*"[A-Z][0-9]+"\s*,\s*"type"\s*:\s*"(item|property|lexeme|mediainfo)"
    )""",
    re.DOTALL | re.VERBOSE,
)


def choose_reader(
    name: str,
    columns: table.Columns,
    *,
    typed: bool = False,
    language: str | None = None,
    wikidata: WikidataPolicy | None = None,
) -> Reader:
    """The reader of a format; `columns` are the main columns of tables.

    If `typed`, the numbers and dates of formats that know such types are literals. `language` and
    `wikidata` say what to take from Wikidata's JSON.
    """
    if name == WIKIDATA:
        return _import_wikidata(language, wikidata)
    readers: dict[str, Reader] = {
        "statements": statements.read,
        "nary": partial(nary_facts.read, typed=typed),
        "table": partial(table.read, columns=columns, typed=typed),
    }
    if name not in readers:
        raise InputError(f"unknown format '{name}'; choose one of {', '.join(FORMATS)}")
    return readers[name]


def _import_wikidata(language: str | None, policy: WikidataPolicy | None) -> Reader:
    try:
        from nqe.readers import wikidata
    except ImportError as error:
        if error.name != "msgspec":
            raise
        raise NqeError(
            "Wikidata's JSON is read with msgspec; install nqe with the extra `wikidata`"
        ) from None
    return partial(wikidata.read, language=language, policy=policy)


def check_options(source: str, format: str, language: str | None, wikidata: WikidataPolicy) -> None:
    """Refuse options that would have no effect on a source."""
    if format != WIKIDATA and (language is not None or wikidata.is_given):
        raise InputError(
            f"{source}: languages, ranks and classes are chosen in Wikidata's JSON, and this is "
            f"{format}; leave out --language, --deprecated, --external-ids, --keep-relations and "
            "--keep-classes"
        )


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
    if _WIKIDATA_HEAD.match(source.head[:HEAD].lstrip()):
        return WIKIDATA
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

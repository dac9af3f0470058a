"""Files of no known format: what they look like, and what to do with them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from nqe.errors import InputError
from nqe.readers.cells import split_or_skip
from nqe.readers.header import COMPARED, looks_like_header, suggest_options
from nqe.readers.relation_column import suggest_names
from nqe.readers.source import HEAD, Source
from nqe.readers.table import guess_separator
from nqe.text_format import SEPARATOR_NAMES, split_cells

SAVE_RESULTS = "save them as CSV, or import them with `nqe import sparql:URL --query FILE`"
# Patterns of the first bytes of files, with what such a file is and what to do with it.
SIGNATURES: dict[re.Pattern[bytes], str] = {
    re.compile(rb"PK\x03\x04"): "a ZIP archive or an Excel or OpenDocument file; unpack it, or "
    "save the sheet as CSV",
    re.compile(rb"\xd0\xcf\x11\xe0"): "an old Excel file; save the sheet as CSV",
    re.compile(rb"SQLite format 3\x00"): "an SQLite database; export a table as CSV",
    re.compile(
        rb"\x1f\x8b\x08|BZh[1-9]1AY&SY|\xfd7zXZ\x00|\x28\xb5\x2f\xfd"
    ): "a file that is compressed twice; decompress it once",
    re.compile(rb"7z\xbc\xaf\x27\x1c"): "a 7z archive; unpack it",
    re.compile(rb"Rar!\x1a"): "a RAR archive; unpack it",
    re.compile(rb".{257}ustar", re.DOTALL): "a tar archive; unpack it",
    re.compile(rb"%PDF-"): "a PDF document; export its tables as CSV",
    re.compile(rb"\x80[\x02-\x05]"): "a Python pickle; save it as CSV or Parquet",
    re.compile(rb"\x89HDF|\x93NUMPY"): "an HDF5 or NumPy file; save it as CSV or Parquet",
    re.compile(rb"ARROW1|FEA1"): "an Arrow or Feather file; save it as Parquet",
    re.compile(
        rb"\s*<(!doctype\s+html|html)\b", re.IGNORECASE
    ): "an HTML page; download the file itself",
    re.compile(
        rb"\s*(--\s*(mysql|postgresql|mariadb)\b.* dump|create\s+(table|database|schema)\s"
        rb"|drop\s+(table|database)\s|insert\s+into\s+\S+\s*(\(|values)|begin transaction;)",
        re.IGNORECASE,
    ): "a dump of an SQL database; export a table as CSV",
    re.compile(rb"sep=[^\r\n]\r?\n", re.IGNORECASE): "CSV of Excel with a line that names the "
    "separator; delete this line",
    # Keys, as quotes inside a text have a backslash before them.
    re.compile(
        rb"\s*[\[{].*?(?<!\\)\"@(context|graph|id)\"\s*:", re.DOTALL
    ): "JSON-LD; convert it to N-Triples, as `riot --output=ntriples` does",
    re.compile(
        rb"\s*[\[{].*?:\s*\{\s*\"type\"\s*:\s*\"(uri|bnode|(typed-)?literal)\"\s*,", re.DOTALL
    ): f"the results of a SPARQL query as JSON; {SAVE_RESULTS}",
    re.compile(
        rb"\s*\{\s*\"head\"\s*:\s*\{.*?\"(results|boolean)\"\s*:", re.DOTALL
    ): f"the results of a SPARQL query as JSON; {SAVE_RESULTS}",
    re.compile(
        rb"\?[^\t\r\n]+(\t\?[^\t\r\n]+)*\r?\n[\t<\"_0-9+-]"
    ): f"the results of a SPARQL query as TSV; {SAVE_RESULTS}",
}
XML = re.compile(r"<\?xml\s|<!doctype\s|<[a-z][\w:.-]*\s+[\w:.-]+\s*=", re.IGNORECASE)
XML_DOCUMENT = "an XML document; convert it to CSV, or to one JSON object per line"
ARRAY = "a JSON array; write one object per line, as `jq -c '.[]'` does"
DOCUMENT = "one JSON document; write one object per line, as `jq -c '.KEY[]'` does for a list in it"


def refuse_header(
    source: Source, lines: Sequence[str], separator: str, otherwise: str
) -> InputError:
    """The error that asks whether the first line is a header."""
    names = split_cells(lines[0], separator)
    return InputError(
        f"{source.name}:1: the first line ({_show(names)}) looks like the header of a table; "
        f"{_advise_names(lines, separator)}, or give {otherwise} if it is a fact"
    )


def _advise_names(lines: Sequence[str], separator: str) -> str:
    """What to do with the names of columns in the first line."""
    names, *rows = (split_or_skip(line, separator) for line in lines[: COMPARED + 1])
    twice = [name for name in names if name and names.count(name) > 1]
    if twice:
        return f"write another name for one of the columns '{twice[0]:.60}', and name its columns"
    options = suggest_options(names, rows)
    has_choice = len(names) > 2 and "--relation-name" in options
    choice = "; --relation COLUMN in place of a name if a column holds relations"
    return f"name its columns ({options}{choice if has_choice else ''})"


def refuse_rows(source: Source, rows: Sequence[Sequence[str]], otherwise: str) -> InputError:
    """The error that asks what the columns of rows without a header are."""
    return InputError(
        f"{source.name}:1: cannot tell which of the {len(rows[0])} cells ({_show(rows[0])}) is the "
        "relation; name the columns in their order (such as --columns "
        f"{','.join(suggest_names(rows))}), or give {otherwise}"
    )


def explain_unknown(source: Source, lines: Sequence[str], formats: Sequence[str]) -> InputError:
    """The error for a source whose format cannot be detected: what it looks like, what to do."""
    array = ARRAY if lines[0].lstrip().startswith("[") else None
    looks = find_document(lines) or array or _describe_table(lines)
    if looks is not None:
        return InputError(f"{source.name}:1: looks like {looks}")
    return InputError(
        f"{source.name}:1: the format cannot be detected from the content; "
        f"name it with --format ({', '.join(formats)})"
    )


def find_signature(source: Source) -> str | None:
    """What a file is that begins with the bytes of a kind that is not read, and what to do."""
    found = (text for pattern, text in SIGNATURES.items() if pattern.match(source.head[:HEAD]))
    return next(found, None)


def find_document(lines: Sequence[str]) -> str | None:
    """What a file is that is one document of JSON or XML; None if it is not."""
    line = lines[0].strip() if lines else ""
    if line.startswith("{"):
        return DOCUMENT if _is_document(lines) else None
    if line.startswith("["):
        return ARRAY if _is_array(line) else None
    return XML_DOCUMENT if XML.match(line) else None


def find_json_lines(lines: Sequence[str]) -> str | None:
    """What a file is whose first line is a JSON object; None if it is not."""
    if not lines or _parse_json(lines[0]) is None:
        return None
    return "JSON lines, which have no columns; leave out --format and the options about columns"


def _is_document(lines: Sequence[str]) -> bool:
    """Whether lines that begin as a JSON object are not one object each."""
    first = _parse_json(lines[0])
    if first is None:
        return len(lines) > 1 and all(_parse_json(line) is None for line in lines[1:])
    return len(lines) == 1 and _is_nested(first)


def _is_array(line: str) -> bool:
    """Whether a line begins as a JSON array of objects does, or is a whole array."""
    try:
        first, _ = json.JSONDecoder(parse_int=str).raw_decode(line[1:].lstrip() or "{}")
        return isinstance(first, dict) or isinstance(json.loads(line, parse_int=str), list)
    except (ValueError, RecursionError):
        return False


def _parse_json(line: str) -> dict[str, Any] | None:
    """The JSON object that a line holds; None if it holds none."""
    try:
        found = json.loads(line, parse_int=str)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _is_nested(found: dict[str, Any]) -> bool:
    lists = [value if isinstance(value, list) else [value] for value in found.values()]
    return any(isinstance(value, dict) for values in lists for value in values)


def _describe_table(lines: Sequence[str]) -> str | None:
    """What to do with lines of several cells, of which none is known to be the relation."""
    separator = guess_separator(lines)
    if separator is None:
        return None
    cells = split_cells(lines[0], separator)
    signs = f"{SEPARATOR_NAMES[separator]}s between them"
    what = f"a table of {len(cells)} columns with {signs} and the first line {_show(cells)}"
    if looks_like_header(lines, separator):
        return f"{what}; {_advise_names(lines, separator)}"
    if len(cells) == 2:
        advice = "give their relation with --relation-name NAME"
    else:
        advice = (
            "name the columns with --subject, --relation (or --relation-name NAME if none holds "
            "relations) and --object"
        )
    return f"{what}; {advice}, and --no-header if the first line is a row"


def _show(cells: Sequence[str]) -> str:
    more = ", …" if len(cells) > 5 else ""
    return ", ".join(f"{cell:.40}" for cell in cells[:5]) + more

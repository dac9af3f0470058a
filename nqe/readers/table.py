"""Reads tables (CSV, TSV, Parquet): the main triple and one column per attribute."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from nqe.errors import InputError
from nqe.readers import parquet_table
from nqe.readers.cells import drop_fraction, find_whole_columns
from nqe.readers.columns import Columns
from nqe.readers.layout import Layout
from nqe.readers.records import BadLine, Record, Records
from nqe.readers.source import Source
from nqe.text_format import SEPARATOR_NAMES, split_cells


def read(source: Source, columns: Columns | None = None, *, typed: bool = False) -> Records:
    """One fact per row, and what else the columns say.

    If `typed`, the numbers and dates of a Parquet file are literals, except as subjects and
    relations; otherwise they are plain ids.
    """
    columns = columns or Columns()
    if parquet_table.is_parquet(source):
        return parquet_table.read(source, columns, typed=typed)
    return _read_text(source, columns)


def guess_separator(lines: Sequence[str]) -> str | None:
    """The separator that splits most lines into as many cells as the first line, or None."""
    widths = {one: _measure_widths(lines, one) for one in SEPARATOR_NAMES}
    fits = {one: (found.count(found[0]), found[0]) for one, found in widths.items() if found}
    fits = {one: fit for one, fit in fits.items() if fit[1] > 1}
    return max(fits, key=lambda one: fits[one]) if fits else None


def _measure_widths(lines: Sequence[str], separator: str) -> list[int]:
    """The number of cells of each line; none if the first line cannot be split."""
    try:
        widths = [len(split_cells(lines[0], separator))] if lines else []
    except InputError:
        return []
    return widths + [line.count(separator) + 1 for line in lines[1:] if '"' not in line]


def _read_text(source: Source, columns: Columns) -> Records:
    lines = source.head_lines()
    if not lines:
        return
    named = columns.find_separator(lines[0]) if columns.has_header else None
    separator = columns.separator or named or guess_separator(lines) or ","
    layout = Layout.of(_list_names(lines[0], separator, columns, source), columns, source.name)
    parse = _make_parser(layout, columns, separator, lines)
    rows = source.parse_lines(parse)
    if columns.has_header:
        next(rows, None)
    for number, records in rows:
        if isinstance(records, BadLine):
            yield number, records
        else:
            yield from ((number, record) for record in records)


def _list_names(line: str, separator: str, columns: Columns, source: Source) -> Sequence[str]:
    """The names of the columns: those of the header, those that were given, or numbers."""
    try:
        cells = split_cells(line, separator)
    except InputError as error:
        raise InputError(f"{source.name}:1: {error}") from error
    if columns.has_header:
        return cells
    if columns.names is None:
        return [str(number) for number in range(1, len(cells) + 1)]
    if tuple(cells) == columns.names:
        raise InputError(
            f"{source.name}:1: the first line is a header with the names that were given; "
            f"leave out {'--columns' if columns.mapping is None else 'names'}"
        )
    return columns.names


def _make_parser(
    layout: Layout, columns: Columns, separator: str, lines: Sequence[str]
) -> Callable[[str], list[Record]]:
    """What turns a line into its records."""
    whole, missing = find_whole_columns(lines[columns.has_header :], separator), columns.missing
    first = "the header" if columns.has_header else "the table"

    def parse(line: str) -> list[Record]:
        row = split_cells(line, separator)
        if len(row) != layout.width:
            raise InputError(f"{len(row)} cells, but {first} has {layout.width}; add or drop some")
        cells = {place: cell for place, cell in enumerate(row) if cell and cell not in missing}
        for place in whole & cells.keys():
            cells[place] = drop_fraction(cells[place], line)
        return layout.list_records(cells)

    return parse

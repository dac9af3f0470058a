"""Reads tables with a header (CSV, TSV, Parquet): the main triple and one column per attribute."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from itertools import chain, islice
from numbers import Number, Real
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from nqe.errors import InputError
from nqe.graph.fact import Fact
from nqe.readers.records import BadLine, Record, Records
from nqe.readers.source import Source
from nqe.readers.typed_values import read_cell
from nqe.text_format import MAIN_COLUMNS, SEPARATOR_NAMES, split_cells

# No text has a control character after these letters, so an id may begin with them.
PARQUET_MAGIC = re.compile(rb"PAR1[\x00-\x1f]")

Pairs = list[tuple[str, Any]]
Write = Callable[[Any], str]

# Values that become texts, besides those in lists.
PLAIN_TYPES = (str, Number, date, time, timedelta, UUID)
# What pyarrow raises for a damaged file, and for a value that Python has no type for.
ARROW_ERRORS = (pa.ArrowException, OSError, ValueError, OverflowError)


@dataclass(frozen=True)
class UnreadableCell:
    """A cell whose value Python has no type for: nanoseconds, the year 300,000, wrong UTF-8."""

    reason: str


OTHER_COLUMNS = (
    ("subject", "predicate", "object"),
    ("head", "relation", "tail"),
    ("source", "relation", "target"),
    (":START_ID", ":TYPE", ":END_ID"),
)


@dataclass(frozen=True)
class Columns:
    """The names of the main triple's columns; every other column is an attribute."""

    subject: str = MAIN_COLUMNS[0]
    relation: str = MAIN_COLUMNS[1]
    object: str = MAIN_COLUMNS[2]

    def find(self, header: Sequence[str]) -> tuple[int, int, int] | None:
        """The positions of the three columns in a header; None if one is missing.

        A name in another case is found if none is in the right case. With the default names, the
        names that other tools use are found as well.
        """
        given = (self.subject, self.relation, self.object)
        choices = (given, *OTHER_COLUMNS) if given == MAIN_COLUMNS else (given,)
        return next(filter(None, (_find_names(header, names) for names in choices)), None)

    def find_separator(self, header: str) -> str | None:
        """The separator that splits a header line into columns with all three names, or None."""
        for separator in SEPARATOR_NAMES:
            try:
                names = split_cells(header, separator)
            except InputError:
                continue
            if self.find(names):
                return separator
        return None


def _find_names(header: Sequence[str], wanted: Sequence[str]) -> tuple[int, int, int] | None:
    exact = [name.strip() for name in header]
    folded = [name.casefold() for name in exact]
    if not all(name.casefold() in folded for name in wanted):
        return None
    subject, relation, object_ = (
        exact.index(name) if name in exact else folded.index(name.casefold()) for name in wanted
    )
    return subject, relation, object_


@dataclass(frozen=True)
class Layout:
    """The positions of a table's columns."""

    main: tuple[int, int, int]
    attributes: tuple[tuple[int, str], ...]
    width: int

    @classmethod
    def of(cls, header: Sequence[str], columns: Columns, source: str) -> Layout:
        """The layout that a header describes."""
        main = columns.find(header)
        if main is None:
            shown = ", ".join(f"{name:.60}" for name in header[:8]) + (
                ", …" if len(header) > 8 else ""
            )
            raise InputError(
                f"{source}:1: the header {shown} lacks {columns.subject}, "
                f"{columns.relation} or {columns.object}; name the columns with "
                "--subject, --relation and --object"
            )
        names = ((place, name.strip()) for place, name in enumerate(header) if place not in main)
        return cls(main, tuple((place, name) for place, name in names if name), len(header))

    def parse(self, row: Sequence[str]) -> Fact:
        """The fact of a row of texts; an empty cell is no qualifier."""
        if len(row) != self.width:
            raise InputError(f"{len(row)} cells, but the header has {self.width}; add or drop some")
        pairs = [(name, row[place]) for place, name in self.attributes if row[place]]
        return _make_fact([row[place] for place in self.main], pairs)


def _make_fact(main: Sequence[Any], pairs: Pairs, write: Write = str) -> Fact:
    """The fact of a row's main cells and its other filled cells by attribute.

    `write` makes the ids of objects and of values.
    """
    texts = [*map(_list_texts, main[:2]), _list_texts(main[2], write)]
    qualifiers = tuple((name, text) for name, cell in pairs for text in _list_texts(cell, write))
    if any(len(values) != 1 for values in texts):
        raise InputError(
            "subject, relation and object need one value each; fill them or drop the row"
        )
    return Fact(texts[0][0], texts[1][0], texts[2][0], qualifiers)


def read(source: Source, columns: Columns | None = None, *, typed: bool = False) -> Records:
    """One fact per row below the header.

    If `typed`, the numbers and dates of a Parquet file are literals, except in the first two
    columns of the main triple; otherwise they are plain ids.
    """
    columns = columns or Columns()
    if PARQUET_MAGIC.match(source.head):
        return _read_parquet(source, columns, read_cell if typed else str)
    return _read_text(source, columns)


def _read_text(source: Source, columns: Columns) -> Records:
    first = source.head_lines()[:1]
    if not first:
        return iter(())
    separator = columns.find_separator(first[0]) or ","
    layout = Layout.of(_split_header(first[0], separator, source), columns, source.name)
    records = source.parse_lines(lambda line: layout.parse(split_cells(line, separator)))
    next(records, None)  # the header itself
    return records


def _split_header(line: str, separator: str, source: Source) -> list[str]:
    try:
        return split_cells(line, separator)
    except InputError as error:
        raise InputError(f"{source.name}:1: {error}") from error


def _read_parquet(source: Source, columns: Columns, write: Write) -> Records:
    """One fact per row, with the row's number in place of a line's."""
    try:
        with _open_parquet(source.open_seekable()) as file:
            layout = Layout.of(file.schema_arrow.names, columns, source.name)
            batches = (_list_rows(batch, layout) for batch in file.iter_batches(use_threads=False))
            for number, row in enumerate(chain.from_iterable(batches), start=1):
                yield number, _parse_parquet_row(row, write)
    except ARROW_ERRORS as error:
        raise InputError(f"{source.name}: damaged Parquet ({error}); get the file again") from error


def _open_parquet(content: str | io.BytesIO) -> parquet.ParquetFile:
    """Open a file so that a text that many rows share stays one text.

    A long one, repeated for every row, would fill the memory from a file of a few kilobytes.
    """
    columns = parquet.read_metadata(content).schema
    leaves = (columns.column(place) for place in range(len(columns)))
    texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    return parquet.ParquetFile(content, read_dictionary=texts)


def _parse_parquet_row(row: tuple[tuple[Any, ...], Pairs], write: Write) -> Record:
    try:
        return _make_fact(*row, write)
    except InputError as error:
        return BadLine(str(error), str(row))


def _list_rows(batch: Any, layout: Layout) -> Iterator[tuple[tuple[Any, ...], Pairs]]:
    """The main cells and the other filled cells of each row of a batch.

    Such tables are wide and mostly empty, so empty cells are not visited.
    """
    pairs: list[Pairs] = [[] for _ in range(batch.num_rows)]
    for place, name in layout.attributes:
        column = batch.column(place)
        filled = column.is_valid().to_numpy(zero_copy_only=False).nonzero()[0].tolist()
        for row, cell in zip(filled, _list_cells(column.drop_null()), strict=True):
            pairs[row].append((name, cell))
    main = zip(*(_list_cells(batch.column(place)) for place in layout.main), strict=True)
    return zip(main, pairs, strict=True)


def _list_cells(column: Any) -> list[Any]:
    """The values of a column; if Python has no type for one, they are converted one by one."""
    if pa.types.is_dictionary(column.type):
        used, places = np.unique(column.indices.drop_null().to_numpy(), return_inverse=True)
        values = _list_cells(column.dictionary.take(pa.array(used)))
        found = map(values.__getitem__, places.tolist())
        return [next(found) if valid else None for valid in column.is_valid().to_pylist()]
    if pa.types.is_list(column.type) and pa.types.is_dictionary(column.type.value_type):
        inside = iter(_list_cells(column.flatten()))
        lengths = column.value_lengths().to_pylist()
        return [None if n is None else list(islice(inside, n)) for n in lengths]
    try:
        cells: list[Any] = column.to_pylist()
    except ARROW_ERRORS:
        return [_convert_cell(cell) for cell in column]
    return cells


def _convert_cell(cell: Any) -> Any:
    try:
        return cell.as_py()
    except ARROW_ERRORS as error:
        return UnreadableCell(f"{cell.type} that cannot be read ({error!s:.200})")


def _list_texts(cell: Any, write: Write = str) -> list[str]:
    """The values of a cell as texts: several if it is a list, none if it is empty."""
    if type(cell) is str:  # nearly all of them
        return [text] if (text := cell.strip()) else []
    if isinstance(cell, UnreadableCell):
        raise InputError(f"a cell holds a {cell.reason}; store it as text")
    values = [one for one in (cell if isinstance(cell, list) else [cell]) if not _is_missing(one)]
    if not all(isinstance(value, PLAIN_TYPES) for value in values):
        raise InputError(f"a cell holds {cell!r:.60}; give texts, numbers or lists of them")
    texts = (write(value).strip() for value in values)
    return [text for text in texts if text]


def _is_missing(value: Any) -> bool:
    # Some tools write "not a number" into empty cells.
    return value is None or (isinstance(value, Real) and math.isnan(value))

"""Reads Parquet files as tables: the types of pandas and others become texts."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from nqe.errors import InputError
from nqe.readers.cells import UnreadableCell
from nqe.readers.columns import Columns
from nqe.readers.layout import Layout
from nqe.readers.records import BadLine, Record, Records
from nqe.readers.source import Source

# No text has a control character after these letters, so an id may begin with them.
MAGIC = re.compile(rb"PAR1[\x00-\x1f]")
# What pyarrow raises for a damaged file, and for a value that Python has no type for.
ARROW_ERRORS = (pa.ArrowException, OSError, ValueError, OverflowError)
# Ticks per day by the unit of a timestamp.
DAYS = {unit: 86_400 * 1_000**power for power, unit in enumerate(("s", "ms", "us", "ns"))}


def is_parquet(source: Source) -> bool:
    """Whether a source begins as Parquet files do."""
    return MAGIC.match(source.head) is not None


def read(source: Source, columns: Columns, *, typed: bool = False) -> Records:
    """The records of each row, with the row's number in place of a line's.

    If `typed`, numbers and dates are literals, except as subjects and relations.
    """
    if not columns.has_header:
        raise InputError(
            f"{source.name}: Parquet, whose columns have names; leave out {_say_headless(columns)}"
        )
    try:
        with _open(source.open_seekable()) as file:
            layout = Layout.of(file.schema_arrow.names, columns, source.name, typed=typed)
            places = layout.places
            dates = {at for at in places if _holds_dates(file, at)}
            batches = (
                _list_rows(batch, places, dates, columns.missing)
                for batch in file.iter_batches(use_threads=False)
            )
            for number, row in enumerate(chain.from_iterable(batches), start=1):
                yield from ((number, record) for record in _parse_row(row, layout))
    except ARROW_ERRORS as error:
        raise InputError(f"{source.name}: damaged Parquet ({error}); get the file again") from error


def _say_headless(columns: Columns) -> str:
    keys = ("names", "columns") if columns.names is not None else ("header", "no_header")
    return columns.option(keys[columns.mapping is None])


def _open(content: str | io.BytesIO) -> parquet.ParquetFile:
    """Open a file so that a text that many rows share stays one text.

    A long one, repeated for every row, would fill the memory from a file of a few kilobytes.
    """
    columns = parquet.read_metadata(content).schema
    leaves = (columns.column(place) for place in range(len(columns)))
    texts = [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
    return parquet.ParquetFile(content, read_dictionary=texts)


def _holds_dates(file: parquet.ParquetFile, place: int) -> bool:
    """Whether a column has times of whole days alone, as pandas stores dates."""
    field = file.schema_arrow.field(place)
    if not pa.types.is_timestamp(field.type) or field.type.tz is not None:
        return False
    batches = file.iter_batches(columns=[field.name], use_threads=False)
    columns = (column for batch in batches for column in batch.columns)
    return all(_are_days(column, DAYS[field.type.unit]) for column in columns)


def _are_days(column: Any, ticks: int) -> bool:
    if not pa.types.is_timestamp(column.type):
        return True  # another column of the same name
    return not (column.drop_null().cast(pa.int64()).to_numpy() % ticks).any()


def _parse_row(row: dict[int, Any], layout: Layout) -> Sequence[Record]:
    try:
        return layout.list_records(row)
    except InputError as error:
        return [BadLine(str(error), str(list(row.values())))]


def _list_rows(
    batch: Any, places: Sequence[int], dates: set[int], missing: frozenset[str]
) -> Iterator[dict[int, Any]]:
    """The filled cells of each row of a batch.

    Such tables are wide and mostly empty, so empty cells are not visited.
    """
    rows: list[dict[int, Any]] = [{} for _ in range(batch.num_rows)]
    for place in places:
        column = batch.column(place)
        filled = column.is_valid().to_numpy(zero_copy_only=False).nonzero()[0].tolist()
        cells = _list_cells(column.drop_null())
        if place in dates:
            cells = [cell.date() if isinstance(cell, datetime) else cell for cell in cells]
        for row, cell in zip(filled, cells, strict=True):
            if not missing or not isinstance(cell, str) or cell not in missing:
                rows[row][place] = cell
    return iter(rows)


def _list_cells(column: Any) -> list[Any]:
    """The values of a column; if Python has no type for one, they are converted one by one."""
    if pa.types.is_dictionary(column.type):
        used, places = np.unique(column.indices.drop_null().to_numpy(), return_inverse=True)
        values = _list_cells(column.dictionary.take(pa.array(used)))
        found = map(values.__getitem__, places.tolist())
        return [next(found) if valid else None for valid in column.is_valid().to_pylist()]
    if pa.types.is_list(column.type) and _is_listed_apart(column.type.value_type):
        inside = iter(_list_cells(column.flatten()))
        lengths = column.value_lengths().to_pylist()
        return [None if n is None else list(islice(inside, n)) for n in lengths]
    if pa.types.is_float32(column.type):
        # Python's numbers would show more digits than the column has.
        return [None if one is None else np.float32(one) for one in column.to_pylist()]
    try:
        cells: list[Any] = column.to_pylist()
    except ARROW_ERRORS:
        return [_convert_cell(cell) for cell in column]
    return cells


def _is_listed_apart(kind: Any) -> bool:
    """Whether the elements of lists are converted as a column of their own."""
    return bool(pa.types.is_dictionary(kind) or pa.types.is_float32(kind))


def _convert_cell(cell: Any) -> Any:
    try:
        return cell.as_py()
    except ARROW_ERRORS as error:
        return UnreadableCell(f"{cell.type} that cannot be read ({error!s:.200})")

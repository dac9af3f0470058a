"""Tables with a header (CSV, TSV, Parquet): subject, relation, object, a column an attribute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from nqe.errors import InputError
from nqe.graph.fact import Fact
from nqe.readers import cells
from nqe.readers.lines import Bad, Lines
from nqe.readers.source import Source

PARQUET_MAGIC = b"PAR1"


@dataclass(frozen=True)
class Columns:
    """What the columns of the main triple are called; every other column is an attribute."""

    subject: str = "subject"
    relation: str = "relation"
    object: str = "object"

    def find(self, header: Sequence[str]) -> tuple[int, int, int] | None:
        """Where the three stand, if need be in another case; None when one is missing."""
        exact = [name.strip() for name in header]
        folded = [name.casefold() for name in exact]
        wanted = (self.subject, self.relation, self.object)
        if not all(name.casefold() in folded for name in wanted):
            return None
        subject, relation, object_ = (
            exact.index(name) if name in exact else folded.index(name.casefold()) for name in wanted
        )
        return subject, relation, object_

    def separator(self, header: str) -> str | None:
        """The separator with which a header line has all three, or None."""
        for separator in cells.NAMES:
            names = cells.split(header, separator)
            if not isinstance(names, Bad) and self.find(names):
                return separator
        return None


@dataclass(frozen=True)
class Layout:
    """Which column holds what."""

    main: tuple[int, int, int]
    attributes: tuple[tuple[int, str], ...]
    width: int

    @classmethod
    def of(cls, header: Sequence[str], columns: Columns, source: str) -> Layout:
        """Read it off a header."""
        main = columns.find(header)
        if main is None:
            shown = ", ".join(header[:8]) + (", …" if len(header) > 8 else "")
            raise InputError(
                f"{source}:1: the header {shown} lacks {columns.subject}, "
                f"{columns.relation} or {columns.object}; name the columns with "
                "--subject, --relation and --object"
            )
        names = ((place, name.strip()) for place, name in enumerate(header) if place not in main)
        return cls(main, tuple((place, name) for place, name in names if name), len(header))

    def fact(self, row: Sequence[Any]) -> Fact | str:
        """The fact of one row, or what is wrong with it; an empty cell is no qualifier."""
        if len(row) != self.width:
            return f"{len(row)} cells, but the header has {self.width}; add or drop some"
        try:
            main = [_texts(row[place]) for place in self.main]
            values = [(name, _texts(row[place])) for place, name in self.attributes]
        except ValueError as error:
            return str(error)
        if any(len(texts) != 1 for texts in main):
            return "subject, relation and object need one value each; fill them or drop the row"
        qualifiers = tuple((name, text) for name, texts in values for text in texts)
        return Fact(main[0][0], main[1][0], main[2][0], qualifiers)


def read(source: Source, columns: Columns | None = None) -> Lines:
    """One fact a row below the header."""
    columns = columns or Columns()
    if source.head.startswith(PARQUET_MAGIC):
        return _read_parquet(source, columns)
    return _read_text(source, columns)


def _read_text(source: Source, columns: Columns) -> Lines:
    first = source.head_lines()[:1]
    separator = (columns.separator(first[0]) if first else None) or ","
    layout = None
    for number, line in source.lines():
        row = cells.split(line, separator)
        if isinstance(row, Bad):
            yield number, row
        elif layout is None:
            layout = Layout.of(row, columns, source.name)
        else:
            fact = layout.fact(row)
            yield number, Bad(fact, line) if isinstance(fact, str) else fact


def _read_parquet(source: Source, columns: Columns) -> Lines:
    """One fact a row; its number stands for the line's."""
    try:
        with parquet.ParquetFile(source.seekable()) as file:
            layout = Layout.of(file.schema_arrow.names, columns, source.name)
            for number, row in enumerate(_parquet_rows(file), start=1):
                fact = layout.fact(row)
                yield number, Bad(fact, str(row)) if isinstance(fact, str) else fact
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{source.name}: damaged Parquet ({error}); get the file again") from error


def _parquet_rows(file: Any) -> Iterator[tuple[Any, ...]]:
    for batch in file.iter_batches():
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _texts(cell: Any) -> list[str]:
    """A cell's values as texts; a list is several, nothing or an empty text is none."""
    values = cell if isinstance(cell, list) else [cell]
    if any(isinstance(value, dict | list | bytes) for value in values):
        raise ValueError(f"a cell holds {cell!r:.60}; give texts, numbers or lists of them")
    texts = (str(value).strip() for value in values if value is not None)
    return [text for text in texts if text]

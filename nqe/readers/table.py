"""Tables with a header (CSV, TSV, Parquet): subject, relation, object, a column an attribute."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from nqe.errors import InputError
from nqe.graph.fact import Fact, Qualifier
from nqe.readers.lines import Bad, Lines
from nqe.readers.source import Source

PARQUET_MAGIC = b"PAR1"
SEPARATORS = "\t,;|"


@dataclass(frozen=True)
class Columns:
    """What the columns of the main triple are called; every other column is an attribute."""

    subject: str = "subject"
    relation: str = "relation"
    object: str = "object"

    def find(self, header: Sequence[str]) -> tuple[int, int, int] | None:
        """Where the three stand, whatever their case; None when one is missing."""
        folded = [name.strip().casefold() for name in header]
        wanted = [name.casefold() for name in (self.subject, self.relation, self.object)]
        if not all(name in folded for name in wanted):
            return None
        subject, relation, object_ = (folded.index(name) for name in wanted)
        return subject, relation, object_

    def separator(self, header: str) -> str | None:
        """The separator with which a header line has all three, or None."""
        for separator in SEPARATORS:
            if self.find(next(csv.reader([header], delimiter=separator), [])):
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
            raise InputError(
                f"{source}:1: the header {', '.join(header)} lacks {columns.subject}, "
                f"{columns.relation} or {columns.object}; name the columns with "
                "--subject, --relation and --object"
            )
        names = ((place, name.strip()) for place, name in enumerate(header) if place not in main)
        return cls(main, tuple((place, name) for place, name in names if name), len(header))

    def fact(self, cells: Sequence[Any]) -> Fact | Bad:
        """The fact of one row; an empty cell is no qualifier, a list is several."""
        texts = [_texts(cell) for cell in cells]
        written = "\t".join("|".join(text) for text in texts)
        if len(cells) != self.width:
            return Bad(f"{len(cells)} cells, but the header has {self.width}", written)
        main = [texts[place] for place in self.main]
        if any(len(text) != 1 for text in main):
            return Bad("subject, relation and object need one value each", written)
        qualifiers: list[Qualifier] = [
            (name, text) for place, name in self.attributes for text in texts[place]
        ]
        return Fact(main[0][0], main[1][0], main[2][0], tuple(qualifiers))


def read(source: Source, columns: Columns | None = None) -> Lines:
    """One fact a row below the header."""
    columns = columns or Columns()
    if source.head.startswith(PARQUET_MAGIC):
        return _read_parquet(source, columns)
    return _read_text(source, columns)


def _read_text(source: Source, columns: Columns) -> Lines:
    first = source.head_lines()[:1]
    separator = columns.separator(first[0]) if first else None
    numbered = _Lines(source.lines())
    rows = csv.reader(numbered, delimiter=separator or ",", strict=True)
    layout = None
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            yield numbered.number, Bad(f"{error}; close the quotes", numbered.text)
            continue
        if cells is None:
            return
        if layout is None:
            layout = Layout.of(cells, columns, source.name)
        else:
            yield numbered.number, layout.fact(cells)


class _Lines:
    """Lines for the csv module, which remembers where it is."""

    def __init__(self, lines: Iterator[tuple[int, str]]) -> None:
        self._lines, self.number, self.text = lines, 0, ""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self.number, self.text = next(self._lines)
        return self.text


def _read_parquet(source: Source, columns: Columns) -> Lines:
    try:
        file = parquet.ParquetFile(io.BytesIO(source.everything()))
        layout = Layout.of(file.schema_arrow.names, columns, source.name)
        row = 0
        for batch in file.iter_batches():
            cells = [column.to_pylist() for column in batch.columns]
            for values in zip(*cells, strict=True):
                row += 1
                yield row, layout.fact(values)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{source.name}: damaged Parquet ({error}); get the file again") from error


def _texts(cell: Any) -> list[str]:
    """A cell's values as texts."""
    values = cell if isinstance(cell, list) else [cell]
    texts = (str(value).strip() for value in values if value is not None)
    return [text for text in texts if text]

"""Tables with a header (CSV, TSV, Parquet): subject, relation, object, a column an attribute."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from nqe.errors import InputError
from nqe.graph.fact import Fact
from nqe.readers import cells
from nqe.readers.bad_lines import Bad, Lines
from nqe.readers.source import Source

# The byte after the letters is one that no text has, so that an id may begin with them.
PARQUET_MAGIC = re.compile(rb"PAR1[\x00-\x1f]")

Pairs = list[tuple[str, Any]]

DEFAULT_NAMES = ("subject", "relation", "object")
OTHER_NAMES = (
    ("subject", "predicate", "object"),
    ("head", "relation", "tail"),
    ("source", "relation", "target"),
    (":START_ID", ":TYPE", ":END_ID"),
)


@dataclass(frozen=True)
class Columns:
    """What the columns of the main triple are called; every other column is an attribute."""

    subject: str = "subject"
    relation: str = "relation"
    object: str = "object"

    def find(self, header: Sequence[str]) -> tuple[int, int, int] | None:
        """Where the three stand, if need be in another case; None when one is missing.

        Where no names are given, those that other tools use will do as well.
        """
        given = (self.subject, self.relation, self.object)
        ways = (given, *OTHER_NAMES) if given == DEFAULT_NAMES else (given,)
        return next(filter(None, (_places(header, way) for way in ways)), None)

    def separator(self, header: str) -> str | None:
        """The separator with which a header line has all three, or None."""
        for separator in cells.NAMES:
            names = cells.split(header, separator)
            if not isinstance(names, Bad) and self.find(names):
                return separator
        return None


def _places(header: Sequence[str], wanted: Sequence[str]) -> tuple[int, int, int] | None:
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

    def split(self, row: Sequence[str]) -> tuple[list[str], Pairs]:
        """The main triple of a row of texts, and its cells that are not empty."""
        pairs = [(name, row[place]) for place, name in self.attributes if row[place]]
        return [row[place] for place in self.main], pairs


def _fact(main: Sequence[Any], pairs: Pairs) -> Fact | str:
    """The fact of a row, or what is wrong with it."""
    try:
        texts = [_texts(cell) for cell in main]
        qualifiers = tuple((name, text) for name, cell in pairs for text in _texts(cell))
    except ValueError as error:
        return str(error)
    if any(len(one) != 1 for one in texts):
        return "subject, relation and object need one value each; fill them or drop the row"
    return Fact(texts[0][0], texts[1][0], texts[2][0], qualifiers)


def read(source: Source, columns: Columns | None = None) -> Lines:
    """One fact a row below the header."""
    columns = columns or Columns()
    if PARQUET_MAGIC.match(source.head):
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
        elif len(row) != layout.width:
            what = f"{len(row)} cells, but the header has {layout.width}; add or drop some"
            yield number, Bad(what, line)
        else:
            fact = _fact(*layout.split(row))
            yield number, Bad(fact, line) if isinstance(fact, str) else fact


def _read_parquet(source: Source, columns: Columns) -> Lines:
    """One fact a row; its number stands for the line's."""
    try:
        with parquet.ParquetFile(source.seekable()) as file:
            layout = Layout.of(file.schema_arrow.names, columns, source.name)
            batches = (_parquet_rows(batch, layout) for batch in file.iter_batches())
            for number, row in enumerate(chain.from_iterable(batches), start=1):
                fact = _fact(*row)
                yield number, Bad(fact, str(row)) if isinstance(fact, str) else fact
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{source.name}: damaged Parquet ({error}); get the file again") from error


def _parquet_rows(batch: Any, layout: Layout) -> Iterator[tuple[tuple[Any, ...], Pairs]]:
    """The rows of a batch; such tables are wide and mostly empty, so only filled cells are seen."""
    pairs: list[Pairs] = [[] for _ in range(batch.num_rows)]
    for place, name in layout.attributes:
        column = batch.column(place)
        filled = column.is_valid().to_numpy(zero_copy_only=False).nonzero()[0].tolist()
        for row, cell in zip(filled, column.drop_null().to_pylist(), strict=True):
            pairs[row].append((name, cell))
    main = zip(*(batch.column(place).to_pylist() for place in layout.main), strict=True)
    return zip(main, pairs, strict=True)


def _texts(cell: Any) -> list[str]:
    """A cell's values as texts; a list is several, nothing or an empty text is none."""
    values = cell if isinstance(cell, list) else [cell]
    if any(isinstance(value, dict | list | bytes) for value in values):
        raise ValueError(f"a cell holds {cell!r:.60}; give texts, numbers or lists of them")
    texts = (str(value).strip() for value in values if not _is_nothing(value))
    return [text for text in texts if text]


def _is_nothing(value: Any) -> bool:
    # Some tools write "not a number" where a cell is empty.
    return value is None or (isinstance(value, float) and math.isnan(value))

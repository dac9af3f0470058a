"""Reads the rows of a SELECT as a table whose cells have types."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from nqe.errors import InputError
from nqe.graph.vocabulary import Description
from nqe.readers.columns import Columns, find_column
from nqe.readers.layout import Layout
from nqe.readers.rdf_names import UNKNOWN_VALUE, find_local_name, read_iri, read_typed
from nqe.readers.records import BadLine, DescribedId, Record, Records, Skipped
from nqe.readers.source import Source

UNKNOWN_ROW = "rows with an unknown value"
UNKNOWN_QUALIFIER = "qualifiers with an unknown value"
NESTED = "rows about facts"
_LITERALS = ("literal", "typed-literal")

Term = Mapping[str, Any]
Row = Mapping[str, Term]


def read(source: Source, header: Sequence[str], columns: Columns) -> Records:
    """The records of each row, then the last parts of IRIs as aliases, as RDF has them."""
    if not source.head:
        return
    rows = _Rows(header, find_layout(source.name, header, columns), columns)
    for number, line in source.byte_lines():
        yield from ((number, record) for record in rows.read(line))
    yield from ((0, described) for described in rows.describe())


def find_layout(name: str, header: Sequence[str], columns: Columns) -> Layout:
    """What the columns of a result mean; what is missing is an InputError."""
    return Layout.of(header, replace(columns, names=tuple(header)), name)


@dataclass
class _Rows:
    """Makes records of rows."""

    header: Sequence[str]
    layout: Layout
    columns: Columns
    _iris: dict[str, None] = field(default_factory=dict)
    _labelled: set[str] = field(default_factory=set)

    def read(self, line: bytes) -> list[Record]:
        """The records of a row, or what is wrong with it."""
        row: Row = json.loads(line)
        try:
            records = list(self._read_row(row))
        except InputError as error:
            return [BadLine(str(error), line.decode("utf-8"))]
        self._labelled.update(
            one.id for one in records if isinstance(one, DescribedId) and one.description.label
        )
        return records

    def describe(self) -> Iterator[DescribedId]:
        """The last part of each IRI that has no label."""
        for name in self._iris:
            local = find_local_name(name)
            if local and name not in self._labelled:
                yield DescribedId(name, Description(aliases=(local,)))

    def _read_row(self, row: Row) -> Iterator[Record]:
        filled = self._list_filled(row)
        if any(term["type"] == "triple" for term in filled.values()):
            yield Skipped(NESTED)
            return
        unknown = {place for place, term in filled.items() if _is_unknown(term)}
        if unknown & self._main_places:
            yield Skipped(UNKNOWN_ROW)
            return
        yield from [Skipped(UNKNOWN_QUALIFIER)] * len(unknown)
        cells = {at: self._read_cell(at, term) for at, term in filled.items() if at not in unknown}
        yield from self.layout.list_records(cells)

    def _list_filled(self, row: Row) -> dict[int, Term]:
        """The terms of the columns that mean something."""
        missing = self.columns.missing
        terms = ((place, row.get(self.header[place])) for place in self.layout.places)
        return {at: term for at, term in terms if term and str(term["value"]) not in missing}

    def _read_cell(self, place: int, term: Term) -> str:
        """The id of a term, or its text if that is what the column holds."""
        value, kind = str(term["value"]), term["type"]
        if kind in _LITERALS:
            if place in self._text_places:
                return value
            return read_typed(value, str(term.get("datatype", "")), _find_language(term))
        if kind == "bnode":
            return value
        name = read_iri(value)
        self._iris[name] = None
        return name

    @cached_property
    def _main_places(self) -> set[int]:
        main = self.layout.main
        places = (
            {self.layout.subject} if main is None else {main.subject, main.relation, main.object}
        )
        return {place for place in places if isinstance(place, int)}

    @cached_property
    def _text_places(self) -> set[int | str | None]:
        """Columns whose literals are texts as they are: relations, labels, and chosen types."""
        described = self.layout.described
        places: set[int | str | None] = set()
        for one in described:
            places |= {one.label, one.description, one.aliases}
        places |= {find_column(self.header, name) for name, _ in self.columns.literals}
        return places | (set() if self.layout.main is None else {self.layout.main.relation})


def _is_unknown(term: Term) -> bool:
    """Whether a term stands for an unknown value in Wikidata."""
    return term["type"] == "uri" and UNKNOWN_VALUE in str(term["value"])


def _find_language(term: Term) -> str | None:
    language, direction = term.get("xml:lang"), term.get("its:dir")
    return f"{language}--{direction}" if language and direction else language

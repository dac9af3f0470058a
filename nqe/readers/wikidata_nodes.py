"""Wikidata's RDF model: statement nodes with values, qualifiers and ranks; nodes of full values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from nqe.errors import InputError
from nqe.graph.fact import Fact
from nqe.readers import rdf_names as names
from nqe.readers.rdf_terms import RdfTerms, Triple, find_iri, find_lexical, is_blank
from nqe.readers.records import BadLine, Record, Records, Skipped
from nqe.readers.typed_values import read_value, read_wikidata_time

DEPRECATED = "statements of deprecated rank"
WITHOUT_VALUE = "statements without a value"
UNKNOWN = "statements with an unknown value"
UNKNOWN_QUALIFIER = "qualifiers with an unknown value"
BOOKKEEPING = "triples about Wikidata's pages, references and schema"

_IGNORED_SUBJECTS = (names.REFERENCE, names.VALUE, names.PAGES)
_IGNORED_OBJECTS = (names.WIKIBASE, f"{names.WIKIDATA}prop/novalue/")
_VALUE_PARTS = frozenset(
    f"{names.WIKIBASE}{part}"
    for part in ("timeValue", "timePrecision", "quantityAmount", "quantityUnit")
)
_TIME = re.compile(r"(-?)([0-9]+)(-[0-9]{2}-[0-9]{2}T[0-9:]+Z)")
_MOST_PRECISE = 11
_NO_UNIT = "Q199"


@dataclass(frozen=True, slots=True)
class _Value:
    """A value: its key or id, and how it is written if it is a literal."""

    key: str
    lexical: str | None
    is_unknown: bool
    """Whether it is a blank node, or an IRI in place of one, which stands for any value."""


@dataclass(slots=True)
class _Statement:
    """What was read about a statement node so far."""

    number: int
    subject: str | None = None
    relation: str | None = None
    values: dict[str, list[_Value]] = field(default_factory=dict)
    """The main values by relation; there is one, of the statement's own."""
    qualifiers: dict[tuple[str, _Value], None] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    """The nodes of the full values of its main value and qualifiers."""
    deprecated: bool = False

    @property
    def value(self) -> _Value | None:
        """The main value, if there is one."""
        return next(iter(self.values.get(self.relation or "", ())), None)

    @property
    def triple(self) -> Triple | None:
        """The triple that it states; None if it states none."""
        if self.deprecated or self.subject is None or self.relation is None or not self.value:
            return None
        return self.subject, self.relation, self.value.key


class StatementNodes:
    """Collects the statements of a file that is written in Wikidata's model."""

    def __init__(self) -> None:
        self._nodes: dict[str, _Statement] = {}
        self._full_values: dict[str, dict[str, str]] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._nodes

    def take(
        self, number: int, node: Any, predicate: str, object_: Any, terms: RdfTerms
    ) -> Record | bool:
        """Whether a triple belongs to the model; what is left out of it is a record."""
        subject = terms.read(node)
        if predicate.startswith(names.TO_STATEMENT):
            return self._take_property(number, subject, predicate, object_, terms)
        if predicate.startswith(names.WIKIBASE):
            if predicate == names.RANK:
                self._find(subject, number).deprecated = find_iri(object_) == names.DEPRECATED
                return True
            if predicate not in _VALUE_PARTS:
                return Skipped(BOOKKEEPING)
            part = predicate.removeprefix(names.WIKIBASE)
            written = find_lexical(object_) or terms.read(object_)
            self._full_values.setdefault(subject, {})[part] = written
            return True
        is_type = predicate == names.TYPE and find_iri(object_).startswith(_IGNORED_OBJECTS)
        is_ignored = is_type or find_iri(node).startswith(_IGNORED_SUBJECTS)
        return Skipped(BOOKKEEPING) if is_ignored else False

    def list_triples(self) -> set[Triple]:
        """The triples that the statements state, as a direct claim of Wikidata states them."""
        return {triple for node in self._nodes.values() if (triple := node.triple)}

    def finish(self, terms: RdfTerms) -> Records:
        """The facts of all statements."""
        for node in self._nodes.values():
            for record in self._write(node, terms):
                yield node.number, record

    def _take_property(
        self, number: int, subject: str, predicate: str, object_: Any, terms: RdfTerms
    ) -> Record | bool:
        kind, _, name = predicate.removeprefix(names.TO_STATEMENT).rpartition("/")
        match kind:
            case "":
                node = self._find(terms.read(object_), number)
                node.subject, node.relation = subject, terms.read_iri(predicate)
            case "statement":
                values = self._find(subject, number).values
                relation = terms.read_iri(names.TO_STATEMENT + name)
                values.setdefault(relation, []).append(_read_value(object_, terms))
            case "qualifier":
                pair = terms.read_iri(names.TO_STATEMENT + name), _read_value(object_, terms)
                self._find(subject, number).qualifiers[pair] = None
            case "statement/value" | "qualifier/value":
                self._find(subject, number).links.append(terms.read(object_))
            case "direct":
                return Skipped(UNKNOWN) if _read_value(object_, terms).is_unknown else False
            case _:
                return Skipped(BOOKKEEPING)
        return True

    def _find(self, key: str, number: int) -> _Statement:
        node = self._nodes.get(key)
        if node is None:
            self._nodes[key] = node = _Statement(number)
        return node

    def _write(self, node: _Statement, terms: RdfTerms) -> Iterator[Record]:
        """The fact of a statement, and what is left out of it."""
        triple, value = node.triple, node.value
        if node.deprecated or triple is None or value is None:
            yield Skipped(DEPRECATED if node.deprecated else WITHOUT_VALUE)
            return
        if value.is_unknown:
            yield Skipped(UNKNOWN)
            return
        known = [(name, one) for name, one in node.qualifiers if not one.is_unknown]
        yield from [Skipped(UNKNOWN_QUALIFIER)] * (len(node.qualifiers) - len(known))
        try:
            pairs = tuple((name, self._name(one, node, terms)) for name, one in known)
            yield Fact(terms.name(triple[0]), triple[1], self._name(value, node, terms), pairs)
        except InputError as error:
            yield BadLine(str(error), " ".join(triple))

    def _name(self, value: _Value, node: _Statement, terms: RdfTerms) -> str:
        """The id of a value, with the precision or unit that its full value gives."""
        for link in node.links:
            full = self._full_values.get(link, {})
            if value.lexical is not None and value.lexical == full.get("timeValue"):
                return _read_time(value, full)
            if value.lexical is not None and value.lexical == full.get("quantityAmount"):
                unit = full.get("quantityUnit", _NO_UNIT)
                return read_value(value.lexical, "number", unit=None if unit == _NO_UNIT else unit)
        return terms.name(value.key)


def _read_value(term: Any, terms: RdfTerms) -> _Value:
    key = terms.read(term)
    is_unknown = is_blank(key) or names.UNKNOWN_VALUE in find_iri(term)
    return _Value(key, find_lexical(term), is_unknown)


def _read_time(value: _Value, full: dict[str, str]) -> str:
    """The id of a time with its precision.

    RDF counts years as ISO 8601 does (0 is 1 BCE); its days are those of the Gregorian calendar.
    """
    found = _TIME.fullmatch(value.lexical or "")
    precision = full.get("timePrecision", "")
    if found is None or not precision.isdecimal() or int(precision) > _MOST_PRECISE:
        return value.key
    year = int(found[1] + found[2])
    written = f"+{year:04}" if year > 0 else f"-{1 - year:04}"
    return read_wikidata_time(f"{written}{found[3]}", int(precision))

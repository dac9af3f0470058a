"""The shape of Wikidata's JSON: what is read of an entity, its statements and their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta, Raw, Struct, defstruct, field
from msgspec.json import Decoder

Nothing = Annotated[list[Any], Meta(max_length=0)]
"""How PHP, in which Wikidata is written, gives an object without keys: as an empty array."""
_NO_TERMS = Raw(b"{}")


class DataValue(Struct, frozen=True, gc=False):
    """A value and the name of its type; it is decoded only if it is needed."""

    type: str
    value: Raw


class Snak(Struct, frozen=True, gc=False):
    """A property with a value, an unknown value (`somevalue`) or none (`novalue`)."""

    snaktype: str
    property: str
    datavalue: DataValue | None = None
    datatype: str | None = None


class Statement(Struct, frozen=True, gc=False):
    """A main snak with its qualifiers, by property."""

    mainsnak: Snak
    rank: str = "normal"
    qualifiers: dict[str, list[Snak]] | Nothing = {}


Claims = dict[str, list[Statement]] | Nothing


class Entity(Struct, frozen=True, gc=False):
    """An item, property, lexeme or file; or a redirect from one entity to another."""

    id: str | None = None
    type: str | None = None
    labels: Raw = _NO_TERMS
    descriptions: Raw = _NO_TERMS
    aliases: Raw = _NO_TERMS
    lemmas: Raw = _NO_TERMS
    """What lexemes have in place of labels."""
    claims: Claims = {}
    statements: Claims = {}
    """What the descriptions of files have in place of claims."""
    redirect: str | None = None

    def list_statements(self) -> list[tuple[str, list[Statement]]]:
        """Its statements by property."""
        claims = self.claims or self.statements
        return list(claims.items()) if isinstance(claims, dict) else []


class Line(Entity, frozen=True, gc=False):
    """A line of a dump; also an answer of Wikidata's interface, which has several entities."""

    entities: dict[str, Entity] | Nothing | None = None


class Term(Struct, frozen=True, gc=False):
    """A label, description or alias; its language is known from its place."""

    value: str


class EntityId(Struct, frozen=True, gc=False):
    """The value of a snak that names an entity; older dumps have no `id`."""

    id: str | None = None
    kind: str | None = field(name="entity-type", default=None)
    number: int | None = field(name="numeric-id", default=None)


class Time(Struct, frozen=True, gc=False):
    """A date with its precision, and the IRI of the calendar that it is written in."""

    time: str
    precision: int
    calendarmodel: str = ""


class Quantity(Struct, frozen=True, gc=False):
    """A number and the IRI of its unit, or `1`."""

    amount: str
    unit: str = "1"


class Coordinate(Struct, frozen=True, gc=False):
    """A place on a globe."""

    latitude: float
    longitude: float
    globe: str | None = None


class MonolingualText(Struct, frozen=True, gc=False):
    """A text in a language."""

    text: str
    language: str


_LINE = Decoder(Line)
_LINES = Decoder(list[Line])


def decode_line(line: bytes) -> list[Entity]:
    """The entities in a line of a dump: nearly always one; none if it only opens an array.

    Array brackets and commas around entities may stand on their lines or on lines of their own.
    """
    text = line.strip(b" \t\r,")
    if text[:1] == b"[" or text[-1:] == b"]":
        inside = text.removeprefix(b"[").removesuffix(b"]").strip(b" \t\r,")
        lines = _LINES.decode(b"[%b]" % inside)
    else:
        lines = [_LINE.decode(text)]
    return [entity for one in lines for entity in _list_entities(one)]


def _list_entities(line: Line) -> list[Entity]:
    if line.entities is None:
        return [line]
    return list(line.entities.values()) if isinstance(line.entities, dict) else []


class TermDecoder:
    """Reads the terms of a few languages, and skips those of the hundreds of others."""

    def __init__(self, languages: Sequence[str], form: Any) -> None:
        self._places = [f"place_{place}" for place in range(len(languages))]
        fields = [(place, form | None, None) for place in self._places]
        names = dict(zip(self._places, languages, strict=True))
        struct = defstruct("Terms", fields, rename=names, frozen=True)
        self._decoder: Decoder[Any] = Decoder(struct | Nothing)

    def decode(self, terms: Raw) -> list[Any]:
        """What each language has, in the order of the languages; None where it has nothing."""
        found = self._decoder.decode(terms)
        return [getattr(found, place, None) for place in self._places]


def decode_first_term(terms: Raw) -> Term | None:
    """The first term, whatever its language."""
    found = _ANY_TERMS.decode(terms)
    return next(iter(found.values()), None) if isinstance(found, dict) else None


_ANY_TERMS: Decoder[dict[str, Term] | list[Any]] = Decoder(dict[str, Term] | Nothing)

"""The values of Wikidata's snaks as ids: of entities, and of times, numbers and texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from msgspec import Raw
from msgspec.json import Decoder

from nqe.errors import InputError
from nqe.readers.typed_values import read_value, read_wikidata_time
from nqe.readers.wikidata_json import Coordinate, EntityId, MonolingualText, Quantity, Time

_ENTITY, _TEXT, _LABELLED = Decoder(EntityId), Decoder(str), Decoder(MonolingualText)
_TIME, _QUANTITY, _COORDINATE = Decoder(Time), Decoder(Quantity), Decoder(Coordinate)
# The letters of ids in dumps that give only the number.
_LETTERS = {"item": "Q", "property": "P", "lexeme": "L"}
_NO_UNIT = "1"
_EARTH = "Q2"
# Times that follow each other are often the same.
_REMEMBERED = 1 << 16


def _read_entity(value: Raw) -> str:
    entity = _ENTITY.decode(value)
    if entity.id:
        return entity.id
    if entity.kind not in _LETTERS or (entity.number or 0) < 1:
        raise InputError("a value names no entity")
    return f"{_LETTERS[entity.kind]}{entity.number}"


def _read_text(value: Raw) -> str:
    return read_value(_TEXT.decode(value))


def _read_labelled_text(value: Raw) -> str:
    text = _LABELLED.decode(value)
    return read_value(text.text, language=text.language)


def _read_time(value: Raw) -> str:
    time = _TIME.decode(value)
    return _find_time(time.time, time.precision, time.calendarmodel)


@lru_cache(_REMEMBERED)
def _find_time(time: str, precision: int, calendar: str) -> str:
    return read_wikidata_time(time, precision, calendar)


def _read_quantity(value: Raw) -> str:
    quantity = _QUANTITY.decode(value)
    unit = None if quantity.unit == _NO_UNIT else _shorten(quantity.unit)
    return read_value(quantity.amount, "number", unit=unit)


def _read_coordinate(value: Raw) -> str:
    """A point as Wikidata's RDF has it: longitude first, and before it the globe if not Earth."""
    place = _COORDINATE.decode(value)
    globe = place.globe or _EARTH
    before = "" if _shorten(globe) == _EARTH else f"<{globe}> "
    return read_value(f"{before}Point({place.longitude:.15g} {place.latitude:.15g})")


def _shorten(iri: str) -> str:
    """The id at the end of an entity's IRI."""
    return iri.rpartition("/")[2]


READERS: dict[str, Callable[[Raw], str]] = {
    "wikibase-entityid": _read_entity,
    "string": _read_text,
    "monolingualtext": _read_labelled_text,
    "time": _read_time,
    "quantity": _read_quantity,
    "globecoordinate": _read_coordinate,
}
"""How to make an id of a value, by the type of the value.

A value that has not the form of its type is an InputError or msgspec's error.
"""

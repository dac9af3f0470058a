"""Typed values of sources, as the ids of literals: XSD and RDF types, Wikidata's times, cells.

Readers put these ids into facts like any others; the collector then treats literals as the
import's `--literals` says (`literal_policy`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Real
from typing import Any

from nqe.errors import InputError, choose
from nqe.graph.calendar_days import convert_julian, count_month_days
from nqe.graph.literals import KINDS, Literal, Text, to_id
from nqe.graph.number_values import make_number, parse_number
from nqe.graph.time_values import Time, parse_time, parse_xsd_time

XSD = "http://www.w3.org/2001/XMLSchema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

_TIMES = ("date", "dateTime", "dateTimeStamp", "gYear", "gYearMonth")
_NUMBERS = (
    *("integer", "decimal", "double", "float", "long", "int", "short", "byte"),
    *("nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger"),
    *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
)
_BOOLEANS = {"1": "true", "0": "false"}

_WIKIDATA_TIME = re.compile(r"([+-])([0-9]{1,16})-([0-9]{2})-([0-9]{2})T00:00:00Z")
_YEAR, _MONTH, _DAY = 9, 10, 11
"""Wikidata's numbers for precisions; 8 is a decade, 7 a century, and so on to 0."""
_JULIAN = "Q1985786"


def read_value(
    lexical: str, type: str = "text", *, unit: str | None = None, language: str | None = None
) -> str:
    """The id of the literal that a text of a type stands for.

    The type is `time`, `number` or `text`, or the IRI of a datatype; that of an unknown datatype
    is a text. A text that does not fit its type is an InputError. `unit` is for numbers, and
    `language` for texts.
    """
    written = lexical.strip() if type in _PARSERS else lexical
    parse = _PARSERS.get(type, Text)
    if parse is parse_number:
        return to_id(parse_number(written, unit))
    if parse is Text:
        return to_id(Text(written, language.lower() if language else None))
    return to_id(parse(written))


@dataclass(frozen=True)
class LiteralType:
    """The type that all values of a column have."""

    kind: str
    """time, number or text"""
    unit: str | None = None
    """The unit of numbers that are written without one."""
    language: str | None = None
    """The language of texts, such as en."""

    def __post_init__(self) -> None:
        choose(dict.fromkeys(KINDS), self.kind, "kind of values")
        for name, kind in (("unit", "number"), ("language", "text")):
            if getattr(self, name) is not None and self.kind != kind:
                raise InputError(f"a {self.kind} has no {name}; leave it out, or name a {kind}")
        if self.language is not None:
            Text("", self.language.lower())  # refuses what is no language

    def read(self, text: str) -> str:
        """The id of the literal that a text stands for."""
        return read_value(text, self.kind, unit=self.unit, language=self.language)


def read_cell(value: Any) -> str:
    """The id of a value that has a Python type: numbers and dates are literals, texts are not."""
    match value:
        case bool():
            return to_id(Text(str(value).lower()))
        case int():
            return to_id(make_number(Decimal(value)))
        case Real() | Decimal():  # also the numbers of numpy
            return to_id(parse_number(str(value)))
        case datetime():
            moment = value.astimezone(UTC) if value.tzinfo else value
            return to_id(parse_time(moment.replace(tzinfo=None).isoformat()))
        case date():
            return to_id(parse_time(value.isoformat()))
        case _:
            return str(value).strip()


def read_wikidata_time(time: str, precision: int, calendar: str = "") -> str:
    """The id of a Wikidata time such as +1903-06-01T00:00:00Z with its precision (9: year).

    Years are as people count them: -0044 is 44 BCE. A day of the Julian calendar is converted. A
    century or millennium is that of its last year: 1800 is in the 18th century.
    """
    found = _WIKIDATA_TIME.fullmatch(time)
    if found is None or not 0 <= precision <= _DAY:
        raise InputError(f"'{time:.60}' with precision {precision} is no time of Wikidata")
    year, month, day = (int(part) for part in found.groups()[1:])
    if not year:
        raise InputError(f"'{time:.60}' is in the year 0, which Wikidata's calendar has not")
    bce = found[1] == "-"
    if precision < _YEAR:
        return to_id(_make_span(year, bce, _YEAR - precision))
    if precision == _YEAR or not month:
        return to_id(Time(year, bce=bce))
    if precision == _MONTH or not day:
        return to_id(Time(year, month, bce=bce))
    if not calendar.endswith(_JULIAN):
        return to_id(Time(year, month, day, bce=bce))
    return to_id(_make_julian_day(1 - year if bce else year, month, day, time))


def _make_span(year: int, bce: bool, unknown_digits: int) -> Time:
    """A decade or longer span; centuries and millennia end with a year such as 1800."""
    first = year - 1 if unknown_digits in (2, 3) else year
    return Time(max(first, 1), bce=bce).widen(unknown_digits)


def _make_julian_day(year: int, month: int, day: int, written: str) -> Time:
    if not 1 <= month <= 12 or not 1 <= day <= count_month_days(year, month, julian=True):
        raise InputError(f"'{written:.60}' is no day of the Julian calendar")
    return Time.of(*convert_julian(year, month, day))


def _parse_boolean(lexical: str) -> Text:
    return Text(_BOOLEANS.get(lexical, lexical))


_PARSERS: dict[str, Callable[[str], Literal]] = {
    "time": parse_time,
    "number": parse_number,
    **{XSD + name: parse_xsd_time for name in _TIMES},
    **{XSD + name: parse_number for name in _NUMBERS},
    XSD + "boolean": _parse_boolean,
}
"""How to read each type; every other one is a text as it is."""

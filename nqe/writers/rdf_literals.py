"""Literals as RDF writes them: with a type of XSD where there is one."""

from __future__ import annotations

import re

from nqe.graph.literals import Literal, Text, parse_id
from nqe.graph.number_values import Number, write_decimal
from nqe.graph.time_values import Time
from nqe.readers.rdf_names import OWN_NUMBER, OWN_TIME
from nqe.readers.typed_values import XSD

# The languages that RDF allows, with the direction of the text if any.
_LANGUAGE = re.compile(r"[a-z]{2,8}(-[a-z0-9]{1,8})*(--(ltr|rtl))?")
_ESCAPES = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
_ESCAPED = re.compile(r'[\x00-\x1f"\\\x7f-\x9f\u2028\u2029\ufeff]')


def write_literal(name: str) -> str | None:
    """The literal that an id stands for in N-Triples; None if RDF has no literal for it."""
    literal = parse_id(name)
    if literal is None:
        return None
    if isinstance(literal, Text) and literal.language:
        is_language = _LANGUAGE.fullmatch(literal.language)
        return f"{write_text(literal.text)}@{literal.language}" if is_language else None
    lexical, datatype = _find_type(literal)
    return write_text(lexical) + (f"^^<{datatype}>" if datatype else "")


def write_text(text: str) -> str:
    """A text in quotes, with everything escaped that may not stand there."""
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04X}"


def _find_type(literal: Literal) -> tuple[str, str | None]:
    """The lexical form of a literal and its datatype; None for a plain text."""
    match literal:
        case Text():
            return literal.text, None
        case Number(unit=None, until=None):
            written = write_decimal(literal.value)
            kind = "double" if "e" in written else "decimal" if "." in written else "integer"
            return written, XSD + kind
        case Time(unknown_digits=0):
            return _write_time(literal)
        case _:
            return literal.lexical, OWN_TIME if isinstance(literal, Time) else OWN_NUMBER


def _write_time(time: Time) -> tuple[str, str]:
    """A time with the datatype of its precision; years are those of ISO 8601, 0 is 1 BCE."""
    year = 1 - time.year if time.bce else time.year
    parts = (f"-{part:02}" for part in (time.month, time.day) if part is not None)
    date = f"{'-' if year < 0 else ''}{abs(year):04}" + "".join(parts)
    if time.clock:
        return f"{date}T{time.clock}Z", f"{XSD}dateTime"
    kind = "gYear" if time.month is None else "gYearMonth" if time.day is None else "date"
    return date, XSD + kind

"""Comparisons as SPARQL: what a value is, from where to where it goes, and what is before it.

SPARQL itself compares no times of different precision and knows no units, so a value is taken
apart: its kind (with the unit of a number) and, as numbers, its start and its end. A time is a
number of the digits YYYYMMDDhhmmss, so that 1955 goes from 19550000000000 to 19560000000000.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import assert_never

from nqe.graph.literals import Literal, Text
from nqe.graph.number_values import Number, write_decimal
from nqe.graph.time_values import Time
from nqe.readers.rdf_names import OWN_TIME
from nqe.readers.typed_values import XSD
from nqe.writers.rdf_literals import write_text

PREFIXES = {"xsd": XSD, "nqe": OWN_TIME.removesuffix("time")}
_TEXT = '"text"'
_LONGEST = 15
"""Numbers with more digits are written as doubles."""
_DIGITS = 10
"""The digits of a time after its year."""
_YEAR = 10**_DIGITS
_LOWEST, _HIGHEST = "0" * _DIGITS, "9" * _DIGITS
# What is computed of a value {v}, each from those before it. What is no literal has none of them.
_PARTS = {
    "type": "DATATYPE({v})",
    "kind": 'IF({type} IN (xsd:gYear, xsd:gYearMonth, xsd:date, xsd:dateTime, nqe:time), "time", '
    'IF(isNumeric({v}), "number ", '
    'IF({type} = nqe:number, CONCAT("number ", STRAFTER(STR({v}), " ")), "text")))',
    "year": 'REPLACE(STR({v}), "^([+-]?[0-9X]+).*$", "$1")',
    "first": 'xsd:integer(REPLACE({year}, "X", "0"))',
    "last": 'xsd:integer(REPLACE({year}, "X", "9"))',
    # The digits after the year; those of a part of a second follow a point.
    "rest": 'IF({type} = nqe:time, "", REPLACE(STR({v}), "^-?[0-9]+|[-T:Z]", ""))',
    # The years of our own type are counted before the common era, those of XSD are astronomical.
    "start": 'IF({kind} = "time", '
    f'IF(CONTAINS(STR({{v}}), "BCE"), 1 - {{last}}, {{first}}) * {_YEAR} + '
    f'xsd:decimal(IF(CONTAINS({{rest}}, "."), {{rest}}, '
    f'SUBSTR(CONCAT({{rest}}, "{_LOWEST}"), 1, {_DIGITS}))), '
    r'IF(isNumeric({v}), {v}, xsd:double(REPLACE(STR({v}), "(\\.\\.| ).*$", ""))))',
    "end": 'IF({kind} = "time", '
    f'IF(CONTAINS(STR({{v}}), "BCE"), 1 - {{first}}, {{last}}) * {_YEAR} + '
    f'IF(CONTAINS({{rest}}, "."), xsd:decimal(CONCAT({{rest}}, "{_HIGHEST}")), '
    f'xsd:decimal(SUBSTR(CONCAT({{rest}}, "{_HIGHEST}"), 1, {_DIGITS})) + 1), '
    r'IF(isNumeric({v}), {v}, xsd:double(REPLACE(STR({v}), "^.*\\.\\.| .*$", ""))))',
}


@dataclass(frozen=True)
class SparqlValue:
    """A value in SPARQL, and what it is compared by, each as a variable or a constant."""

    term: str
    kind: str
    start: str
    end: str
    is_constant: bool = False
    takes_unit: bool = False
    """Whether it is a number that has the unit of the other side, because none is written."""


def bind_value(variable: str, number: int) -> tuple[SparqlValue, list[str]]:
    """A value that a variable has, and the lines that take it apart."""
    parts = ("type", "kind", "year", "first", "last", "rest", "start", "end")
    names = {part: f"{variable}_{part}_{number}" for part in parts}
    lines = [
        f"BIND({expression.format(v=variable, **names)} AS {names[part]})"
        for part, expression in _PARTS.items()
    ]
    return SparqlValue(variable, names["kind"], names["start"], names["end"]), lines


def write_literal_value(literal: Literal, term: str) -> SparqlValue:
    """A literal that stands in the query."""
    match literal:
        case Time():
            start, end = map(str, _encode_time(literal))
            return SparqlValue(term, '"time"', start, end, is_constant=True)
        case Number(value=value, unit=unit, until=until):
            bounds = (_write_number(value), _write_number(value if until is None else until))
            kind = write_text(f"number {unit or ''}")
            return SparqlValue(term, kind, *bounds, is_constant=True, takes_unit=not unit)
        case Text():
            return SparqlValue(term, _TEXT, "0", "0", is_constant=True)
        case _:
            assert_never(literal)


def write_comparison(operator: str, left: SparqlValue, right: SparqlValue) -> str:
    """An expression that is true if the comparison holds, and false or an error if not."""
    if operator == "!=":
        return f"!COALESCE({write_comparison('=', left, right)}, false)"
    is_same_kind = (
        f'STRSTARTS({left.kind}, "number")' if right.takes_unit else f"{left.kind} = {right.kind}"
    )
    by_bounds, by_text = (
        _compare_bounds(operator, left, right),
        _compare_texts(operator, left, right),
    )
    if right.kind == _TEXT:
        compared = by_text
    elif right.is_constant:
        compared = by_bounds
    else:
        compared = f"IF({left.kind} = {_TEXT}, {by_text}, {by_bounds})"
    # What is no literal has no kind, so that nothing but its identity counts.
    same = "" if operator != "=" or right.is_constant else f"{_is_same(left, right)} || "
    return f"({same}{is_same_kind} && {compared})"


def _compare_bounds(operator: str, left: SparqlValue, right: SparqlValue) -> str:
    """Whether a comparison of times or numbers holds; exactly one of <, = and > does."""
    less, more = _write_before(left, right), _write_before(right, left)
    match operator:
        case "<":
            return less
        case "<=":
            return f"!{more}"
        case ">":
            return more
        case ">=":
            return f"!{less}"
        case _:
            return f"!{less} && !{more}"


def _write_before(one: SparqlValue, other: SparqlValue) -> str:
    return f"({one.start} < {other.start} && {one.end} <= {other.start})"


def _compare_texts(operator: str, left: SparqlValue, right: SparqlValue) -> str:
    same = _is_same(left, right)
    ordered = f"STR({left.term}) {operator[0]} STR({right.term})"
    match operator:
        case "<" | ">":
            return ordered
        case "<=" | ">=":
            return f"({same} || {ordered})"
        case _:
            return same


def _is_same(left: SparqlValue, right: SparqlValue) -> str:
    return f"sameTerm({left.term}, {right.term})"


def _write_number(value: Decimal) -> str:
    """A number; large ones as a double, because engines limit the digits of integers."""
    return write_decimal(value) if abs(value.adjusted()) < _LONGEST else f"{value:e}"


def _encode_time(time: Time) -> tuple[Decimal, Decimal]:
    """Where a time starts and ends, as `_PARTS` reads it."""
    first, last = max(time.year, 1), time.year + 10**time.unknown_digits - 1
    years = (1 - last, 1 - first) if time.bce else (first, last)
    rest = "".join(f"{part:02}" for part in (time.month, time.day) if part is not None)
    rest += (time.clock or "").replace(":", "")
    start = years[0] * _YEAR + Decimal((rest + _LOWEST)[:_DIGITS] if "." not in rest else rest)
    if "." in rest:
        return start, years[1] * _YEAR + Decimal(rest + _HIGHEST)
    return start, years[1] * _YEAR + int((rest + _HIGHEST)[:_DIGITS]) + 1

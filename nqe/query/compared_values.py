"""What a comparison compares with: an entity, or the literals that a text can be read as."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from nqe.errors import InputError, NameLookupError, QueryError, WrongValue
from nqe.graph.literals import Literal, Text, is_literal_id, list_readings, parse_id, to_id
from nqe.graph.number_values import Number
from nqe.graph.vocabulary import Names
from nqe.query.limits import show_text, show_value

_SHOWN = 8
"""The most units that an error lists."""


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """The right side of a comparison, if it is no variable: an entity or literals."""

    entity: int | None = None
    """The number of an entity that is no literal, compared by identity."""
    literals: tuple[Literal, ...] = ()
    """At most one of each kind; a literal is compared with the one of its own kind.

    They need not be entities of the graph: `?y < 1950` is meant also where no fact has 1950.
    """


def read_value(text: str, operator: str, entities: Names) -> ComparedValue:
    """What a text means beside an operator of a comparison.

    `1999` is a time or a number, as the other side is. Names come first beside = and !=, and have
    no order, so beside the other operators only times, numbers and texts are read.
    """
    if is_literal_id(text):
        return ComparedValue(literals=(_parse(text),))
    readings = map(_parse, list_readings(text))
    written = tuple(
        _name_unit(one, text, entities) for one in readings if not isinstance(one, Text)
    )
    if operator in ("=", "!="):
        return _read_name(text, written, entities)
    return ComparedValue(literals=written or (_read_ordered(text, operator, entities),))


def write_value(value: ComparedValue, text: str, entities: Names) -> str:
    """The id that a text stands for; the text itself if it can be literals of two kinds."""
    if value.entity is not None:
        return entities.ids[value.entity]
    return to_id(value.literals[0]) if len(value.literals) == 1 else text


def _read_name(text: str, written: tuple[Literal, ...], entities: Names) -> ComparedValue:
    try:
        number = entities.resolve(text)
    except NameLookupError as error:
        if written:
            return ComparedValue(literals=written)
        raise QueryError(str(error)) from error
    literal = _find_literal(number, entities)
    if literal is None:
        return ComparedValue(number)
    return ComparedValue(literals=written or (literal,))


def _read_ordered(text: str, operator: str, entities: Names) -> Literal:
    """The literal that a text without the form of a time or number stands for."""
    found = None
    with suppress(NameLookupError):
        found = entities.resolve(text)
    literal = None if found is None else _find_literal(found, entities)
    if literal is not None:
        return literal
    if found is not None:
        raise WrongValue(
            f"{show_text(entities.name(found))} is no time, number or text, so {operator} has no "
            "meaning for it; use = or !=",
            text,
        )
    if not _has_texts(entities):
        raise WrongValue(
            f"{show_value(text)} is neither a time nor a number; write one such as 1999, "
            '2001-05-01 or "12.5 kg"',
            text,
        )
    return Text(text)


def _has_texts(entities: Names) -> bool:
    return entities.literals is not None and bool(len(entities.literals.find(Text.kind)))


def _find_literal(number: int, entities: Names) -> Literal | None:
    name = entities.ids[number]
    return _parse(name) if is_literal_id(name) else None


def _name_unit(literal: Literal, text: str, entities: Names) -> Literal:
    """A literal whose unit, if it has one, is that of the graph's numbers, not a label of it."""
    if not isinstance(literal, Number) or literal.unit is None:
        return literal
    unit = entities.units.get(literal.unit)
    if unit is None:
        units = ", ".join(map(show_text, list(entities.units)[:_SHOWN])) or "none"
        unknown = show_value(literal.unit)
        raise WrongValue(
            f"no number of the graph has the unit {unknown}; its units are {units}", text
        )
    return replace(literal, unit=unit)


def _parse(name: str) -> Literal:
    try:
        literal = parse_id(name)
    except InputError as error:
        raise QueryError(str(error)) from error
    assert literal is not None
    return literal

"""What comparisons mean: the order of entities and literals, for many pairs at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.literal_columns import LiteralColumns
from nqe.graph.literals import KINDS, Literal, Text, parse_id
from nqe.graph.number_values import Number
from nqe.graph.time_values import Time
from nqe.graph.vocabulary import Names
from nqe.query.compared_values import ComparedValue

Value = TypeVar("Value")
Bounds = tuple[Any, Any]
"""Where values begin and end: two arrays, or two numbers."""
_TIME, _NUMBER, _TEXT = (KINDS.index(one.kind) for one in (Time, Number, Text))


@dataclass(frozen=True, eq=False, slots=True)
class Order:
    """How each of many pairs is ordered: at most one of less, same and more."""

    less: Booleans
    same: Booleans
    more: Booleans
    has_order: Booleans
    """Whether both are literals that can be compared: of one kind, and numbers of one unit."""

    @classmethod
    def of(cls, same: Booleans) -> Order:
        """Pairs that have no order, of which some are the same."""
        return cls(np.zeros_like(same), same, np.zeros_like(same), np.zeros_like(same))

    def enter(self, places: Integers, left: Bounds, right: Bounds) -> None:
        """Set the order of some pairs by where they begin and end.

        One that lies within the other is the same at the coarser precision.
        """
        same = _is_within(left, right) | _is_within(right, left)
        same |= (left[0] == right[0]) & (left[1] == right[1])
        self.less[places] = ~same & (left[1] <= right[0])
        self.more[places] = ~same & (right[1] <= left[0])
        self.same[places], self.has_order[places] = same, True

    def fits(self, operator: str) -> Booleans:
        """Whether an operator holds between each pair."""
        return _OPERATORS[operator](self)


def _is_within(inner: Bounds, outer: Bounds) -> Booleans:
    fits: Booleans = (outer[0] <= inner[0]) & (inner[0] < outer[1]) & (inner[1] <= outer[1])
    return fits


_OPERATORS: dict[str, Callable[[Order], Booleans]] = {
    "=": lambda order: order.same,
    "!=": lambda order: ~order.same,
    "<": lambda order: order.less,
    "<=": lambda order: order.less | (order.same & order.has_order),
    ">": lambda order: order.more,
    ">=": lambda order: order.more | (order.same & order.has_order),
}


class LiteralOrder:
    """The order of the literals among some entities."""

    def __init__(self, entities: Names) -> None:
        self._ids, self._columns = entities.ids, entities.literals
        self._parsed: dict[int, Literal] = {}

    def compare(self, left: Integers, right: Integers) -> Order:
        """The order of pairs of entities."""
        order, columns = Order.of(left == right), self._columns
        if columns is None:
            return order
        kind = columns.kind[left]
        is_one_kind = kind == columns.kind[right]
        times = np.flatnonzero(is_one_kind & (kind == _TIME))
        if len(times):
            order.enter(times, _bounds(columns, left[times]), _bounds(columns, right[times]))
        numbers = np.flatnonzero(is_one_kind & (kind == _NUMBER))
        if len(numbers):
            self._enter_numbers(order, columns, numbers, left[numbers], right[numbers])
        texts = np.flatnonzero(is_one_kind & (kind == _TEXT))
        if len(texts):
            self._enter_texts(order, texts, left[texts], right[texts])
        return order

    def compare_with(self, left: Integers, value: ComparedValue) -> Order:
        """The order of entities and what a comparison compares them with."""
        entity = -1 if value.entity is None else value.entity
        order, columns = Order.of(left == entity), self._columns
        if columns is None:
            return order
        for literal in value.literals:
            places = np.flatnonzero(columns.kind[left] == KINDS.index(literal.kind))
            if not len(places):
                continue
            match literal:
                case Time():
                    order.enter(places, _bounds(columns, left[places]), literal.bounds)
                case Number():
                    self._enter_number(order, columns, places, left[places], literal)
                case Text():
                    self._enter_text(order, places, left[places], literal)
        return order

    # Numbers: the columns are rounded, so that what begins or ends together is compared in full

    def _enter_numbers(
        self,
        order: Order,
        columns: LiteralColumns,
        places: Integers,
        left: Integers,
        right: Integers,
    ) -> None:
        fits = self._list(left, _read_unit) == self._list(right, _read_unit)
        places, left, right = places[fits], left[fits], right[fits]
        ours, theirs = _bounds(columns, left), _bounds(columns, right)
        order.enter(places, ours, theirs)
        unclear = np.flatnonzero(_touches(ours, theirs) & (left != right))
        if len(unclear):
            exact = self._read_bounds(left[unclear]), self._read_bounds(right[unclear])
            order.enter(places[unclear], *exact)

    def _enter_number(
        self,
        order: Order,
        columns: LiteralColumns,
        places: Integers,
        left: Integers,
        number: Number,
    ) -> None:
        if number.unit is not None:
            fits = self._list(left, _read_unit) == number.unit
            places, left = places[fits], left[fits]
        ours = _bounds(columns, left)
        order.enter(places, ours, number.bounds)
        unclear = np.flatnonzero(_touches(ours, number.bounds))
        if len(unclear):
            order.enter(places[unclear], self._read_bounds(left[unclear]), number.sort_key)

    def _read_bounds(self, entities: Integers) -> Bounds:
        """Where numbers begin and end, in full."""
        low = self._list(entities, lambda one: one.sort_key[0])
        return low, self._list(entities, lambda one: one.sort_key[1])

    # Texts

    def _enter_texts(self, order: Order, places: Integers, left: Integers, right: Integers) -> None:
        ours, theirs = self._list(left, _read_text), self._list(right, _read_text)
        order.less[places], order.more[places] = ours < theirs, ours > theirs
        order.has_order[places] = True

    def _enter_text(self, order: Order, places: Integers, left: Integers, text: Text) -> None:
        texts = self._list(left, _read_text)
        order.less[places], order.more[places] = texts < text.text, texts > text.text
        order.same[places] = self._list(left, lambda one: one == text)
        order.has_order[places] = True

    def _list(self, entities: Integers, read: Callable[[Any], Value]) -> npt.NDArray[np.object_]:
        """Something about the literals that entities are; each entity is read once."""
        distinct, places = np.unique(entities, return_inverse=True)
        values = np.empty(len(distinct), dtype=object)
        values[:] = [read(self._parse(entity)) for entity in distinct.tolist()]
        return values[places]

    def _parse(self, entity: int) -> Literal:
        if entity not in self._parsed:
            literal = parse_id(self._ids[entity])
            assert literal is not None, "the columns say that it is a literal"
            self._parsed[entity] = literal
        return self._parsed[entity]


def _bounds(columns: LiteralColumns, entities: Integers) -> Bounds:
    return columns.value[entities], columns.until[entities]


def _touches(left: Bounds, right: Bounds) -> Booleans:
    """Whether pairs begin or end at the same number."""
    (low, high), (first, last) = left, right
    same: Booleans = (low == first) | (low == last) | (high == first) | (high == last)
    return same


def _read_unit(number: Number) -> str | None:
    return number.unit


def _read_text(text: Text) -> str:
    return text.text

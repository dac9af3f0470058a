"""The order of rows that a person asks for: by the columns that they name, up or down."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nqe.errors import NqeError
from nqe.graph.arrays import Integers
from nqe.graph.literals import KINDS, parse_id
from nqe.graph.vocabulary import Names
from nqe.query.join_plan import COUNT

_KEY = re.compile(r"\s*(?P<name>\?\w+|count)(\s+(?P<direction>asc|desc))?\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One column to sort by."""

    column: str
    """A variable with its `?`, or `count`."""
    descending: bool = False


def parse_order(text: str) -> tuple[OrderKey, ...]:
    """The columns of a text such as `?year desc, ?x` or `count desc`."""
    found = [_KEY.fullmatch(part) for part in text.split(",")]
    if None in found:
        raise NqeError(
            f"'{text:.100}' is no order; name columns as in '?year desc, ?x' or 'count desc'"
        )
    return tuple(
        OrderKey(one["name"], (one["direction"] or "").lower() == "desc")
        for one in found
        if one is not None
    )


def sort_rows(
    keys: Sequence[OrderKey],
    targets: Sequence[str],
    names: Sequence[Names],
    numbers: Sequence[Integers],
    counts: Integers | None = None,
) -> Integers:
    """The order of rows that are sorted by ids: by some columns, equal rows as they are.

    Literals stand before other entities, each kind by its values; those are sorted by their labels.
    """
    columns = [f"?{name}" for name in targets]
    sorting: list[Integers] = []
    for key in keys:
        if key.column in columns:
            place = columns.index(key.column)
            ranks = _rank(names[place], numbers[place])
        elif key.column.lower() == COUNT and counts is not None:
            ranks = counts
        else:
            known = ", ".join([*columns, *([COUNT] if counts is not None else [])])
            raise NqeError(f"the answers have no column {key.column} to sort by; name {known}")
        sorting.append(-ranks if key.descending else ranks)
    return np.lexsort(sorting[::-1])


def _rank(names: Names, column: Integers) -> Integers:
    """The place of each entity or relation in the order that people expect."""
    distinct, places = np.unique(column, return_inverse=True)
    keys = [_make_key(names, number) for number in distinct.tolist()]
    ranks = np.empty(len(keys), dtype=np.int64)
    ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    return ranks[places]


def _make_key(names: Names, number: int) -> tuple[Any, ...]:
    name = names.ids[number]
    literal = parse_id(name) if names.literals is not None else None
    if literal is not None:
        return KINDS.index(literal.kind), literal.sort_key, name
    label = names.name(number)
    return len(KINDS), label.casefold(), label, name

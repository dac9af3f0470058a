"""Cells of tables: the texts that numbers, dates, lists and nothing in a cell stand for."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from numbers import Number, Real
from typing import Any
from uuid import UUID

from nqe.errors import InputError

# Values that become texts, besides those in lists.
PLAIN_TYPES = (str, Number, date, time, timedelta, UUID)
# Above this, a floating-point number no longer tells one whole number from the next.
LARGEST_WHOLE = 2**53
# How pandas writes a whole number into text if a number is missing elsewhere in its column.
WHOLE_WITH_FRACTION = re.compile(r"-?[0-9]+\.0")


@dataclass(frozen=True)
class UnreadableCell:
    """A cell whose value Python has no type for: nanoseconds, the year 300,000, wrong UTF-8."""

    reason: str


def list_texts(cell: Any) -> list[str]:
    """The values of a cell as texts: several if it is a list, none if it is empty."""
    if type(cell) is str:  # nearly all of them
        return [text] if (text := cell.strip()) else []
    if isinstance(cell, UnreadableCell):
        raise InputError(f"a cell holds a {cell.reason}; store it as text")
    values = [one for one in (cell if isinstance(cell, list) else [cell]) if not _is_missing(one)]
    if not all(isinstance(value, PLAIN_TYPES) for value in values):
        raise InputError(f"a cell holds {cell!r:.60}; give texts, numbers or lists of them")
    texts = (_write(value).strip() for value in values)
    return [text for text in texts if text]


def find_whole_columns(rows: Sequence[Sequence[str]]) -> frozenset[int]:
    """The columns of rows of text in which every filled cell is a whole number with `.0`."""
    places = range(max(map(len, rows), default=0))
    filled = ([row[place] for row in rows if place < len(row) and row[place]] for place in places)
    return frozenset(
        place
        for place, cells in zip(places, filled, strict=True)
        if cells and all(map(WHOLE_WITH_FRACTION.fullmatch, cells))
    )


def drop_fraction(text: str) -> str:
    """A whole number without its `.0`; any other text as it is."""
    return text[:-2] if WHOLE_WITH_FRACTION.fullmatch(text) else text


def _write(value: Any) -> str:
    """A value as people write it: a whole number has no fraction.

    A column of integers in which some are missing holds floating-point numbers in pandas.
    """
    if isinstance(value, Real) and not isinstance(value, int):
        number = float(value)
        if number.is_integer() and abs(number) <= LARGEST_WHOLE:
            return str(int(number))
    return str(value)


def _is_missing(value: Any) -> bool:
    # Some tools write "not a number" into empty cells.
    return value is None or (isinstance(value, Real) and math.isnan(value))

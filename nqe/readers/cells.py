"""Cells of tables: the texts that numbers, dates, lists and nothing in a cell stand for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from numbers import Number, Real
from typing import Any
from uuid import UUID

from nqe.errors import InputError
from nqe.text_format import WHOLE_WITH_FRACTION, split_cells

# Values that become texts, besides those in lists.
PLAIN_TYPES = (str, Number, date, time, timedelta, UUID)
# Above this, a floating-point number no longer tells one whole number from the next.
LARGEST_WHOLE = 2**53


@dataclass(frozen=True)
class UnreadableCell:
    """A cell whose value Python has no type for: nanoseconds, the year 300,000, wrong UTF-8."""

    reason: str


def write_value(value: Any) -> str:
    """A value as people write it: a whole number has no fraction.

    A column of integers in which some are missing holds floating-point numbers in pandas.
    """
    if isinstance(value, Real) and not isinstance(value, int):
        number = float(value)
        if number.is_integer() and abs(number) <= LARGEST_WHOLE:
            return str(int(number))
    return str(value)


def list_texts(cell: Any, write: Callable[[Any], str] = write_value) -> list[str]:
    """The values of a cell as texts: several if it is a list, none if it is empty.

    `write` makes the texts of values that are none themselves.
    """
    if type(cell) is str:  # nearly all of them
        return [text] if (text := cell.strip()) else []
    if isinstance(cell, UnreadableCell):
        raise InputError(f"a cell holds a {cell.reason}; store it as text")
    values = [one for one in (cell if isinstance(cell, list) else [cell]) if not _is_missing(one)]
    if not all(isinstance(value, PLAIN_TYPES) for value in values):
        raise InputError(f"a cell holds {cell!r:.60}; give texts, numbers or lists of them")
    texts = (write(value).strip() for value in values)
    return [text for text in texts if text]


def find_whole_columns(lines: Sequence[str], separator: str) -> frozenset[int]:
    """The columns in which every filled cell is a whole number with `.0` and without quotes."""
    rows = [split_or_skip(line, separator) for line in lines]
    places = {place for row in rows for place, cell in enumerate(row) if cell}
    other = {
        place
        for line, row in zip(lines, rows, strict=True)
        for place, cell in enumerate(row)
        if cell and drop_fraction(cell, line) == cell
    }
    return frozenset(places - other)


def drop_fraction(cell: str, line: str) -> str:
    """A whole number without its `.0`; any other text, and one in quotes on its line, as it is."""
    if WHOLE_WITH_FRACTION.fullmatch(cell) and f'"{cell}"' not in line:
        return cell[:-2]
    return cell


def split_or_skip(line: str, separator: str) -> list[str]:
    """The cells of a line; none if its quotes are wrong."""
    try:
        return split_cells(line, separator)
    except InputError:
        return []


def _is_missing(value: Any) -> bool:
    # Some tools write "not a number" into empty cells.
    return value is None or (isinstance(value, Real) and math.isnan(value))

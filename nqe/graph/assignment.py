"""Assignments: a different column for each row of a table of what is allowed.

Matching uses them to give each qualifier of a pattern a qualifier of a fact of its own. A row is
an integer whose bit `c` says whether column `c` is allowed. Time is polynomial, however many
assignments there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nqe.graph.arrays import Booleans


def pack_rows(allowed: Booleans) -> list[int]:
    """The rows of a table (rows, columns) as integers."""
    packed = np.packbits(allowed, axis=1, bitorder="little")
    return [int.from_bytes(row.tobytes(), "little") for row in packed]


def list_columns(columns: int) -> Iterator[int]:
    """The numbers of the bits that are set, in ascending order."""
    while columns:
        lowest = columns & -columns
        yield lowest.bit_length() - 1
        columns ^= lowest


def assign(rows: Sequence[int]) -> list[int] | None:
    """One assignment, as the column of each row; None if there is none."""
    chosen: list[int | None] = [None] * len(rows)
    owner: dict[int, int] = {}
    for row in range(len(rows)):
        if not _add_row(row, rows, chosen, owner):
            return None
    return [column for column in chosen if column is not None]


def assign_first(rows: Sequence[int]) -> list[int] | None:
    """The first assignment in the order of columns of the first row, then the second, …"""
    left = list(rows)
    for row in range(len(left)):
        possible = find_columns(left, row)
        if not possible:
            return None
        left[row] = possible & -possible
    return [row.bit_length() - 1 for row in left]


def find_columns(rows: Sequence[int], asked: int) -> int:
    """The columns that one row has in any of the assignments; 0 if there are none."""
    chosen = assign(rows)
    if chosen is None:
        return 0
    # The asked row can have a column if the row that has it now can move to another one. It can
    # move to columns that are free, or that become free when other rows move.
    free = ~sum(1 << column for place, column in enumerate(chosen) if place != asked)
    left = [place for place in range(len(rows)) if place != asked]
    moved = True
    while moved:
        moving = {place for place in left if rows[place] & free}
        free |= sum(1 << chosen[place] for place in moving)
        left = [place for place in left if place not in moving]
        moved = bool(moving)
    return rows[asked] & free


def _add_row(
    start: int, rows: Sequence[int], chosen: list[int | None], owner: dict[int, int]
) -> bool:
    """Give a row a column, if needed by moving other rows; false if that is not possible."""
    reached: dict[int, int] = {}
    seen, queue = 0, [start]
    for row in queue:
        columns = rows[row] & ~seen
        seen |= columns
        for column in list_columns(columns):
            reached[column] = row
            if column not in owner:
                _move_rows(column, reached, chosen, owner)
                return True
            queue.append(owner[column])
    return False


def _move_rows(
    column: int | None, reached: dict[int, int], chosen: list[int | None], owner: dict[int, int]
) -> None:
    """Move each row on the way to a free column to the next column."""
    while column is not None:
        row = reached[column]
        owner[column] = row
        chosen[row], column = column, chosen[row]

"""Tables of bindings: what stands for the variables of a query, with one column per variable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.entity_set import distinct
from nqe.graph.ragged import ranges
from nqe.graph.sorted_search import find_ranges

_LARGEST = 2**62


@dataclass(frozen=True, eq=False, slots=True)
class BindingTable:
    """Combinations of entities and relations, one in each row, by the numbers of variables."""

    columns: Mapping[int, Integers]  # each (count,)
    count: int

    @classmethod
    def unit(cls) -> BindingTable:
        """The one way to bind no variable at all."""
        return cls({}, 1)

    def __len__(self) -> int:
        return self.count

    def take(self, rows: Integers) -> BindingTable:
        """The given rows, in the given order."""
        return BindingTable({one: column[rows] for one, column in self.columns.items()}, len(rows))

    def keep(self, variables: Iterable[int]) -> BindingTable:
        """The same rows with some of the columns; rows may become equal."""
        return BindingTable({one: self.columns[one] for one in variables}, self.count)

    def distinct(self) -> BindingTable:
        """Each row once, in ascending order of the columns from the first to the last."""
        columns = list(self.columns.values())
        if not columns:
            return BindingTable({}, min(self.count, 1))
        if len(columns) == 1:
            [one] = self.columns
            values = distinct(columns[0])
            return BindingTable({one: values}, len(values))
        widths = [_measure(column) for column in columns]
        if prod(widths) > _LARGEST:
            _, first = np.unique(number_rows(columns), return_index=True)
            return self.take(first)
        numbers = columns[0]
        for column, width in zip(columns[1:], widths[1:], strict=True):
            numbers = numbers * width + column
        return self._unpack(distinct(numbers), widths)

    def _unpack(self, numbers: Integers, widths: Sequence[int]) -> BindingTable:
        """The rows that were packed into numbers."""
        values, left = [], numbers
        for width in reversed(widths[1:]):
            left, rest = np.divmod(left, width)
            values.append(rest)
        columns = dict(zip(self.columns, [left, *reversed(values)], strict=True))
        return BindingTable(columns, len(numbers))

    def group(self) -> tuple[BindingTable, Integers]:
        """The distinct rows, and the place of each row among them."""
        if not self.columns:
            return BindingTable({}, min(self.count, 1)), np.zeros(self.count, dtype=np.int64)
        numbers = number_rows(list(self.columns.values()))
        _, first, places = np.unique(numbers, return_index=True, return_inverse=True)
        return self.take(first), places


def stack(parts: Sequence[BindingTable]) -> BindingTable:
    """The rows of several tables with the same columns, one table after another."""
    if len(parts) == 1:
        return parts[0]
    columns = {
        one: np.concatenate([part.columns[one] for part in parts]) for one in parts[0].columns
    }
    return BindingTable(columns, sum(part.count for part in parts))


def number_rows(columns: Sequence[Integers]) -> Integers:
    """One number per row, the same for equal rows only, in the order of the rows."""
    numbers, size = columns[0], _measure(columns[0])
    for column in columns[1:]:
        width = _measure(column)
        if size > _LARGEST // width:
            numbers = np.unique(numbers, return_inverse=True)[1]
            size = _measure(numbers)
        numbers, size = numbers * width + column, size * width
    return numbers


def _measure(column: Integers) -> int:
    return int(column.max(initial=0)) + 1


class TableJoin:
    """How the rows of one table go together with those of another, by the variables of both."""

    def __init__(self, left: BindingTable, right: BindingTable) -> None:
        self.left, self.right = left, right
        shared = [one for one in right.columns if one in left.columns]
        ours, theirs = _number_both(left, right, shared)
        self._order = np.argsort(theirs, kind="stable")
        ordered = theirs[self._order]
        self._starts, self.lengths = find_ranges(ordered, ours)
        self.size = int(self.lengths.sum())

    def select(self, first: int, last: int) -> tuple[Integers, Integers]:
        """The joined rows of a range of the left rows: a row of the left and one of the right."""
        lengths = self.lengths[first:last]
        places = self._order[ranges(self._starts[first:last], lengths)]
        return np.arange(first, last).repeat(lengths), places


def _number_both(
    left: BindingTable, right: BindingTable, shared: Sequence[int]
) -> tuple[Integers, Integers]:
    """One number per row of either table, the same for rows that agree on the shared variables."""
    if not shared:
        return np.zeros(len(left), dtype=np.int64), np.zeros(len(right), dtype=np.int64)
    if len(shared) == 1:
        return left.columns[shared[0]], right.columns[shared[0]]
    both = [np.concatenate([left.columns[one], right.columns[one]]) for one in shared]
    numbers = number_rows(both)
    return numbers[: len(left)], numbers[len(left) :]

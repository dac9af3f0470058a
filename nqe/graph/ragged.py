"""Ragged arrays: rows of different lengths stored one after another in one flat array."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nqe.graph.arrays import Integers


@dataclass(frozen=True, eq=False)
class Ragged:
    """Rows of different lengths; row i is `values[offset[i]:offset[i + 1]]`."""

    offset: Integers  # (rows + 1,)
    values: Integers  # (values,)

    @classmethod
    def of(cls, rows: Sequence[Integers]) -> Ragged:
        """Store the given rows one after another."""
        empty = np.zeros(0, dtype=np.int64)
        lengths = np.fromiter((len(row) for row in rows), dtype=np.int64, count=len(rows))
        return cls(offsets(lengths), np.concatenate([empty, *rows]))

    @classmethod
    def empty(cls, count: int) -> Ragged:
        """The given number of empty rows."""
        return cls(np.zeros(count + 1, dtype=np.int64), np.zeros(0, dtype=np.int64))

    @classmethod
    def group(cls, values: Integers, owner: Integers, count: int) -> Ragged:
        """Rows of values that are sorted by the row that owns them."""
        return cls(offsets(np.bincount(owner, minlength=count)), values)

    def __len__(self) -> int:
        return len(self.offset) - 1

    def __getitem__(self, row: int) -> Integers:
        return self.values[self.offset[row] : self.offset[row + 1]]

    @property
    def lengths(self) -> Integers:
        """The length of each row."""
        return np.diff(self.offset)

    @property
    def owner(self) -> Integers:
        """The row that each value belongs to."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, rows: Integers) -> Ragged:
        """The given rows, in the given order."""
        lengths = self.lengths[rows]
        return Ragged(offsets(lengths), self.values[ranges(self.offset[rows], lengths)])


def concatenate(parts: Sequence[Ragged]) -> Ragged:
    """The rows of all parts, one part after another."""
    lengths = np.concatenate([part.lengths for part in parts])
    return Ragged(offsets(lengths), np.concatenate([part.values for part in parts]))


def offsets(lengths: Integers) -> Integers:
    """Where runs of the given lengths start, and where the last run ends."""
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    lengths.cumsum(out=starts[1:])
    return starts


def ranges(starts: Integers, lengths: Integers) -> Integers:
    """The numbers of each range in turn: start, start + 1, … for its length."""
    # Methods of arrays, because NumPy's functions of the same names take longer on short ones.
    ends = lengths.cumsum()
    numbers: Integers = (starts - ends + lengths).repeat(lengths)
    numbers += np.arange(len(numbers))
    return numbers


def split_ranges(
    starts: Integers, lengths: Integers, most: int
) -> Iterator[tuple[slice, Integers, Integers]]:
    """Ranges in blocks of at most `most` numbers: which ranges, their starts and their lengths."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    if total <= most:
        yield slice(None), starts, lengths
        return
    before = ends - lengths
    for low in range(0, total, most):
        high = low + most
        part = slice(int(ends.searchsorted(low, side="right")), int(ends.searchsorted(high)) + 1)
        first = np.maximum(low - before[part], 0)
        last = np.minimum(high - before[part], lengths[part])
        yield part, starts[part] + first, last - first

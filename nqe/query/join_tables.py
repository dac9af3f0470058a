"""Joins of tables of bindings, in blocks that bound the memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

import numpy as np

from nqe.graph.binding_table import BindingTable, TableJoin
from nqe.graph.join_atom import BLOCK, split_lengths


def join_tables(
    left: BindingTable, right: BindingTable, wanted: Collection[int], check: Callable[[int], None]
) -> Iterator[BindingTable]:
    """Two tables joined by the variables of both; `check` refuses too many rows."""
    join = TableJoin(left, right)
    kept = left.keep(one for one in left.columns if one in wanted)
    new = [one for one in right.columns if one in wanted and one not in left.columns]
    if not new:
        yield kept.take(np.flatnonzero(join.lengths))
        return
    check(join.size)
    added = right.keep(new)
    for first, last in split_lengths(join.lengths, BLOCK):
        ours, theirs = join.select(first, last)
        yield BindingTable({**kept.take(ours).columns, **added.take(theirs).columns}, len(ours))


def extend_by_all(bindings: BindingTable, variable: int, count: int) -> Iterator[BindingTable]:
    """Every row with each of the numbers from 0 to `count` for a variable."""
    height = max(BLOCK // max(count, 1), 1)
    for first in range(0, len(bindings), height):
        rows = np.arange(first, min(first + height, len(bindings)))
        columns = dict(bindings.take(rows.repeat(count)).columns)
        columns[variable] = np.tile(np.arange(count), len(rows))
        yield BindingTable(columns, len(rows) * count)

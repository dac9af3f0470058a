"""Joins bindings with the facts that match an atom, by the index of a graph.

The facts are found in one of two ways: for each row of the bindings, by an entity that the row
binds; or for all rows together, by an entity that the atom names, and then joined with the rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

import numpy as np

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.atom_pattern import AtomPattern
from nqe.graph.binding_table import BindingTable, TableJoin, stack
from nqe.graph.candidates import Candidates, find_by_names, find_by_rows
from nqe.graph.entity_set import distinct, sorted_contains
from nqe.graph.index import Index
from nqe.graph.ragged import ranges, split_ranges
from nqe.graph.read_facts import FactReader

# At most this many candidate facts are looked at together, which bounds the memory.
BLOCK = 1_000_000
# Facts are found by the rows of bindings, unless that would be more than so many times as many as
# there are rows and facts by names, or there are so many times more rows than such facts. What is
# found by a few rows, and is little itself, is always taken.
_WORTH_JOINING, _WORTH_LOOKING = 4, 8
_LITTLE = 64
# From this many rows on, repeated ones that stand together are dropped at once.
_MANY_ROWS = 256
_NOTHING = np.zeros(0, dtype=np.int64)


class AtomFacts:
    """The facts that may match one atom."""

    def __init__(
        self,
        index: Index,
        atom: AtomPattern,
        max_bindings: int | None = None,
        left_out: Integers = _NOTHING,
    ) -> None:
        """`left_out` are rows of facts that match nothing, in ascending order."""
        self.index, self.atom, self.max_bindings = index, atom, max_bindings
        self._left_out = left_out

    @property
    def leaves_out(self) -> bool:
        """Whether some facts of the index match nothing."""
        return len(self._left_out) > 0

    @cached_property
    def by_names(self) -> Candidates:
        """Those that have an entity which the atom names."""
        return find_by_names(self.index, self.atom)

    def join(self, bindings: BindingTable) -> AtomJoin:
        """How some bindings go together with the facts."""
        return AtomJoin(self, bindings)

    def list_rows(self, starts: Integers, lengths: Integers) -> Integers:
        """The rows of facts in ranges of the index's entries."""
        if len(starts) == 1:
            return self.index.rows[int(starts[0]) : int(starts[0] + lengths[0])]
        return self.index.rows[ranges(starts, lengths)]

    def find_known(self, rows: Integers) -> Booleans:
        """Whether each fact is not left out."""
        return ~sorted_contains(self._left_out, rows)


class AtomJoin:
    """An atom and some bindings: how many facts have to be looked at, and what they add."""

    def __init__(self, facts: AtomFacts, bindings: BindingTable) -> None:
        self.facts, self.atom, self.bindings = facts, facts.atom, bindings
        self.shared = [one for one in self.atom.variables if one in bindings.columns]
        self._by_rows = self._find_by_rows() if self.shared else None
        self.cost = facts.by_names.size if self._by_rows is None else self._by_rows.size
        """The number of facts to look at; without shared variables, for each of the bindings."""
        if not self.shared:
            self.cost *= len(bindings)

    def _find_by_rows(self) -> Candidates | None:
        """The facts of each row of the bindings; None if it is better to find all by names."""
        count = len(self.bindings)
        if count > _LITTLE and self.facts.by_names.size * _WORTH_LOOKING < count:
            return None
        found = find_by_rows(self.facts.index, self.atom, self.bindings)
        if found is None or found.size <= _LITTLE:
            return found
        return found if found.size <= _WORTH_JOINING * (self.facts.by_names.size + count) else None

    @property
    def filter_cost(self) -> int:
        """What there is to look at if no variable of the atom is wanted."""
        if self._by_rows is not None and self._is_enough(self._by_rows):
            return len(self.bindings)
        return self.cost

    def run(self, wanted: Collection[int]) -> Iterator[BindingTable]:
        """What the facts add to the bindings, as far as variables are wanted, in blocks."""
        new = [one for one in self.atom.variables if one in wanted and one not in self.shared]
        if not new:
            yield self._select(wanted)
        elif self._by_rows is not None:
            yield from self._extend_rows(self._by_rows, wanted, new)
        else:
            yield from self._join_facts(wanted, new)

    # Rows that have a fact

    def _select(self, wanted: Collection[int]) -> BindingTable:
        """The rows of the bindings for which there is a fact."""
        kept = self.bindings.keep(one for one in self.bindings.columns if one in wanted)
        if self._by_rows is None:
            return kept.take(np.flatnonzero(self._has_fact_by_names()))
        return kept.take(np.flatnonzero(self._has_fact_by_rows(self._by_rows)))

    def _has_fact_by_rows(self, found: Candidates) -> Booleans:
        if self._is_enough(found):
            return found.lengths > 0
        reader = self._make_reader(found.slot, ())
        has_fact = np.zeros(len(self.bindings), dtype=bool)
        for owner, row in self._list_candidates(found):
            has_fact[owner[reader.read(row, self._give(owner, found.slot)).place]] = True
        return has_fact

    def _is_enough(self, found: Candidates) -> bool:
        """Whether all candidates match."""
        if found.owner is not None or self.facts.leaves_out or not self.atom.is_loose:
            return False
        return sum(one in self.bindings.columns for _, one in self.atom.unknown) == 1

    def _has_fact_by_names(self) -> Booleans:
        tables = list(self._read_by_names(self.shared))
        if not self.shared:
            return np.full(len(self.bindings), any(len(one) for one in tables))
        return TableJoin(self.bindings, stack(tables)).lengths > 0

    # What facts add

    def _extend_rows(
        self, found: Candidates, wanted: Collection[int], new: list[int]
    ) -> Iterator[BindingTable]:
        reader = self._make_reader(found.slot, new)
        kept = self.bindings.keep(one for one in self.bindings.columns if one in wanted)
        for owner, row in self._list_candidates(found):
            ways = reader.read(row, self._give(owner, found.slot))
            ours, added = owner[ways.place], {one: ways.values[one] for one in new}
            if len(ours) > _MANY_ROWS:
                chosen = _drop_neighbours(ours, *added.values())
                ours, added = ours[chosen], {one: added[one][chosen] for one in new}
            yield BindingTable({**kept.take(ours).columns, **added}, len(ours))

    def _join_facts(self, wanted: Collection[int], new: list[int]) -> Iterator[BindingTable]:
        kept = self.bindings.keep(one for one in self.bindings.columns if one in wanted)
        for table in self._read_by_names([*self.shared, *new]):
            if not self.bindings.columns and len(self.bindings) == 1:
                yield table
                continue
            join, added = TableJoin(self.bindings, table), table.keep(new)
            for first, last in split_lengths(join.lengths, BLOCK):
                ours, theirs = join.select(first, last)
                columns = {**kept.take(ours).columns, **added.take(theirs).columns}
                yield BindingTable(columns, len(ours))

    # Candidates

    def _read_by_names(self, wanted: list[int]) -> Iterator[BindingTable]:
        """What all facts have for some variables, whatever the bindings are."""
        found = self.facts.by_names
        reader = self._make_reader(found.slot, wanted)
        for _, starts, lengths in split_ranges(found.starts, found.lengths, BLOCK):
            row = self._keep_known(distinct_rows(self.facts.list_rows(starts, lengths), self.atom))
            ways = reader.read(row, {})
            yield BindingTable({one: ways.values[one] for one in wanted}, len(ways.place))

    def _list_candidates(self, found: Candidates) -> Iterator[tuple[Integers, Integers]]:
        """The candidate facts of each row of the bindings: the row, and the row of the fact."""
        owners = np.arange(len(found.starts)) if found.owner is None else found.owner
        for part, starts, lengths in split_ranges(found.starts, found.lengths, BLOCK):
            owner, row = owners[part].repeat(lengths), self.facts.list_rows(starts, lengths)
            if self.facts.leaves_out:
                known = self.facts.find_known(row)
                owner, row = owner[known], row[known]
            if self.atom.attributes and len(row) > 1:
                # A fact stands as often in a column as it has the same qualifier.
                chosen = _drop_neighbours(owner, row)
                owner, row = owner[chosen], row[chosen]
            yield owner, row

    def _keep_known(self, rows: Integers) -> Integers:
        return rows[self.facts.find_known(rows)] if self.facts.leaves_out else rows

    def _give(self, owner: Integers, fitting: int | None) -> Mapping[int, Integers]:
        """What stands for the shared variables in the rows of some candidates, if it is checked."""
        atom, columns = self.atom, self.bindings.columns
        fitting = None if atom.repeats_attribute else fitting
        return {
            one: columns[one][owner]
            for slot, one in atom.unknown
            if slot != fitting and one in columns
        }

    def _make_reader(self, fitting: int | None, wanted: Collection[int]) -> FactReader:
        facts = self.facts
        return FactReader(facts.index.facts, self.atom, wanted, fitting, facts.max_bindings)


def distinct_rows(rows: Integers, atom: AtomPattern) -> Integers:
    """The rows of facts that were found in one column, each once."""
    return distinct(rows) if atom.attributes else rows


def split_lengths(lengths: Integers, most: int) -> Iterator[tuple[int, int]]:
    """Ranges of places whose lengths add up to about `most`, or that have one place."""
    ends = np.cumsum(lengths)
    if not len(ends) or ends[-1] <= most:
        yield 0, len(ends)
        return
    first = 0
    while first < len(ends):
        before = int(ends[first - 1]) if first else 0
        last = max(int(ends.searchsorted(before + most, side="right")), first + 1)
        yield first, last
        first = last


def _drop_neighbours(*columns: Integers) -> Booleans:
    """Whether each row differs from the one before it."""
    new = np.zeros(len(columns[0]), dtype=bool)
    new[:1] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new

"""Facts of any arity as columns of numbers, in one canonical order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.ragged import Ragged, offsets, ranges


@dataclass(frozen=True, eq=False)
class Facts:
    """Columns with one row per fact, and columns with one row per qualifier.

    The qualifiers of fact i are the rows from `offset[i]` up to `offset[i + 1]`. Facts are kept in
    the form that `to_canonical` gives: qualifiers are sorted within a fact, facts are sorted by
    arity and then by their numbers, and duplicates are merged and counted. So tables with the same
    facts are equal arrays.
    """

    subject: Integers  # (facts,)
    relation: Integers  # (facts,)
    object: Integers  # (facts,)
    offset: Integers  # (facts + 1,)
    attribute: Integers  # (qualifiers,)
    value: Integers  # (qualifiers,)
    count: Integers  # (facts,) how often the source states the fact

    @classmethod
    def empty(cls) -> Facts:
        """A table without facts."""
        none = np.zeros(0, dtype=np.int64)
        return cls(none, none, none, np.zeros(1, dtype=np.int64), none, none, none)

    def __len__(self) -> int:
        return len(self.subject)

    def __repr__(self) -> str:
        return f"<Facts: {len(self):,} rows, {len(self.value):,} qualifiers>"

    @cached_property
    def qualifier_count(self) -> Integers:
        """The number of qualifiers of each fact."""
        return np.diff(self.offset)

    @cached_property
    def qualifier_fact(self) -> Integers:
        """The fact that each qualifier belongs to."""
        return np.repeat(np.arange(len(self)), self.qualifier_count)

    def row(self, number: int) -> tuple[int, int, int, list[tuple[int, int]]]:
        """One fact as numbers: subject, relation, object, and (attribute, value) pairs."""
        start, end = int(self.offset[number]), int(self.offset[number + 1])
        main = (self.subject[number], self.relation[number], self.object[number])
        pairs: list[tuple[int, int]] = []
        if start < end:  # most facts have none
            values = self.value[start:end].tolist()
            pairs = list(zip(self.attribute[start:end].tolist(), values, strict=True))
        return int(main[0]), int(main[1]), int(main[2]), pairs

    def find_qualifiers(self, rows: Integers) -> Ragged:
        """For each of the given facts, where its qualifiers are in `attribute` and `value`."""
        lengths = self.qualifier_count[rows]
        return Ragged(offsets(lengths), ranges(self.offset[rows], lengths))

    def take(self, rows: Integers) -> Facts:
        """The facts of the given rows, in the given order."""
        qualifiers = self.find_qualifiers(rows)
        return Facts(
            self.subject[rows],
            self.relation[rows],
            self.object[rows],
            qualifiers.offset,
            self.attribute[qualifiers.values],
            self.value[qualifiers.values],
            self.count[rows],
        )

    def renumber(self, entities: Integers, relations: Integers) -> Facts:
        """The same facts with entity e renamed to entities[e] and relation r to relations[r]."""
        return Facts(
            entities[self.subject],
            relations[self.relation],
            entities[self.object],
            self.offset,
            relations[self.attribute],
            entities[self.value],
            self.count,
        )

    def to_canonical(self) -> Facts:
        """The same facts in canonical order, each once."""
        facts = self._sort_qualifiers()
        arities = np.unique(self.qualifier_count)
        return concatenate([facts._merge_one_arity(int(arity)) for arity in arities])

    def is_canonical(self) -> bool:
        """Whether the facts are as `to_canonical` gives them; it is quicker than sorting them."""
        attribute, value = np.diff(self.attribute), np.diff(self.value)
        falls = (attribute < 0) | (attribute == 0) & (value < 0)
        falls &= np.diff(self.qualifier_fact) == 0
        if falls.any() or (np.diff(self.qualifier_count) < 0).any() or (self.count < 1).any():
            return False
        # Facts of one arity stand together now, so they need not be copied to compare them.
        arities, firsts = np.unique(self.qualifier_count, return_index=True)
        bounds = pairwise([*firsts.tolist(), len(self)])
        return all(
            self._is_sorted(arity, first, last)
            for arity, (first, last) in zip(arities.tolist(), bounds, strict=True)
        )

    def subtract(self, other: Facts) -> Facts:
        """The facts that `other` does not have, however often either states them.

        Both must be canonical.
        """
        here, there = np.full(len(self), 1), np.full(len(other), 2)
        both = concatenate([replace(self, count=here), replace(other, count=there)])
        origin = both.to_canonical().count  # 1 only in self, 2 only in other, 3 in both
        return self.take(np.flatnonzero(origin[origin != 2] == 1))

    def equals(self, other: Facts) -> bool:
        """Whether both hold the same facts, each stated as often."""
        return all(np.array_equal(mine, theirs) for mine, theirs in zip(self, other, strict=True))

    def __iter__(self) -> Iterator[Integers]:
        """The columns, in the order of the fields."""
        yield from (self.subject, self.relation, self.object)
        yield from (self.offset, self.attribute, self.value, self.count)

    def _sort_qualifiers(self) -> Facts:
        order = np.lexsort((self.value, self.attribute, self.qualifier_fact))
        return replace(self, attribute=self.attribute[order], value=self.value[order])

    def _take_one_arity(self, qualifier_count: int) -> Facts:
        return self.take(np.flatnonzero(self.qualifier_count == qualifier_count))

    def _list_columns(self, qualifier_count: int) -> list[Integers]:
        """The columns by which facts are sorted that all have this number of qualifiers."""
        pairs = np.stack([self.attribute, self.value]).reshape(2, -1, max(qualifier_count, 1))
        columns = [self.subject, self.relation, self.object]
        return columns + [pairs[side, :, i] for i in range(qualifier_count) for side in (0, 1)]

    def _is_sorted(self, qualifier_count: int, first: int, last: int) -> bool:
        """Whether a range of facts, all with this number of qualifiers, is sorted and distinct."""
        start, end = self.offset[first], self.offset[last]
        facts = Facts(
            self.subject[first:last],
            self.relation[first:last],
            self.object[first:last],
            self.offset[first : last + 1] - start,
            self.attribute[start:end],
            self.value[start:end],
            self.count[first:last],
        )
        equal = np.ones(max(len(facts) - 1, 0), dtype=bool)
        for column in facts._list_columns(qualifier_count):
            change = np.diff(column)
            if (change[equal] < 0).any():
                return False
            equal &= change == 0
        return not equal.any()

    def _merge_one_arity(self, qualifier_count: int) -> Facts:
        """The facts with the given number of qualifiers, sorted, with duplicates merged."""
        facts = self._take_one_arity(qualifier_count)
        columns = facts._list_columns(qualifier_count)
        order = np.lexsort(columns[::-1])
        new = np.zeros(len(facts), dtype=bool)
        new[:1] = True
        for column in columns:
            new[1:] |= np.diff(column[order]) != 0
        firsts = np.flatnonzero(new)
        counts = np.add.reduceat(facts.count[order], firsts)
        return replace(facts.take(order[firsts]), count=counts)


def concatenate(tables: Iterable[Facts]) -> Facts:
    """The rows of all tables, one table after another, without merging duplicates."""
    tables = list(tables)
    if not tables:
        return Facts.empty()
    columns = [np.concatenate(parts) for parts in zip(*tables, strict=True)]
    columns[3] = offsets(np.concatenate([table.qualifier_count for table in tables]))
    return Facts(*columns)

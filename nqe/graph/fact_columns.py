"""Facts of any arity in columns of numbers, in one canonical order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.ragged import offsets, ranges


@dataclass(frozen=True, eq=False)
class Facts:
    """Columns with a row a fact; a row's qualifiers are those from its offset to the next one.

    Build them with `canonical`: qualifiers sorted within a fact, facts sorted by arity and then
    by their numbers, duplicates merged and counted. So equal contents are equal arrays.
    """

    subject: Integers  # (facts,)
    relation: Integers  # (facts,)
    object: Integers  # (facts,)
    offset: Integers  # (facts + 1,)
    attribute: Integers  # (qualifiers,)
    value: Integers  # (qualifiers,)
    count: Integers  # (facts,) how often the source states it

    def __len__(self) -> int:
        return len(self.subject)

    def __repr__(self) -> str:
        return f"<Facts: {len(self):,} rows, {len(self.value):,} qualifiers>"

    @cached_property
    def qualifier_count(self) -> Integers:
        """How many qualifiers each fact has."""
        return np.diff(self.offset)

    @cached_property
    def qualifier_fact(self) -> Integers:
        """The fact each qualifier belongs to."""
        return np.repeat(np.arange(len(self)), self.qualifier_count)

    def row(self, number: int) -> tuple[int, int, int, list[tuple[int, int]]]:
        """One fact as numbers."""
        start, end = int(self.offset[number]), int(self.offset[number + 1])
        pairs = zip(self.attribute[start:end].tolist(), self.value[start:end].tolist(), strict=True)
        main = (self.subject[number], self.relation[number], self.object[number])
        return int(main[0]), int(main[1]), int(main[2]), list(pairs)

    def take(self, rows: Integers) -> Facts:
        """The facts of these rows, in this order."""
        lengths = self.qualifier_count[rows]
        qualifiers = ranges(self.offset[rows], lengths)
        return Facts(
            self.subject[rows],
            self.relation[rows],
            self.object[rows],
            offsets(lengths),
            self.attribute[qualifiers],
            self.value[qualifiers],
            self.count[rows],
        )

    def renumbered(self, entities: Integers, relations: Integers) -> Facts:
        """The same facts, entity e called entities[e] and relation r called relations[r]."""
        return Facts(
            entities[self.subject],
            relations[self.relation],
            entities[self.object],
            self.offset,
            relations[self.attribute],
            entities[self.value],
            self.count,
        )

    def canonical(self) -> Facts:
        """The same facts in canonical order, each once."""
        sorted_pairs = self._with_sorted_qualifiers()
        arities = np.unique(self.qualifier_count)
        return concatenate([sorted_pairs._one_arity(int(arity)) for arity in arities])

    def subtract(self, other: Facts) -> Facts:
        """The facts that `other` does not have, however often either states them.

        Both must be canonical.
        """
        here, there = np.full(len(self), 1), np.full(len(other), 2)
        both = [replace(self, count=here), replace(other, count=there)]
        origin = concatenate(both).canonical().count  # 1 only in self, 2 only in other, 3 in both
        return self.take(np.flatnonzero(origin[origin != 2] == 1))

    def equals(self, other: Facts) -> bool:
        """Whether both hold the same facts, as often."""
        return all(np.array_equal(mine, theirs) for mine, theirs in zip(self, other, strict=True))

    def __iter__(self) -> Iterator[Integers]:
        """The columns, in the order of the fields."""
        yield from (self.subject, self.relation, self.object)
        yield from (self.offset, self.attribute, self.value, self.count)

    def _with_sorted_qualifiers(self) -> Facts:
        order = np.lexsort((self.value, self.attribute, self.qualifier_fact))
        return Facts(
            self.subject,
            self.relation,
            self.object,
            self.offset,
            self.attribute[order],
            self.value[order],
            self.count,
        )

    def _one_arity(self, qualifier_count: int) -> Facts:
        """The facts with so many qualifiers, sorted, duplicates merged."""
        facts = self.take(np.flatnonzero(self.qualifier_count == qualifier_count))
        pairs = np.stack([facts.attribute, facts.value]).reshape(2, -1, max(qualifier_count, 1))
        columns = [facts.subject, facts.relation, facts.object]
        columns += [pairs[side, :, i] for i in range(qualifier_count) for side in (0, 1)]
        order = np.lexsort(columns[::-1])
        new = np.zeros(len(facts), dtype=bool)
        new[:1] = True
        for column in columns:
            new[1:] |= np.diff(column[order]) != 0
        firsts = np.flatnonzero(new)
        unique = facts.take(order[firsts])
        counts = np.add.reduceat(facts.count[order], firsts)
        return replace(unique, count=counts)


def concatenate(tables: Iterable[Facts]) -> Facts:
    """The rows of all tables, one table after another, as they stand."""
    tables = list(tables)
    if not tables:
        return empty()
    columns = [np.concatenate(parts) for parts in zip(*tables, strict=True)]
    columns[3] = offsets(np.concatenate([table.qualifier_count for table in tables]))
    return Facts(*columns)


def empty() -> Facts:
    """No facts."""
    nothing = np.zeros(0, dtype=np.int64)
    return Facts(nothing, nothing, nothing, np.zeros(1, dtype=np.int64), nothing, nothing, nothing)

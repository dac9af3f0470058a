"""Sets of entities whose complements are kept as complements, not listed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from nqe.graph.arrays import Booleans, Integers

# Up to this many values, Python's own set is faster than array operations.
SHORT = 16


@dataclass(frozen=True, eq=False, slots=True)
class EntitySet:
    """Sorted entity numbers; `inverted` means all entities except these."""

    members: Integers
    inverted: bool = False

    @classmethod
    def of(cls, members: Iterable[int]) -> EntitySet:
        """The set of the given entities."""
        return cls(np.array(sorted(set(members)), dtype=np.int64))

    @classmethod
    def everything(cls) -> EntitySet:
        """The set of all entities."""
        return cls(np.zeros(0, dtype=np.int64), inverted=True)

    def count_members(self, entity_count: int) -> int:
        """How many of the entities 0 to `entity_count` - 1 are in the set."""
        return entity_count - len(self.members) if self.inverted else len(self.members)

    def to_array(self, entity_count: int) -> Integers:
        """Those of the entities 0 to `entity_count` - 1 that are in the set, in ascending order."""
        if not self.inverted:
            return self.members
        outside = np.ones(entity_count, dtype=bool)
        outside[self.members] = False
        return np.flatnonzero(outside)

    def contains(self, entities: Integers) -> Booleans:
        """For each entity, whether it is in the set."""
        if not len(self.members):
            return np.full(len(entities), self.inverted)
        found = sorted_contains(self.members, entities)
        return ~found if self.inverted else found

    def __contains__(self, entity: int) -> bool:
        return bool(self.contains(np.array([entity]))[0])

    def complement(self) -> EntitySet:
        """All entities that are not in this set."""
        return EntitySet(self.members, not self.inverted)

    def __and__(self, other: EntitySet) -> EntitySet:
        if not self.inverted:
            return EntitySet(self.members[other.contains(self.members)])
        if not other.inverted:
            return EntitySet(other.members[self.contains(other.members)])
        return EntitySet(_unite(self.members, other.members), inverted=True)

    def __or__(self, other: EntitySet) -> EntitySet:
        if self.inverted or other.inverted:
            return (self.complement() & other.complement()).complement()
        return EntitySet(_unite(self.members, other.members))

    def __eq__(self, other: object) -> bool:
        """Whether both have the same members and both or neither are inverted."""
        if not isinstance(other, EntitySet):
            return NotImplemented
        return self.inverted == other.inverted and np.array_equal(self.members, other.members)

    __hash__ = None  # type: ignore[assignment]


def sorted_contains(sorted_values: Integers, values: Integers) -> Booleans:
    """For each value, whether it is among the sorted values, which must not be empty."""
    # A value after the last one is clipped to the last position, whose value it does not equal.
    places = sorted_values.searchsorted(values)
    found: Booleans = sorted_values.take(places, mode="clip") == values
    return found


def distinct(values: Integers) -> Integers:
    """The distinct values in ascending order: `np.unique`, but faster on short arrays."""
    if len(values) < 2:
        return values
    if len(values) <= SHORT:
        return np.array(sorted(set(values.tolist())))
    ordered = np.sort(values)
    new = np.empty(len(ordered), dtype=bool)
    new[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]


def _unite(first: Integers, second: Integers) -> Integers:
    return distinct(np.concatenate([first, second]))

"""What the slots of many patterns allow: one entity, the members of a set, or any entity."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.entity_set import sorted_contains
from nqe.graph.pattern import Kind, Patterns


class Restrictions:
    """The restrictions of all slots of some patterns."""

    def __init__(self, patterns: Patterns, entity_count: int) -> None:
        self.patterns, self.entity_count = patterns, entity_count

    @cached_property
    def _member_keys(self) -> Integers:
        sets = np.repeat(np.arange(len(self.patterns.inverted)), np.diff(self.patterns.set_offset))
        return sets * self.entity_count + self.patterns.members

    def allow(self, slot: Integers, entity: Integers) -> Booleans:
        """For each slot and entity, whether the slot allows the entity."""
        kind, filler = self.patterns.kind[slot], self.patterns.filler[slot]
        fits: Booleans = (kind != Kind.KNOWN) | (filler == entity)
        in_set = np.flatnonzero(kind == Kind.SET)
        if len(in_set):
            sets = filler[in_set]
            inverted = self.patterns.inverted[sets] == 1
            keys = sets * self.entity_count + entity[in_set]
            if len(self._member_keys):
                inverted ^= sorted_contains(self._member_keys, keys)
            fits[in_set] = inverted
        return fits

"""Matches the qualifiers of patterns with those of facts, each with one of its own.

Qualifiers of one pattern with the same attribute form a group. A group must map injectively to the
fact's qualifiers with that attribute; groups do not compete with each other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from nqe.errors import TooManyBindings
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.assignment import assign, find_columns, list_columns, pack_rows
from nqe.graph.fact_columns import Facts
from nqe.graph.pattern import FIRST_QUALIFIER, Kind, Patterns
from nqe.graph.ragged import offsets, ranges

# At most this many ways to map qualifiers are held at once.
WAYS_BLOCK = 2_000_000
# In a batch with more ways than that, a fact that alone has more than this is looked at by itself,
# by a method that does not try them all. It counts as this many for the limit of bindings.
MANY_WAYS = 5_000
NOTHING = np.zeros(0, dtype=np.int64)


class QualifierMatcher:
    """The qualifiers of many patterns, in groups."""

    def __init__(
        self,
        facts: Facts,
        patterns: Patterns,
        slot_pattern: Integers,
        position: Integers,
        allowed: Callable[[Integers, Integers], Booleans],
        max_bindings: int | None,
    ) -> None:
        """`slot_pattern` and `position` are the pattern of each slot and its place in that.

        `allowed` says for slots and entities whether each slot allows its entity.
        """
        self.facts, self.patterns, self.max_bindings = facts, patterns, max_bindings
        self.slot_pattern, self.position, self._allowed = slot_pattern, position, allowed
        self.asked_slot = patterns.first_slot[:-1] + patterns.asked
        self._ways: dict[int, Any] = {}

    @cached_property
    def _group_slots(self) -> Integers:
        """The qualifier slots, ordered by group; known ones come first, as they fit few."""
        slots = np.flatnonzero(self.position >= FIRST_QUALIFIER)
        is_wide = self.patterns.kind[slots] != Kind.KNOWN
        order = np.lexsort((is_wide, self.patterns.attribute[slots], self.slot_pattern[slots]))
        return slots[order]

    @cached_property
    def _group_start(self) -> Integers:
        slots = self._group_slots
        new = np.ones(len(slots), dtype=bool)
        same = np.diff(self.slot_pattern[slots]) == 0
        new[1:] = ~(same & (np.diff(self.patterns.attribute[slots]) == 0))
        return np.flatnonzero(new)

    @cached_property
    def group_pattern(self) -> Integers:
        """The pattern of each group."""
        return self.slot_pattern[self._group_slots[self._group_start]]

    @cached_property
    def group_count(self) -> Integers:
        """The number of groups of each pattern."""
        return np.bincount(self.group_pattern, minlength=len(self.patterns))

    @cached_property
    def _group_size(self) -> Integers:
        return np.diff(np.append(self._group_start, len(self._group_slots)))

    def match(self, pattern: Integers, row: Integers) -> tuple[Integers, Integers, Integers]:
        """All ways to map each group to the qualifiers of each candidate.

        Gives the candidate, the group, and the qualifier that the asked slot maps to (-1 if the
        asked slot is not in this group).
        """
        groups = self.group_count[pattern]
        candidate = np.repeat(np.arange(len(pattern)), groups)
        group = ranges(offsets(self.group_count)[pattern], groups)
        counted = self._ways.copy()
        found = self._map_groups(pattern, row, candidate, group, WAYS_BLOCK)
        if found is not None:
            return found
        self._ways = counted
        return self._map_in_blocks(pattern, row, candidate, group)

    def _map_in_blocks(
        self, pattern: Integers, row: Integers, candidate: Integers, group: Integers
    ) -> tuple[Integers, Integers, Integers]:
        """What `_map_groups` gives, without repeats, for more ways than it may hold at once."""
        most = self.facts.qualifier_count[row[candidate]].astype(np.float64)
        most **= self._group_size[group]
        crowded = (most > MANY_WAYS) & (self._group_size[group] > 1)
        parts = [self._map_crowded(pattern, row, candidate[crowded], group[crowded])]
        candidate, group, most = candidate[~crowded], group[~crowded], most[~crowded]
        for part in np.split(np.arange(len(group)), _find_cuts(most)):
            found = self._map_groups(pattern, row, candidate[part], group[part])
            if found is not None:
                parts.append(_drop_repeats(*found))
        candidates, groups, answers = (np.concatenate(part) for part in zip(*parts, strict=True))
        return candidates, groups, answers

    def _map_groups(
        self,
        pattern: Integers,
        row: Integers,
        candidate: Integers,
        group: Integers,
        most: int | None = None,
    ) -> tuple[Integers, Integers, Integers] | None:
        """All ways to map groups to the qualifiers of their candidates; None if more than most."""
        asked = np.full(len(group), -1)
        used: list[Integers] = []
        finished = []
        for ordinal in range(int(self._group_size.max(initial=0))):
            slot = self._group_slots[self._group_start[group] + ordinal]
            rows = row[candidate]
            ways = self.facts.qualifier_count[rows]
            if most is not None and ways.sum() > most:
                return None
            self._count_ways(ordinal, pattern[candidate], ways)
            place, qualifier = self._expand(slot, rows, ways, used)
            candidate, group, slot = candidate[place], group[place], slot[place]
            used = [*(taken[place] for taken in used), qualifier]
            is_asked = slot == self.asked_slot[pattern[candidate]]
            asked = np.where(is_asked, qualifier, asked[place])
            done = self._group_size[group] == ordinal + 1
            finished.append((candidate[done], group[done], asked[done]))
            left = np.flatnonzero(~done)
            candidate, group, asked = candidate[left], group[left], asked[left]
            used = [taken[left] for taken in used]
        parts = zip(*finished, strict=True) if finished else ((NOTHING,),) * 3
        candidates, groups, answers = (np.concatenate(part) for part in parts)
        return candidates, groups, answers

    def _map_crowded(
        self, pattern: Integers, row: Integers, candidate: Integers, group: Integers
    ) -> tuple[Integers, Integers, Integers]:
        """What `_map_groups` gives, without repeats, for facts with very many ways."""
        self._count_ways(0, pattern[candidate], np.full(len(candidate), MANY_WAYS))
        found = [
            self._map_crowded_fact(int(row[one]), int(self.asked_slot[pattern[one]]), number)
            for one, number in zip(candidate.tolist(), group.tolist(), strict=True)
        ]
        counts = np.array([len(qualifiers) for qualifiers in found], dtype=np.int64)
        answers = np.concatenate([NOTHING, *found])
        return np.repeat(candidate, counts), np.repeat(group, counts), answers

    def _map_crowded_fact(self, row: int, asked: int, group: int) -> Integers:
        """The qualifiers of a fact that the asked slot can map to; [-1] if it is elsewhere."""
        first = self._group_start[group]
        slots = self._group_slots[first : first + self._group_size[group]]
        qualifiers = np.arange(self.facts.offset[row], self.facts.offset[row + 1])
        same = self.facts.attribute[qualifiers] == self.patterns.attribute[slots[0]]
        qualifiers = qualifiers[same]
        every_slot = np.repeat(slots, len(qualifiers))
        values = np.tile(self.facts.value[qualifiers], len(slots))
        rows = pack_rows(self._allowed(every_slot, values).reshape(len(slots), len(qualifiers)))
        places = np.flatnonzero(slots == asked)
        if len(places):
            columns = list(list_columns(find_columns(rows, int(places[0]))))
            found: Integers = qualifiers[np.array(columns, dtype=np.int64)]
            return found
        return NOTHING if assign(rows) is None else np.array([-1])

    def _count_ways(self, ordinal: int, pattern: Integers, ways: Integers) -> None:
        """Refuse too many ways to map several qualifiers of one attribute to facts with many."""
        if self.max_bindings is None or not len(ways):
            return
        total = np.bincount(pattern, ways, len(self.patterns)) + self._ways.get(ordinal, 0)
        self._ways[ordinal] = total
        if total.max() > self.max_bindings:
            raise TooManyBindings(int(total.max()), self.max_bindings)

    def _expand(
        self, slot: Integers, row: Integers, counts: Integers, used: list[Integers]
    ) -> tuple[Integers, Integers]:
        """Pair each slot with each qualifier of its fact that fits and is not used yet."""
        qualifier = ranges(self.facts.offset[row], counts)
        place = np.repeat(np.arange(len(row)), counts)
        fits = self.facts.attribute[qualifier] == self.patterns.attribute[slot][place]
        place, qualifier = place[fits], qualifier[fits]
        fits = self._allowed(slot[place], self.facts.value[qualifier])
        for taken in used:
            fits &= taken[place] != qualifier
        return place[fits], qualifier[fits]


def _find_cuts(sizes: npt.NDArray[np.float64]) -> Integers:
    """Where to cut a list so that the sizes in each part add up to about WAYS_BLOCK at most."""
    cuts: Integers = np.flatnonzero(np.diff(np.cumsum(sizes) // WAYS_BLOCK)) + 1
    return cuts


def _drop_repeats(
    candidate: Integers, group: Integers, qualifier: Integers
) -> tuple[Integers, Integers, Integers]:
    """Each triple once; triples of one candidate and group stand together."""
    order = np.lexsort((qualifier, group, candidate))
    triples = np.stack((candidate, group, qualifier))[:, order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(triples) != 0).any(axis=0)
    kept, groups, qualifiers = triples[:, new]
    return kept, groups, qualifiers

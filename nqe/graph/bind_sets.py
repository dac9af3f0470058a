"""Binds the sets of patterns: which members stand in which slots of the facts that match."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from nqe.errors import TooManyBindings
from nqe.graph.arrays import Integers
from nqe.graph.fact_columns import Facts
from nqe.graph.pattern import FIRST_QUALIFIER, Kind, Matches, Patterns
from nqe.graph.ragged import ranges
from nqe.graph.restrictions import Restrictions

WAYS_BLOCK = 2_000_000
"""About this many ways to bind qualifiers are looked at together."""


@dataclass(frozen=True, eq=False)
class BoundSets:
    """The ways in which facts bind the sets of patterns, each once, ordered by pattern."""

    pattern: Integers  # (ways,)
    members: Integers  # (ways, sets) the member of each set of the pattern, -1 if it has fewer
    answer: Integers  # (ways,) the entity in the asked slot

    def __len__(self) -> int:
        return len(self.pattern)


def bind_sets(
    facts: Facts,
    entity_count: int,
    patterns: Patterns,
    matches: Matches,
    max_bindings: int | None = None,
) -> BoundSets:
    """Find, for facts that match patterns, which entities stand in the slots with sets.

    The sets of a pattern are numbered in the order of its slots.
    """
    join = _Join(facts, entity_count, patterns, max_bindings)
    cuts = [0, *join.cut(matches.pattern, matches.row).tolist(), len(matches.pattern)]
    blocks = [slice(first, last) for first, last in pairwise(cuts) if first < last]
    parts = [join.bind(matches.pattern[block], matches.row[block]) for block in blocks]
    columns = np.concatenate([np.zeros((join.width + 2, 0), dtype=np.int64), *parts], axis=1)
    pattern, answer, *members = _drop_repeats(columns)
    return BoundSets(
        pattern, np.stack(members, axis=1) if members else np.zeros((len(pattern), 0), int), answer
    )


class _Join:
    """Patterns, and the facts whose slots they bind."""

    def __init__(
        self, facts: Facts, entity_count: int, patterns: Patterns, max_bindings: int | None
    ) -> None:
        self.facts, self.patterns = facts, patterns
        self.restrictions = Restrictions(patterns, entity_count)
        self.max_bindings = max_bindings
        count, self.slot_counts = len(patterns), np.diff(patterns.first_slot)
        owner = np.repeat(np.arange(count), self.slot_counts)
        self.is_set = patterns.kind == Kind.SET
        before = np.append(0, np.cumsum(self.is_set))
        self.ordinal = before[:-1] - before[patterns.first_slot[owner]]
        self.width = int(np.bincount(owner[self.is_set], minlength=1).max(initial=0))
        place = np.arange(len(owner)) - patterns.first_slot[owner]
        wanted = (self.is_set | (place == patterns.asked[owner])) & (place >= FIRST_QUALIFIER)
        self.expands = np.bincount(owner[wanted], minlength=count) > 0

    def cut(self, pattern: Integers, row: Integers) -> Integers:
        """Where to cut matches so that each part has about WAYS_BLOCK ways at most."""
        ways = np.where(self.expands[pattern], self.facts.qualifier_count[row] + 1, 1)
        cuts: Integers = np.flatnonzero(np.diff(np.cumsum(ways) // WAYS_BLOCK)) + 1
        return cuts

    def bind(self, pattern: Integers, row: Integers) -> Integers:
        """The columns pattern, answer and members of each way, (columns, ways)."""
        ways = _Ways(pattern, row, np.full((self.width + 1, len(row)), -1))
        for place, column in enumerate((self.facts.subject, self.facts.object)):
            self._fill(ways, np.arange(len(row)), place, column[row])
        for place in range(FIRST_QUALIFIER, int(self.slot_counts.max(initial=0))):
            ways = self._expand(ways, place)
        return np.concatenate([ways.pattern[None], ways.values])

    def _fill(self, ways: _Ways, chosen: Integers, place: int, entity: Integers) -> None:
        """Enter the entities that some ways have in a slot, if it is asked for or has a set."""
        pattern = ways.pattern[chosen]
        slot = self.patterns.first_slot[pattern] + place
        asked = self.patterns.asked[pattern] == place
        ways.values[0, chosen[asked]] = entity[asked]
        in_set = self.is_set[slot]
        ways.values[1 + self.ordinal[slot[in_set]], chosen[in_set]] = entity[in_set]

    def _expand(self, ways: _Ways, place: int) -> _Ways:
        """Map the qualifier in one place of each pattern to each qualifier that fits."""
        has_slot = self.expands[ways.pattern] & (self.slot_counts[ways.pattern] > place)
        if not has_slot.any():
            return ways
        rest, chosen = np.flatnonzero(~has_slot), np.flatnonzero(has_slot)
        row = ways.row[chosen]
        counts = self.facts.qualifier_count[row]
        qualifier, way = ranges(self.facts.offset[row], counts), np.repeat(chosen, counts)
        slot = self.patterns.first_slot[ways.pattern[way]] + place
        fits = self.facts.attribute[qualifier] == self.patterns.attribute[slot]
        fits[fits] = self.restrictions.allow(slot[fits], self.facts.value[qualifier[fits]])
        for used in ways.used:
            fits &= used[way] != qualifier
        way, qualifier = way[fits], qualifier[fits]
        self._check_count(ways.pattern[way])
        new = ways.take(np.concatenate([rest, way]))
        filled = len(rest) + np.arange(len(way))
        self._fill(new, filled, place, self.facts.value[qualifier])
        unused = np.full(len(rest), -1)
        return replace(new, used=(*new.used, np.concatenate([unused, qualifier])))

    def _check_count(self, pattern: Integers) -> None:
        most = int(np.bincount(pattern, minlength=1).max())
        if self.max_bindings is not None and most > self.max_bindings:
            raise TooManyBindings(most, self.max_bindings)


@dataclass(frozen=True, eq=False)
class _Ways:
    """Ways to map the slots of patterns to facts, as far as they are mapped."""

    pattern: Integers  # (ways,)
    row: Integers  # (ways,)
    values: Integers  # (1 + sets, ways) the answer and the members, -1 if not mapped yet
    used: tuple[Integers, ...] = ()  # each (ways,): the qualifiers that are mapped to already

    def take(self, chosen: Integers) -> _Ways:
        """The given ways."""
        used = tuple(one[chosen] for one in self.used)
        return _Ways(self.pattern[chosen], self.row[chosen], self.values[:, chosen], used)


def _drop_repeats(columns: Integers) -> Iterator[Integers]:
    """The distinct rows of a table given as columns, ordered by its first column."""
    if columns.shape[1]:
        columns = columns[:, np.lexsort(columns[::-1])]
        new = np.ones(columns.shape[1], dtype=bool)
        new[1:] = (np.diff(columns) != 0).any(axis=0)
        columns = columns[:, new]
    return iter(columns)

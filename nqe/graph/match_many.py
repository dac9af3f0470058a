"""Matches many patterns with the index of a graph; each array operation works on all of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from nqe.errors import TooManyBindings
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.entity_set import distinct
from nqe.graph.index import Index
from nqe.graph.match_qualifiers import QualifierMatcher
from nqe.graph.pattern import FIRST_QUALIFIER, OBJECT, SUBJECT, Kind, Matches, Patterns
from nqe.graph.ragged import ranges, split_ranges
from nqe.graph.restrictions import Restrictions
from nqe.graph.sorted_search import find_places

# At most this many candidate facts exist at once, which bounds the memory for any batch.
BLOCK = 4_000_000
NOTHING = np.zeros(0, dtype=np.int64)
_NEVER = np.iinfo(np.int64).max


def match_patterns(index: Index, patterns: Patterns, max_bindings: int | None = None) -> Matches:
    """Match all patterns; raises if one of them would look at more than `max_bindings` facts."""
    matcher = _Matcher(index, patterns, max_bindings)
    largest = int(matcher.cost.max(initial=0))
    if max_bindings is not None and largest > max_bindings:
        raise TooManyBindings(largest, max_bindings)
    parts = [matcher.run(first, last) for first, last in _split_blocks(matcher.cost)]
    match_keys = np.concatenate([NOTHING, *(keys for keys, _ in parts)])
    answer_keys = np.concatenate([NOTHING, *(keys for _, keys in parts)])
    return Matches(
        len(patterns),
        *np.divmod(match_keys, max(len(index.facts), 1)),
        *np.divmod(answer_keys, max(index.entity_count, 1)),
    )


def _split_blocks(cost: Integers) -> Iterator[tuple[int, int]]:
    """Ranges of patterns that together have at most BLOCK candidates, or that have one pattern."""
    first, total = 0, 0
    for number, candidates in enumerate(cost.tolist()):
        if total and total + candidates > BLOCK:
            yield first, number
            first, total = number, 0
        total += candidates
    if first < len(cost):
        yield first, len(cost)


class _Matcher:
    """The patterns, and everything about them that does not depend on the candidate facts."""

    def __init__(self, index: Index, patterns: Patterns, max_bindings: int | None) -> None:
        self.index, self.facts, self.patterns = index, index.facts, patterns
        self.max_bindings = max_bindings
        self.restrictions = Restrictions(patterns, index.entity_count)
        _check_kinds(patterns.kind)
        slots = np.diff(patterns.first_slot)
        self.slot_pattern = np.repeat(np.arange(len(patterns)), slots)
        self.position = np.arange(len(self.slot_pattern)) - patterns.first_slot[self.slot_pattern]
        self.qualifier_count = slots - FIRST_QUALIFIER
        self.range_slot, self.range_start, self.range_length = self._find_ranges()
        slot_cost = np.bincount(
            self.range_slot, weights=self.range_length, minlength=len(self.slot_pattern)
        ).astype(np.int64)
        if len(patterns):
            self.cost = np.minimum.reduceat(slot_cost, patterns.first_slot[:-1])
        else:
            self.cost = NOTHING
        cheapest = np.flatnonzero(slot_cost == self.cost[self.slot_pattern])
        first = self.slot_pattern[cheapest].searchsorted(np.arange(len(patterns)))
        self.chosen = cheapest[first]  # (patterns,) the slot that yields the candidates
        self.qualifiers = QualifierMatcher(
            self.facts,
            patterns,
            self.slot_pattern,
            self.position,
            self.restrictions.allow,
            max_bindings,
        )

    # Candidates

    @cached_property
    def column(self) -> Integers:
        """The index's column of each slot; -1 if no fact has it."""
        index, patterns = self.index, self.patterns
        relation = patterns.relation[self.slot_pattern]
        column = 2 * relation + self.position
        qualifiers = np.flatnonzero(self.position >= FIRST_QUALIFIER)
        pairs = relation[qualifiers] * index.relation_count + patterns.attribute[qualifiers]
        places = index.pairs.searchsorted(pairs)
        known = places < len(index.pairs)
        known[known] = index.pairs[places[known]] == pairs[known]
        column[qualifiers] = np.where(known, 2 * index.relation_count + places, -1)
        return column

    def _find_ranges(self) -> tuple[Integers, Integers, Integers]:
        """Ranges of the index's entries that have each slot's facts: slot, start, length.

        A slot with a small set has one range per member; with a large one, the whole column.
        """
        patterns, entity_count = self.patterns, self.index.entity_count
        known = patterns.kind == Kind.KNOWN
        first = self.column * entity_count + np.where(known, patterns.filler, 0)
        single = np.flatnonzero(patterns.kind != Kind.SET)
        widths = np.where(known, 1, entity_count)
        single_ranges = self._find_keys(single, first[single], widths[single])
        least = np.full(len(patterns), _NEVER)
        np.minimum.at(least, self.slot_pattern[single], single_ranges[2])
        with_set = np.flatnonzero(patterns.kind == Kind.SET)
        sets = patterns.filler[with_set]
        sizes = np.diff(patterns.set_offset)[sets]
        listed = (patterns.inverted[sets] == 0) & (sizes < least[self.slot_pattern[with_set]])
        whole = with_set[~listed]
        whole_ranges = self._find_keys(whole, first[whole], np.full(len(whole), entity_count))
        slots = np.repeat(with_set[listed], sizes[listed])
        members = patterns.members[ranges(patterns.set_offset[sets[listed]], sizes[listed])]
        keys = self.column[slots] * entity_count + members
        member_ranges = self._find_keys(slots, keys, np.ones(len(keys), dtype=np.int64))
        empty = with_set[listed & (sizes == 0)]
        nothing = (empty, np.zeros_like(empty), np.zeros_like(empty))
        parts = zip(single_ranges, whole_ranges, member_ranges, nothing, strict=True)
        slot, start, length = (np.concatenate(part) for part in parts)
        return slot, start, length

    def _find_keys(
        self, slots: Integers, keys: Integers, widths: Integers
    ) -> tuple[Integers, Integers, Integers]:
        """For each slot, the range of the entries from its key up to its width after it."""
        start = find_places(self.index.keys, keys)
        length = find_places(self.index.keys, keys + widths) - start
        return slots, start, np.where(self.column[slots] < 0, 0, length)

    # Matching

    def run(self, first: int, last: int) -> tuple[Integers, Integers]:
        """Match the patterns from first to last; packed (pattern, row) and (pattern, answer)."""
        parts = [self._match(*block) for block in self._find_blocks(first, last)]
        if len(parts) == 1:
            return parts[0]
        matched, answered = (distinct(np.concatenate(part)) for part in zip(*parts, strict=True))
        return matched, answered

    def _match(
        self, owner: Integers, start: Integers, length: Integers
    ) -> tuple[Integers, Integers]:
        """Match the facts in ranges of the index's entries with the patterns that own them."""
        # No caller holds these arrays, so that their memory is used again at once.
        pattern, row = np.repeat(owner, length), self.index.rows[ranges(start, length)]
        keep = np.flatnonzero(self._main_fits(pattern, row))
        pattern, row = pattern[keep], row[keep]
        candidate, group, qualifier = self.qualifiers.match(pattern, row)
        groups = len(self.qualifiers.group_pattern) + 1
        satisfied = distinct(candidate * groups + group)
        satisfied_count = np.bincount(satisfied // groups, minlength=len(pattern))
        fits = satisfied_count == self.qualifiers.group_count[pattern]
        answered = fits[candidate] & (qualifier >= 0)
        asked = self.patterns.asked[pattern]
        from_subject = np.flatnonzero(fits & (asked == SUBJECT))
        from_object = np.flatnonzero(fits & (asked == OBJECT))
        owners = np.concatenate([from_subject, from_object, candidate[answered]])
        entities = np.concatenate(
            [
                self.facts.subject[row[from_subject]],
                self.facts.object[row[from_object]],
                self.facts.value[qualifier[answered]],
            ]
        )
        matched = distinct(pattern[fits] * max(len(self.facts), 1) + row[fits])
        return matched, distinct(pattern[owners] * self.index.entity_count + entities)

    def _find_blocks(self, first: int, last: int) -> Iterator[tuple[Integers, Integers, Integers]]:
        """Ranges of the index's entries that have the candidates of patterns: owner, start, length.

        A block of them has at most BLOCK candidates.
        """
        owner = self.slot_pattern[self.range_slot]
        used = self.chosen[owner] == self.range_slot
        used &= (owner >= first) & (owner < last)
        used = np.flatnonzero(used)
        starts, lengths = self.range_start[used], self.range_length[used]
        for part, start, length in split_ranges(starts, lengths, BLOCK):
            yield owner[used][part], start, length

    def _main_fits(self, pattern: Integers, row: Integers) -> Booleans:
        """Whether the number of qualifiers, the subject and the object fit the pattern."""
        extra = self.facts.qualifier_count[row] - self.qualifier_count[pattern]
        fits: Booleans = np.where(self.patterns.closed[pattern] == 1, extra == 0, extra >= 0)
        slot = self.patterns.first_slot[pattern]
        fits &= self.restrictions.allow(slot + SUBJECT, self.facts.subject[row])
        fits &= self.restrictions.allow(slot + OBJECT, self.facts.object[row])
        return fits


def _check_kinds(kind: Integers) -> None:
    unknown = kind[(kind < min(Kind)) | (kind > max(Kind))]
    if len(unknown):
        raise ValueError(f"unknown kind {unknown[0]} of a pattern's slot; choose one of {[*Kind]}")

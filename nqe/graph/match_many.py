"""Matches many patterns with the index of a graph; each array operation works on all of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from nqe.errors import TooManyBindings
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.assignment import assign, find_columns, list_columns, pack_rows
from nqe.graph.entity_set import distinct, sorted_contains
from nqe.graph.index import Index
from nqe.graph.pattern import FIRST_QUALIFIER, OBJECT, SUBJECT, Kind, Matches, Patterns
from nqe.graph.ragged import offsets, ranges

# At most this many candidate facts exist at once, which bounds the memory for any batch.
BLOCK = 4_000_000
# At most this many ways to map qualifiers are held at once.
WAYS_BLOCK = 2_000_000
# In a batch with more ways than that, a fact that alone has more than this is looked at by itself,
# by a method that does not try them all; for the limit of bindings it counts as so many.
MANY_WAYS = 5_000
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
        self._ways: dict[int, Any] = {}
        _check_kinds(patterns.kind)
        slots = np.diff(patterns.first_slot)
        self.slot_pattern = np.repeat(np.arange(len(patterns)), slots)
        self.position = np.arange(len(self.slot_pattern)) - patterns.first_slot[self.slot_pattern]
        self.qualifier_count = slots - FIRST_QUALIFIER
        self.asked_slot = patterns.first_slot[:-1] + patterns.asked
        self.range_slot, self.range_start, self.range_length = self._find_ranges()
        slot_cost = np.bincount(
            self.range_slot, weights=self.range_length, minlength=len(self.slot_pattern)
        ).astype(np.int64)
        if len(patterns):
            self.cost = np.minimum.reduceat(slot_cost, patterns.first_slot[:-1])
        else:
            self.cost = NOTHING
        cheapest = np.flatnonzero(slot_cost == self.cost[self.slot_pattern])
        _, first = np.unique(self.slot_pattern[cheapest], return_index=True)
        self.chosen = cheapest[first]  # (patterns,) the slot that yields the candidates

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
        start = self.index.keys.searchsorted(keys)
        length = self.index.keys.searchsorted(keys + widths) - start
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
        candidate, group, qualifier = self._match_qualifiers(pattern, row)
        satisfied = distinct(candidate * (len(self.group_pattern) + 1) + group)
        satisfied_count = np.bincount(
            satisfied // (len(self.group_pattern) + 1), minlength=len(pattern)
        )
        fits = satisfied_count == self.group_count[pattern]
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
        for part, start, length in split_ranges(self.range_start[used], self.range_length[used]):
            yield owner[used][part], start, length

    def _main_fits(self, pattern: Integers, row: Integers) -> Booleans:
        """Whether the number of qualifiers, the subject and the object fit the pattern."""
        extra = self.facts.qualifier_count[row] - self.qualifier_count[pattern]
        fits: Booleans = np.where(self.patterns.closed[pattern] == 1, extra == 0, extra >= 0)
        slot = self.patterns.first_slot[pattern]
        fits &= self._allowed(slot + SUBJECT, self.facts.subject[row])
        fits &= self._allowed(slot + OBJECT, self.facts.object[row])
        return fits

    @cached_property
    def _member_keys(self) -> Integers:
        sets = np.repeat(np.arange(len(self.patterns.inverted)), np.diff(self.patterns.set_offset))
        return sets * self.index.entity_count + self.patterns.members

    def _allowed(self, slot: Integers, entity: Integers) -> Booleans:
        """For each slot and entity, whether the slot allows the entity."""
        kind, filler = self.patterns.kind[slot], self.patterns.filler[slot]
        fits: Booleans = (kind != Kind.KNOWN) | (filler == entity)
        in_set = np.flatnonzero(kind == Kind.SET)
        if len(in_set):
            sets = filler[in_set]
            inverted = self.patterns.inverted[sets] == 1
            keys = sets * self.index.entity_count + entity[in_set]
            if len(self._member_keys):
                inverted ^= sorted_contains(self._member_keys, keys)
            fits[in_set] = inverted
        return fits

    # Qualifiers of one pattern with the same attribute form a group. A group must map injectively
    # to the fact's qualifiers with that attribute; groups do not compete with each other.

    @cached_property
    def _group_slots(self) -> Integers:
        """The qualifier slots, ordered by group."""
        slots = np.flatnonzero(self.position >= FIRST_QUALIFIER)
        order = np.lexsort((self.patterns.attribute[slots], self.slot_pattern[slots]))
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

    def _match_qualifiers(
        self, pattern: Integers, row: Integers
    ) -> tuple[Integers, Integers, Integers]:
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


def split_ranges(starts: Integers, lengths: Integers) -> Iterator[tuple[slice, Integers, Integers]]:
    """Ranges in blocks of at most BLOCK numbers: which ranges, their starts and their lengths."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    if total <= BLOCK:
        yield slice(None), starts, lengths
        return
    before = ends - lengths
    for low in range(0, total, BLOCK):
        high = low + BLOCK
        part = slice(int(ends.searchsorted(low, side="right")), int(ends.searchsorted(high)) + 1)
        first = np.maximum(low - before[part], 0)
        last = np.minimum(high - before[part], lengths[part])
        yield part, starts[part] + first, last - first


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


def _check_kinds(kind: Integers) -> None:
    unknown = kind[(kind < min(Kind)) | (kind > max(Kind))]
    if len(unknown):
        raise ValueError(f"unknown kind {unknown[0]} of a pattern's slot; choose one of {[*Kind]}")

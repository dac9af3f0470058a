"""Matches one pattern with the index of a graph, in as few array operations as possible."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from nqe.errors import TooManyBindings
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.entity_set import EntitySet, distinct, sorted_contains
from nqe.graph.index import Index
from nqe.graph.match_many import match_patterns
from nqe.graph.pattern import FIRST_QUALIFIER, SUBJECT, Pattern, Patterns, Restriction
from nqe.graph.ragged import ranges
from nqe.graph.sorted_search import find_ranges

# More candidates than this are looked at in blocks, which bounds the memory.
BLOCK = 1_000_000
# With so few candidates, to look for a more selective slot takes longer than it saves.
FEW = 32
# At most this many entities are looked up one by one; more of them in one array operation.
A_HANDFUL = 6
NO_SLOT = -1
NOTHING = np.zeros(0, dtype=np.int64)


class Candidates(NamedTuple):
    """Facts that may match a pattern, and the slot in which all of them are known to fit."""

    rows: Integers
    slot: int


def find_answers(index: Index, pattern: Pattern, max_bindings: int | None = None) -> EntitySet:
    """The entities in the asked slot of the facts that match a pattern."""
    if pattern.repeats_attribute:
        return match_patterns(index, Patterns.of([pattern]), max_bindings).answers()[0]
    asked = pattern.asked
    candidates = _find_candidates(index, pattern)
    if len(candidates.rows) > BLOCK:
        return EntitySet(_find_entities_in_blocks(index, pattern, candidates, max_bindings))
    if asked < FIRST_QUALIFIER:
        rows = _find_matching(index, pattern, candidates, None, max_bindings)
        return EntitySet(distinct(_main_column(index, asked)[rows]))
    rows = _find_matching(index, pattern, candidates, asked, max_bindings)
    qualifiers, _ = _find_qualifiers(index, rows, *pattern.qualifier(asked))
    return EntitySet(distinct(index.facts.value[qualifiers]))


def find_rows(index: Index, pattern: Pattern, max_bindings: int | None = None) -> Integers:
    """The rows of the facts that match a pattern, in ascending order."""
    if pattern.repeats_attribute:
        return match_patterns(index, Patterns.of([pattern]), max_bindings).row
    candidates = _find_candidates(index, pattern)
    if len(candidates.rows) <= BLOCK:
        return distinct(_find_matching(index, pattern, candidates, None, max_bindings))
    _check_limit(len(candidates.rows), max_bindings)
    blocks = _split(index, candidates)
    parts = [_find_matching(index, pattern, block, None, None) for block in blocks]
    return distinct(np.concatenate(parts))


def _find_entities_in_blocks(
    index: Index, pattern: Pattern, candidates: Candidates, limit: int | None
) -> Integers:
    """The entities in the asked slot of the candidates that match, in ascending order."""
    _check_limit(len(candidates.rows), limit)
    parts = [NOTHING]
    for block in _split(index, candidates):
        rows = _find_matching(index, pattern, block, None, None)
        if pattern.asked < FIRST_QUALIFIER:
            entities = _main_column(index, pattern.asked)[rows]
        else:
            qualifiers, _ = _find_qualifiers(index, rows, *pattern.qualifier(pattern.asked))
            entities = index.facts.value[qualifiers]
        parts.append(distinct(entities))
    return distinct(np.concatenate(parts))


def _check_limit(count: int, limit: int | None) -> None:
    if limit is not None and count > limit:
        raise TooManyBindings(count, limit)


def _split(index: Index, candidates: Candidates) -> Iterator[Candidates]:
    """Candidates in blocks that have about BLOCK facts and qualifiers at most."""
    sizes = 1 + index.facts.qualifier_count[candidates.rows]
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // BLOCK)) + 1
    for rows in np.split(candidates.rows, cuts):
        yield Candidates(rows, candidates.slot)


def _find_matching(
    index: Index, pattern: Pattern, candidates: Candidates, skipped: int | None, limit: int | None
) -> Integers:
    """Rows of matching facts, some perhaps twice; the skipped slot is not checked."""
    rows, chosen = candidates
    if limit is not None and len(rows) > limit:
        raise TooManyBindings(len(rows), limit)
    if not len(rows):
        return rows
    if pattern.closed:
        rows = rows[index.facts.qualifier_count[rows] == len(pattern.attributes)]
    for slot, restriction in enumerate(pattern.slots):
        if slot in (chosen, skipped) or (restriction is None and slot < FIRST_QUALIFIER):
            continue
        if len(rows):
            rows = rows[_fits(index, pattern, slot, restriction, rows)]
    return rows


def _find_candidates(index: Index, pattern: Pattern) -> Candidates:
    """The facts that fit the most selective slot."""
    start, end, chosen = 0, len(index.keys) + 1, NO_SLOT
    for slot, restriction in enumerate(pattern.slots):
        column = index.find_column(pattern.relation, slot, pattern.attributes)
        if column is None:
            return Candidates(NOTHING, slot)
        entity = None if isinstance(restriction, EntitySet) else restriction
        first, last = index.find_range(column, entity)
        if last - first < end - start:
            start, end = first, last
            chosen = NO_SLOT if isinstance(restriction, EntitySet) else slot
    if end - start > FEW:
        better = _find_fewer_by_sets(index, pattern, end - start)
        if better is not None:
            return better
    return Candidates(index.rows[start:end], chosen)


def _find_fewer_by_sets(index: Index, pattern: Pattern, least: int) -> Candidates | None:
    """The facts that fit a slot restricted to a set, if there are fewer than `least`."""
    best: Candidates | None = None
    for slot, restriction in enumerate(pattern.slots):
        if not isinstance(restriction, EntitySet) or restriction.inverted:
            continue
        if len(restriction.members) >= least:
            continue
        rows = _find_members(index, _existing_column(index, pattern, slot), restriction.members)
        if len(rows) < least:
            least, best = len(rows), Candidates(rows, slot)
    return best


def _find_members(index: Index, column: int, members: Integers) -> Integers:
    """The facts that have one of the members in a column."""
    if len(members) <= A_HANDFUL:
        bounds = [index.find_range(column, entity) for entity in members.tolist()]
        parts = [index.rows[start:end] for start, end in bounds if start < end]
        return parts[0] if len(parts) == 1 else np.concatenate([NOTHING, *parts])
    keys = column * index.entity_count + members
    return index.rows[ranges(*find_ranges(index.keys, keys))]


def _fits(
    index: Index, pattern: Pattern, slot: int, restriction: Restriction, rows: Integers
) -> Booleans:
    """For each fact, whether it fits the pattern in one slot."""
    if slot < FIRST_QUALIFIER:
        return _allowed(restriction, _main_column(index, slot)[rows])
    if isinstance(restriction, int):
        start, end = index.find_range(_existing_column(index, pattern, slot), restriction)
        if start == end:
            return np.zeros(len(rows), dtype=bool)
        return sorted_contains(index.rows[start:end], rows)
    _, owners = _find_qualifiers(index, rows, *pattern.qualifier(slot))
    fits = np.zeros(len(rows), dtype=bool)
    fits[owners] = True
    return fits


def _find_qualifiers(
    index: Index, rows: Integers, attribute: int, restriction: Restriction
) -> tuple[Integers, Integers]:
    """The qualifiers of the given facts that fit, and the position of each one's fact in `rows`."""
    # Written out, as `Facts.find_qualifiers` needs two more array operations.
    lengths = index.facts.qualifier_count[rows]
    qualifiers = ranges(index.facts.offset[rows], lengths)
    owners = np.repeat(np.arange(len(rows)), lengths)
    fits = index.facts.attribute[qualifiers] == attribute
    if restriction is not None:
        fits &= _allowed(restriction, index.facts.value[qualifiers])
    return qualifiers[fits], owners[fits]


def _allowed(restriction: Restriction, entities: Integers) -> Booleans:
    """For each entity, whether the restriction allows it."""
    if restriction is None:
        return np.ones(len(entities), dtype=bool)
    if isinstance(restriction, EntitySet):
        return restriction.contains(entities)
    same: Booleans = entities == restriction
    return same


def _main_column(index: Index, slot: int) -> Integers:
    return index.facts.subject if slot == SUBJECT else index.facts.object


def _existing_column(index: Index, pattern: Pattern, slot: int) -> int:
    column = index.find_column(pattern.relation, slot, pattern.attributes)
    assert column is not None, "a pattern with a missing column has no candidates"
    return column

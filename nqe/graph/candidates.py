"""Finds the facts that may match an atom, as ranges of the index's entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.atom_pattern import AtomPattern, Unknown
from nqe.graph.binding_table import BindingTable
from nqe.graph.index import Index
from nqe.graph.pattern import FIRST_QUALIFIER, SUBJECT
from nqe.graph.sorted_search import find_ranges

# If there are no more candidates per row in one slot, the other slots are not looked at.
_ENOUGH = 2
# From this many candidates on, it is worth the time to choose the slot for each row.
_MANY = 1_024
_NOTHING = np.zeros(0, dtype=np.int64)


class Candidates(NamedTuple):
    """Ranges of the index's entries that have all facts that may match."""

    slot: int | None
    """The slot in which all of them are known to fit."""
    starts: Integers
    lengths: Integers
    size: int
    """How many entries there are."""
    owner: Integers | None = None
    """For ranges that belong to rows of bindings, the row of each; None if that is its place."""


def find_by_names(index: Index, atom: AtomPattern) -> Candidates:
    """The facts that have an entity which the atom names, in the most selective slot."""
    if isinstance(atom.relation, Unknown):
        return _find_in_all_relations(index, atom)
    start, size, chosen = 0, len(index.keys) + 1, SUBJECT
    known = dict(atom.known)
    for slot in range(len(atom.slots)):
        column = index.find_column(atom.relation, slot, atom.attributes)
        if column is None:
            return Candidates(None, _NOTHING, _NOTHING, 0)
        first, last = index.find_range(column, known.get(slot))
        if last - first < size:
            start, size, chosen = first, last - first, slot
    fitting = chosen if chosen in known else None
    return Candidates(fitting, np.array([start]), np.array([size]), size)


def _find_in_all_relations(index: Index, atom: AtomPattern) -> Candidates:
    found = [
        _find_ranges(index, slot, _list_columns(index, atom, slot), np.array([entity]))
        for slot, entity in atom.known
    ]
    if found:
        return min(found, key=lambda one: one.size)
    first = np.array(index.column_start[: 2 * index.relation_count : 2], dtype=np.int64)
    last = np.array(index.column_start[1 : 2 * index.relation_count : 2], dtype=np.int64)
    return Candidates(None, first, last - first, len(index.facts))


def find_by_rows(index: Index, atom: AtomPattern, bindings: BindingTable) -> Candidates | None:
    """The facts of each row of some bindings that have an entity which the row binds.

    None if the bindings have no variable in a slot, or too many relations would have to be tried.
    """
    found: list[Candidates] = []
    for slot, variable in atom.unknown:
        if variable in bindings.columns:
            found += _find_of_rows(index, atom, slot, bindings.columns[variable], bindings)
            if found and found[-1].size <= _ENOUGH * len(bindings):
                return found[-1]
    if not found:
        return None
    best = min(found, key=lambda one: one.size)
    if best.size > _MANY and len(found) > 1:
        each = _choose_for_each_row(found)
        return each if 2 * each.size < best.size else best
    return best


def _find_of_rows(
    index: Index, atom: AtomPattern, slot: int, entities: Integers, bindings: BindingTable
) -> Iterator[Candidates]:
    """The facts that have one entity per row in a slot, or nothing if that cannot be looked up."""
    relation = atom.relation
    if not isinstance(relation, Unknown):
        column = index.find_column(relation, slot, atom.attributes)
        if column is None:
            nothing = np.zeros(len(entities), dtype=np.int64)
            yield Candidates(slot, nothing, nothing, 0)
        else:
            yield _find_ranges(index, slot, column, entities)
    elif relation.number in bindings.columns:
        relations = bindings.columns[relation.number]
        columns = index.find_columns(relations, slot, atom.attributes)
        yield _find_ranges(index, slot, columns, entities)
    else:
        columns = _list_columns(index, atom, slot)
        if len(columns) * len(entities) <= max(_MANY, len(index.facts)):
            owner = np.arange(len(entities)).repeat(len(columns))
            every = np.tile(columns, len(entities))
            yield _find_ranges(index, slot, every, entities[owner], owner)


def _find_ranges(
    index: Index,
    slot: int,
    column: Integers | int,
    entities: Integers,
    owner: Integers | None = None,
) -> Candidates:
    """Ranges of entries by columns and entities, one of which may be the same for all; -1: none."""
    keys = column * index.entity_count + entities
    starts, lengths = _look_up(index, keys)
    if not isinstance(column, int):
        lengths[column < 0] = 0
    return Candidates(slot, starts, lengths, int(lengths.sum()), owner)


def _look_up(index: Index, keys: Integers) -> tuple[Integers, Integers]:
    """Where the entries of keys start, and how many each has."""
    if len(keys) <= _MANY:
        return find_ranges(index.keys, keys)
    # Rows that were found for the same entity stand together.
    first = np.flatnonzero(np.diff(keys, prepend=keys[0] - 1))
    repeats = np.diff(first, append=len(keys))
    starts, lengths = find_ranges(index.keys, keys[first])
    return starts.repeat(repeats), lengths.repeat(repeats)


def _list_columns(index: Index, atom: AtomPattern, slot: int) -> Integers:
    """The columns of a slot of the facts of all relations."""
    if slot < FIRST_QUALIFIER:
        return 2 * np.arange(index.relation_count) + slot
    attribute = atom.attributes[slot - FIRST_QUALIFIER]
    pairs = np.flatnonzero(index.pairs % index.relation_count == attribute)
    return 2 * index.relation_count + pairs


def _choose_for_each_row(found: list[Candidates]) -> Candidates:
    """The shortest range of each row."""
    if any(one.owner is not None for one in found):
        return min(found, key=lambda one: one.size)
    lengths = np.stack([one.lengths for one in found])
    best = lengths.argmin(axis=0)
    rows = np.arange(lengths.shape[1])
    starts = np.stack([one.starts for one in found])[best, rows]
    shortest = lengths[best, rows]
    return Candidates(None, starts, shortest, int(shortest.sum()))

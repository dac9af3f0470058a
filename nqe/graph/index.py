"""The index of a graph: finds the facts that have an entity in a slot.

A *column* is a slot of the facts of one relation: the subject, the object, or the value of one
attribute. A sorted array of keys, (column, entity) packed into one number, leads to the facts with
that entity in that slot. nqe/graph/match_one.py matches one pattern with the index,
nqe/graph/match_many.py many patterns together.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.fact_columns import Facts
from nqe.graph.pattern import FIRST_QUALIFIER, Patterns


class Index:
    """The rows of facts, sorted by the columns and entities that they have."""

    def __init__(
        self,
        facts: Facts,
        entity_count: int,
        relation_count: int,
        pairs: Integers,
        keys: Integers,
        rows: Integers,
    ) -> None:
        self.facts, self.entity_count, self.relation_count = facts, entity_count, relation_count
        self.pairs = pairs  # (pairs,) relation * relation_count + attribute, ascending
        self.keys = keys  # (entries,) column * entity_count + entity, ascending
        self.rows = rows  # (entries,)
        # For one key, Python's bisect over a memory view is several times faster than searchsorted.
        self._keys = memoryview(cast(Any, keys))
        column_count = 2 * relation_count + len(pairs)
        starts = keys.searchsorted(np.arange(column_count + 1) * entity_count)
        self.column_start: list[int] = starts.tolist()  # (columns + 1,)
        self._pair_columns = {
            pair: 2 * relation_count + i for i, pair in enumerate(self.pairs.tolist())
        }

    @classmethod
    def of(cls, facts: Facts, entity_count: int, relation_count: int) -> Index:
        """Sort the rows of facts."""
        pairs = facts.relation[facts.qualifier_fact] * relation_count + facts.attribute
        pairs, pair_numbers = np.unique(pairs, return_inverse=True)
        columns = [2 * facts.relation, 2 * facts.relation + 1, 2 * relation_count + pair_numbers]
        entities = [facts.subject, facts.object, facts.value]
        keys = np.concatenate(columns) * entity_count + np.concatenate(entities)
        order = np.argsort(keys, kind="stable")
        rows = np.arange(len(facts))
        rows = np.concatenate([rows, rows, facts.qualifier_fact])[order]
        return cls(facts, entity_count, relation_count, pairs, keys[order], rows)

    def find_column(self, relation: int, slot: int, attributes: Sequence[int]) -> int | None:
        """The column of a pattern's slot; None if no fact of the relation has its attribute."""
        if slot < FIRST_QUALIFIER:
            return 2 * relation + slot
        attribute = attributes[slot - FIRST_QUALIFIER]
        return self._pair_columns.get(relation * self.relation_count + attribute)

    def find_columns(self, relation: Integers, slot: int, attributes: Sequence[int]) -> Integers:
        """The same for the slot in facts of many relations; -1 where there is none."""
        if slot < FIRST_QUALIFIER:
            return 2 * relation + slot
        return self._find_pairs(relation * self.relation_count + attributes[slot - FIRST_QUALIFIER])

    def find_asked_columns(self, patterns: Patterns) -> Integers:
        """The column of the slot that each pattern asks for; -1 if no fact has it."""
        attribute = patterns.attribute[patterns.first_slot[:-1] + patterns.asked]
        qualifiers = self._find_pairs(patterns.relation * self.relation_count + attribute)
        return np.where(attribute < 0, 2 * patterns.relation + patterns.asked, qualifiers)

    def _find_pairs(self, pairs: Integers) -> Integers:
        """The columns of pairs of a relation and an attribute; -1 if no fact has a pair."""
        places = np.minimum(self.pairs.searchsorted(pairs), max(len(self.pairs) - 1, 0))
        known = np.append(self.pairs, -1)[places] == pairs
        return np.where(known, 2 * self.relation_count + places, -1)

    def find_range(self, column: int, entity: int | None) -> tuple[int, int]:
        """Where the entries of an entity in a column start and end; None means all entities."""
        first, last = self.column_start[column], self.column_start[column + 1]
        if entity is None:
            return first, last
        key = column * self.entity_count + entity
        start = bisect_left(self._keys, key, first, last)
        return start, bisect_right(self._keys, key, start, last)

    def count_entities(self, column: int) -> tuple[Integers, Integers]:
        """The entities in a column, ascending, and the number of entries of each."""
        first, last = self.column_start[column], self.column_start[column + 1]
        entities = self.keys[first:last] - column * self.entity_count
        starts = np.flatnonzero(np.diff(entities, prepend=-1))
        return entities[starts], np.diff(starts, append=len(entities))

    def count_attributes(self, relation: int) -> tuple[Integers, Integers]:
        """The attributes of a relation's facts, ascending, and the number of entries of each."""
        first_pair = relation * self.relation_count
        first, last = self.pairs.searchsorted([first_pair, first_pair + self.relation_count])
        offset = 2 * self.relation_count
        starts = self.column_start[offset + first : offset + last + 1]
        return self.pairs[first:last] - first_pair, np.diff(starts)

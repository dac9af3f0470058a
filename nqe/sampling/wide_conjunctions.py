"""Wide conjunctions: training queries of 4 to 16 one-hop queries that share an answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.entity_set import sorted_contains
from nqe.graph.ragged import Ragged, offsets, ranges
from nqe.query.shapes import Shape
from nqe.sampling.query_table import QueryTable, empty

LEAST_PARTS, MOST_PARTS = 4, 16
_POWER = 0.5
"""An entity is drawn as often as the number of queries it answers, to this power."""


@dataclass(frozen=True, eq=False)
class WideConjunctions:
    """Draws conjunctions of one-hop queries; each has an answer that all its parts share."""

    one_hop: QueryTable
    """Queries of one step, with all their answers in ascending order."""
    least: int = LEAST_PARTS
    most: int = MOST_PARTS

    @cached_property
    def can_draw(self) -> bool:
        """Whether any entity answers enough queries."""
        return bool(len(self._entities))

    def draw(self, count: int, rng: np.random.Generator) -> QueryTable:
        """Draw conjunctions, each from a random entity and some of the queries it answers."""
        if not count or not self.can_draw:
            return empty()
        total = self._cumulative[-1]
        entity = self._entities[np.searchsorted(self._cumulative, rng.random(count) * total)]
        available = self._queries_of.lengths[entity]
        size = rng.integers(self.least, np.minimum(available, self.most) + 1)
        places = draw_distinct(available, size, rng)
        parts = self._queries_of.values[np.repeat(self._queries_of.offset[entity], size) + places]
        return self.conjoin(Ragged(offsets(size), parts))

    def conjoin(self, parts: Ragged) -> QueryTable:
        """Return the conjunction of the one-hop queries in each row, with all its answers."""
        names = {size: _name(size) for size in set(parts.lengths.tolist())}
        plans = self.one_hop.plans.take(parts.values).conjoin(parts.lengths)
        shapes = tuple(map(names.__getitem__, parts.lengths.tolist()))
        return QueryTable.of(shapes, plans, self._shared_answers(parts))

    def _shared_answers(self, parts: Ragged) -> Ragged:
        """Return the answers of the part with the fewest, if all other parts have them too."""
        lengths = self.one_hop.easy.lengths[parts.values]
        order = np.lexsort((lengths, parts.owner))
        smallest = self.one_hop.easy.take(parts.values[order[parts.offset[:-1]]])
        answer, owner = smallest.values, smallest.owner
        sizes = parts.lengths[owner]
        part = parts.values[ranges(parts.offset[owner], sizes)]
        pairs = self._keys_of(part, np.repeat(answer, sizes))
        is_answer = sorted_contains(self._keys, pairs)
        shared = _all_of_each(is_answer, sizes)
        return Ragged.group(answer[shared], owner[shared], len(parts))

    def _keys_of(self, query: Integers, entity: Integers) -> Integers:
        return query * self._entity_count + entity

    @cached_property
    def _entity_count(self) -> int:
        return int(self.one_hop.easy.values.max(initial=-1)) + 1

    @cached_property
    def _keys(self) -> Integers:
        """Pairs of a query and an answer as one number, ascending."""
        return self._keys_of(self.one_hop.easy.owner, self.one_hop.easy.values)

    @cached_property
    def _queries_of(self) -> Ragged:
        """The queries that each entity answers."""
        answers = self.one_hop.easy
        order = np.argsort(answers.values, kind="stable")
        return Ragged.group(answers.owner[order], answers.values[order], self._entity_count)

    @cached_property
    def _entities(self) -> Integers:
        """The entities that answer enough queries."""
        return np.flatnonzero(self._queries_of.lengths >= self.least)

    @cached_property
    def _cumulative(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """The cumulative frequency of each of these entities."""
        frequency: np.ndarray[tuple[int], np.dtype[np.float64]]
        frequency = np.cumsum(self._queries_of.lengths[self._entities] ** _POWER)
        return frequency


def draw_distinct(available: Integers, size: Integers, rng: np.random.Generator) -> Integers:
    """Draw, for each row, `size` distinct numbers below `available`, one row after another.

    This is Floyd's algorithm for all rows at once: the i-th number is drawn from the first
    `available - size + i + 1`, and if it is taken already, the last of these is used instead.
    """
    most = int(size.max(initial=0))
    drawn = np.full((len(size), most), -1, dtype=np.int64)
    for i in range(most):
        last = np.maximum(available - size + i, 0)
        number = rng.integers(last + 1)
        taken = (drawn[:, :i] == number[:, None]).any(1)
        drawn[:, i] = np.where(taken, last, number)
    return drawn[np.arange(most) < size[:, None]]


def _all_of_each(marked: Booleans, lengths: Integers) -> Booleans:
    """Whether each run of the given length, one after another, is marked throughout."""
    start = offsets(lengths)[:-1]
    every: Booleans = np.logical_and.reduceat(marked, start) if len(start) else marked
    return every


def _name(size: int) -> str:
    """Return the name of the shape of a conjunction of that many one-hop queries."""
    return Shape("And", (Shape("P"),) * size).name

"""Relation queries: facts that each miss one relation, with the relations that complete them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nqe.graph import fact_columns, ragged
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.fact_columns import Facts
from nqe.graph.graph import Graph
from nqe.graph.ragged import Ragged

MASKED = -1
"""Stands for the relation, or the attribute of a qualifier, that is asked for."""
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
"""A large odd number by which numbers are multiplied to scatter them."""
Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class RelationQueries:
    """Different facts with one relation or attribute masked, and the relations that complete them.

    A query is closed: a relation is an answer if a fact has it together with just the entities and
    the other relations of the query. A masked attribute is that of the first qualifier.
    """

    facts: Facts  # (queries,) MASKED in place of one relation each
    easy: Ragged  # (queries,) answers that are known
    hard: Ragged  # (queries,) answers to be predicted

    @classmethod
    def empty(cls) -> RelationQueries:
        """No queries."""
        return cls(Facts.empty(), Ragged.empty(0), Ragged.empty(0))

    def __len__(self) -> int:
        return len(self.facts)

    @property
    def asks_attribute(self) -> Booleans:
        """Whether each query asks for the attribute of a qualifier, not for the main relation."""
        asks: Booleans = self.facts.relation != MASKED
        return asks

    def take(self, rows: Integers) -> RelationQueries:
        """The given queries, in the given order."""
        return RelationQueries(self.facts.take(rows), self.easy.take(rows), self.hard.take(rows))


def make_relation_queries(facts: Facts) -> RelationQueries:
    """Return all relation queries that the facts answer, each once with all its answers as easy."""
    return _make(facts, np.zeros(len(facts), dtype=bool))


def make_relation_link_queries(facts: Facts, graph: Graph) -> RelationQueries:
    """Return the relation queries about some facts, for link prediction.

    The hard answers are the relations that the facts have in the asked slot. The easy answers are
    the other relations that complete the query to a fact of the graph.
    """
    both = fact_columns.concatenate([facts, graph.facts])
    queries = _make(both, np.arange(len(both)) < len(facts))
    return queries.take(np.flatnonzero(queries.hard.lengths))


def choose_part(facts: Facts, part: int, parts: int) -> Facts:
    """Return one of several parts of the facts, of about the same size each.

    Facts that answer the same relation query have the same entities, so they are in the same part.
    """
    values = np.zeros(len(facts), dtype=np.uint64)
    np.add.at(values, facts.qualifier_fact, _scatter(facts.value.astype(np.uint64)))
    ends = _scatter(facts.subject.astype(np.uint64)) + facts.object.astype(np.uint64)
    number = _scatter(_scatter(ends) + values) % np.uint64(parts)
    return facts.take(np.flatnonzero(number == part))


def _scatter(numbers: Hashes) -> Hashes:
    """Return numbers that look random, and are the same for the same numbers."""
    mixed = (numbers + np.uint64(1)) * _FACTOR
    return mixed ^ (mixed >> np.uint64(32))


def _make(facts: Facts, marked: Booleans) -> RelationQueries:
    """Return the different queries of facts; answers from marked facts are hard."""
    counts = facts.qualifier_count
    return _concatenate(
        _make_of_size(facts, np.flatnonzero(counts == size), marked, size)
        for size in np.unique(counts).tolist()
    )


def _make_of_size(facts: Facts, chosen: Integers, marked: Booleans, size: int) -> RelationQueries:
    """Return the queries of the chosen facts, which all have `size` qualifiers.

    A query is a fact without the relation in the asked slot. All facts that give the same query
    answer it by the relation that they have there.
    """
    asked = np.repeat(np.arange(-1, size), len(chosen))  # -1 for the main relation
    rows, answer = _mask(facts, np.tile(chosen, size + 1), asked, size)
    mark = np.tile(marked[chosen], size + 1)
    order = np.lexsort((answer, *rows.T[::-1]))
    rows, answer, mark = rows[order], answer[order], mark[order]
    new_query = np.append(True, (np.diff(rows, axis=0) != 0).any(1))
    first = np.flatnonzero(new_query | np.append(True, np.diff(answer) != 0))
    hard = np.logical_or.reduceat(mark, first)
    owner, answer = (np.cumsum(new_query) - 1)[first], answer[first]
    queries = _to_facts(rows[new_query], size)
    return RelationQueries(
        queries,
        Ragged.group(answer[~hard], owner[~hard], len(queries)),
        Ragged.group(answer[hard], owner[hard], len(queries)),
    )


def _mask(facts: Facts, fact: Integers, asked: Integers, size: int) -> tuple[Integers, Integers]:
    """Return facts as rows [s, r, o, a1, v1, …] with the asked relation masked, and what it was.

    The qualifier of an asked attribute comes first, because queries that differ only in its place
    are the same.
    """
    place = np.arange(size)
    front = np.maximum(asked, 0)[:, None]
    # The qualifiers before the asked one move back by one place.
    source = np.where(place == 0, front, place - (place <= front))  # (rows, size)
    pair = facts.offset[fact][:, None] + source
    rows = np.empty((len(fact), 3 + 2 * size), dtype=np.int64)
    for column, numbers in enumerate((facts.subject, facts.relation, facts.object)):
        rows[:, column] = numbers[fact]
    rows[:, 3::2], rows[:, 4::2] = facts.attribute[pair], facts.value[pair]
    at = np.where(asked < 0, 1, 3)
    everywhere = np.arange(len(rows))
    answer = rows[everywhere, at]
    rows[everywhere, at] = MASKED
    return rows, answer


def _to_facts(rows: Integers, size: int) -> Facts:
    return Facts(
        rows[:, 0],
        rows[:, 1],
        rows[:, 2],
        np.arange(len(rows) + 1) * size,
        rows[:, 3::2].ravel(),
        rows[:, 4::2].ravel(),
        np.ones(len(rows), dtype=np.int64),
    )


def _concatenate(parts: Iterable[RelationQueries]) -> RelationQueries:
    parts = list(parts)
    if not parts:
        return RelationQueries.empty()
    return RelationQueries(
        fact_columns.concatenate([part.facts for part in parts]),
        ragged.concatenate([part.easy for part in parts]),
        ragged.concatenate([part.hard for part in parts]),
    )

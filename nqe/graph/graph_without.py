"""A graph as if some of its facts were not known, with the index of the whole graph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.atom_pattern import AtomPattern
from nqe.graph.bind_sets import bind_sets
from nqe.graph.entity_set import EntitySet
from nqe.graph.graph import Graph
from nqe.graph.join_atom import AtomFacts
from nqe.graph.pattern import OBJECT, SUBJECT, Matches, Pattern, Patterns
from nqe.graph.sorted_search import find_ranges

_NOTHING = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class GraphWithout(Graph):
    """A graph in which some rows match no pattern; all rows keep their numbers.

    What is told about relations as a whole, such as `relation_profile`, is that of all facts.
    """

    left_out: Integers  # (rows,) ascending

    @classmethod
    def leave_out(cls, graph: Graph, rows: Integers) -> GraphWithout:
        """A graph without the facts of some rows; the index is not built again."""
        found = cls(graph.vocabulary, graph.facts, np.unique(rows))
        found.__dict__["index"] = graph.index
        return found

    def __len__(self) -> int:
        return len(self.facts) - len(self.left_out)

    def match_one(self, pattern: Pattern, max_bindings: int | None = None) -> EntitySet:
        """The entities in the asked slot of the facts that match a pattern."""
        [found] = self.match_many(Patterns.of([pattern]), max_bindings).answers()
        return found

    def match_many(self, patterns: Patterns, max_bindings: int | None = None) -> Matches:
        """The matching facts and the answers of many patterns, which are matched together."""
        found = super().match_many(patterns, max_bindings)
        kept = ~np.isin(found.row, self.left_out)
        if kept.all():
            return found
        rows = found.pattern[kept], found.row[kept]
        some = Matches(found.pattern_count, *rows, _NOTHING, _NOTHING)
        bound = bind_sets(self.facts, self.entity_count, patterns, some, max_bindings)
        answers = np.unique(bound.pattern * self.entity_count + bound.answer)
        return Matches(found.pattern_count, *rows, *np.divmod(answers, self.entity_count))

    def prepare(self, atom: AtomPattern, max_bindings: int | None = None) -> AtomFacts:
        """The facts that may match an atom, to join them with bindings of its variables."""
        return AtomFacts(self.index, atom, max_bindings, self.left_out)

    def has_stood(self, patterns: Patterns, pattern: Integers, entity: Integers) -> Booleans:
        """Whether any fact of a pattern's relation has an entity in the slot it asks for."""
        stood = super().has_stood(patterns, pattern, entity)
        column = self.index.find_asked_columns(patterns)[pattern]
        return stood & ~np.isin(column * self.entity_count + entity, self._gone)

    def matches(self, pattern: Pattern, max_bindings: int | None = None) -> Integers:
        """The rows of the facts that match a pattern, in ascending order."""
        return np.setdiff1d(super().matches(pattern, max_bindings), self.left_out)

    def mentions(self, entity: int) -> Integers:
        """The rows of the facts that have an entity in any slot, in ascending order."""
        return np.setdiff1d(super().mentions(entity), self.left_out)

    @cached_property
    def _gone(self) -> Integers:
        """The keys of the index, a slot and an entity each, that only facts left out have."""
        keys, counts = np.unique(self._list_keys(), return_counts=True)
        _, stated = find_ranges(self.index.keys, keys)
        gone: Integers = keys[stated == counts]
        return gone

    def _list_keys(self) -> Integers:
        """The keys of all slots of the facts that are left out."""
        facts, index, rows = self.facts, self.index, self.left_out
        columns = [2 * facts.relation[rows] + slot for slot in (SUBJECT, OBJECT)]
        found = facts.find_qualifiers(rows)
        pairs, relation = found.values, facts.relation[rows[found.owner]]
        place = index.pairs.searchsorted(relation * self.relation_count + facts.attribute[pairs])
        columns.append(2 * self.relation_count + place)
        entities = (facts.subject[rows], facts.object[rows], facts.value[pairs])
        return np.concatenate(columns) * self.entity_count + np.concatenate(entities)

"""A graph in memory: a vocabulary, the facts in columns, and the index that matches patterns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nqe.errors import NqeError
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.atom_pattern import AtomPattern
from nqe.graph.bind_sets import BoundSets, bind_sets
from nqe.graph.builder import DatasetBuilder
from nqe.graph.entity_set import EntitySet, sorted_contains
from nqe.graph.fact import Fact
from nqe.graph.fact_columns import Facts
from nqe.graph.index import Index
from nqe.graph.join_atom import AtomFacts
from nqe.graph.match_many import match_patterns
from nqe.graph.match_one import find_answers, find_rows
from nqe.graph.pattern import Matches, Pattern, Patterns
from nqe.graph.relation_profile import RelationProfile
from nqe.graph.vocabulary import Description, Vocabulary


@dataclass(frozen=True, eq=False)
class Graph:
    """Facts over a vocabulary. Immutable; the index is built when first needed, or was saved."""

    vocabulary: Vocabulary
    facts: Facts

    @classmethod
    def of(cls, facts: Iterable[Fact]) -> Graph:
        """A graph of facts given by ids."""
        builder = DatasetBuilder()
        collector = builder.split("all")
        for fact in facts:
            collector.add(fact)
        vocabulary, splits = builder.finish()
        return cls(vocabulary, splits["all"])

    @classmethod
    def of_index(cls, vocabulary: Vocabulary, index: Index) -> Graph:
        """A graph of facts that have an index already."""
        graph = cls(vocabulary, index.facts)
        graph.__dict__["index"] = index
        return graph

    @property
    def entity_count(self) -> int:
        """The number of entities in the vocabulary."""
        return len(self.vocabulary.entities)

    @property
    def relation_count(self) -> int:
        """The number of relations in the vocabulary, attributes included."""
        return len(self.vocabulary.relations)

    @cached_property
    def index(self) -> Index:
        """The facts by the entities in their slots."""
        return Index.of(self.facts, self.entity_count, self.relation_count)

    @cached_property
    def relation_profile(self) -> RelationProfile:
        """Which relations take one value, and which entities stand in which of their slots."""
        return RelationProfile.of(self.facts, self.entity_count, self.relation_count)

    def __len__(self) -> int:
        return len(self.facts)

    def __repr__(self) -> str:
        names = f"{self.entity_count:,} entities, {self.relation_count:,} relations"
        return f"<Graph of {len(self):,} facts, {names}>"

    def __iter__(self) -> Iterator[Fact]:
        return map(self.fact, range(len(self)))

    def __eq__(self, other: object) -> bool:
        """Whether both have the same ids and the same facts, stated as often."""
        if not isinstance(other, Graph):
            return NotImplemented
        return self.vocabulary.same_ids(other.vocabulary) and self.facts.equals(other.facts)

    __hash__ = None  # type: ignore[assignment]

    def fact(self, row: int) -> Fact:
        """The fact of one row, in ids."""
        entity, relation = self.vocabulary.entities.ids, self.vocabulary.relations.ids
        subject, main, object_, pairs = self.facts.row(row)
        qualifiers = tuple((relation[attribute], entity[value]) for attribute, value in pairs)
        return Fact(entity[subject], relation[main], entity[object_], qualifiers)

    def describe(self, descriptions: Mapping[str, Description]) -> Graph:
        """The same graph with labels, descriptions and aliases added."""
        return replace(self, vocabulary=self.vocabulary.describe(descriptions))

    def answers(self, pattern: Pattern, max_bindings: int | None = None) -> EntitySet:
        """The entities in the asked slot of the facts that match a pattern."""
        self._check(pattern)
        return self.match_one(pattern, max_bindings)

    def answers_many(
        self, patterns: Sequence[Pattern] | Patterns, max_bindings: int | None = None
    ) -> list[EntitySet]:
        """The answers of each pattern; all of them are matched together.

        `Patterns` are taken as checked.
        """
        if not isinstance(patterns, Patterns):
            for pattern in patterns:
                self._check(pattern)
            patterns = Patterns.of(patterns)
        return self.match_many(patterns, max_bindings).answers()

    def match_one(self, pattern: Pattern, max_bindings: int | None = None) -> EntitySet:
        """The same as `answers`, without the check that the pattern fits this graph."""
        return find_answers(self.index, pattern, max_bindings)

    def match_many(self, patterns: Patterns, max_bindings: int | None = None) -> Matches:
        """The matching facts and the answers of many patterns, which are matched together."""
        return match_patterns(self.index, patterns, max_bindings)

    def bind_many(self, patterns: Patterns, max_bindings: int | None = None) -> BoundSets:
        """The members of the patterns' sets that stand together in facts, with the answers."""
        found = self.match_many(patterns, max_bindings)
        return bind_sets(self.facts, self.entity_count, patterns, found, max_bindings)

    def prepare(self, atom: AtomPattern, max_bindings: int | None = None) -> AtomFacts:
        """The facts that may match an atom, to join them with bindings of its variables."""
        return AtomFacts(self.index, atom, max_bindings)

    def has_stood(self, patterns: Patterns, pattern: Integers, entity: Integers) -> Booleans:
        """Whether any fact of a pattern's relation has an entity in the slot it asks for.

        `pattern` is the pattern of each entity. Of a qualifier, the attribute counts as well.
        """
        column = self.index.find_asked_columns(patterns)[pattern]
        keys = column * self.entity_count + entity
        if not len(self.index.keys):
            return np.zeros(len(keys), dtype=bool)
        return sorted_contains(self.index.keys, keys) & (column >= 0)

    def has_slot(self, pattern: Pattern) -> bool:
        """Whether any fact of a pattern's relation has the slot that the pattern asks for."""
        column = self.index.find_column(pattern.relation, pattern.asked, pattern.attributes)
        if column is None:
            return False
        first, last = self.index.find_range(column, None)
        return first < last

    def find_common(self, pattern: Pattern, count: int) -> list[int]:
        """At most `count` of the entities that stand in the slot that a pattern asks for.

        Those that most facts of its relation have there come first, equal ones by id.
        """
        column = self.index.find_column(pattern.relation, pattern.asked, pattern.attributes)
        if column is None:
            return []
        entities, counts = self.index.count_entities(column)
        order = np.lexsort((self.vocabulary.entities.id_order[entities], -counts))
        found: list[int] = entities[order[:count]].tolist()
        return found

    def find_common_attributes(self, relation: int, count: int) -> list[int]:
        """At most `count` attributes of the facts of a relation, the most frequent first."""
        attributes, counts = self.index.count_attributes(relation)
        order = np.lexsort((self.vocabulary.relations.id_order[attributes], -counts))
        found: list[int] = attributes[order[:count]].tolist()
        return found

    def matches(self, pattern: Pattern, max_bindings: int | None = None) -> Integers:
        """The rows of the facts that match a pattern, in ascending order."""
        self._check(pattern)
        return find_rows(self.index, pattern, max_bindings)

    def _check(self, pattern: Pattern) -> None:
        """Refuse numbers that are not in the vocabulary, such as those of another graph."""
        entities, relations = self.entity_count, self.relation_count
        # Plain loops, because this runs once for each of many patterns.
        for number in (pattern.relation, *pattern.attributes):
            if not 0 <= number < relations:
                raise self._lacks(pattern)
        for slot in pattern.slots:
            if isinstance(slot, int) and not 0 <= slot < entities:
                raise self._lacks(pattern)

    def _lacks(self, pattern: Pattern) -> NqeError:
        return NqeError(f"{pattern} has a number that {self!r} lacks; look names up in it")

    def mentions(self, entity: int) -> Integers:
        """The rows of the facts that have an entity in any slot, in ascending order."""
        facts = self.facts
        found = (facts.subject == entity) | (facts.object == entity)
        found[facts.qualifier_fact[facts.value == entity]] = True
        return np.flatnonzero(found)

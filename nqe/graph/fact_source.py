"""The interface to facts: what query runners ask of a graph, whatever holds its facts."""

from __future__ import annotations

from typing import Protocol

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.atom_pattern import AtomPattern
from nqe.graph.bind_sets import BoundSets
from nqe.graph.entity_set import EntitySet
from nqe.graph.fact import Fact
from nqe.graph.fact_columns import Facts
from nqe.graph.join_atom import AtomFacts
from nqe.graph.pattern import Matches, Pattern, Patterns
from nqe.graph.vocabulary import Vocabulary


class FactSource(Protocol):
    """Distinct facts over a vocabulary, numbered by row from 0, that patterns can be matched with.

    `Graph` is the fact source in memory. Patterns hold numbers of the vocabulary. With
    `max_bindings`, a match that would look at more facts than that raises `TooManyBindings`.
    """

    @property
    def vocabulary(self) -> Vocabulary:
        """The names of the entities and relations."""

    @property
    def entity_count(self) -> int:
        """The number of entities in the vocabulary."""

    @property
    def relation_count(self) -> int:
        """The number of relations in the vocabulary, attributes included."""

    @property
    def facts(self) -> Facts:
        """All facts as columns, in the order of their rows."""

    def __len__(self) -> int:
        """The number of facts."""

    def match_one(self, pattern: Pattern, max_bindings: int | None = None) -> EntitySet:
        """The entities in the asked slot of the facts that match one pattern.

        The pattern's numbers are not checked; this is the fast path for a single pattern.
        """

    def match_many(self, patterns: Patterns, max_bindings: int | None = None) -> Matches:
        """The matching facts and the answers of many patterns, which are matched together."""

    def bind_many(self, patterns: Patterns, max_bindings: int | None = None) -> BoundSets:
        """The members of the patterns' sets that stand together in facts, with the answers."""

    def prepare(self, atom: AtomPattern, max_bindings: int | None = None) -> AtomFacts:
        """The facts that may match an atom, to join them with bindings of its variables."""

    def has_stood(self, patterns: Patterns, pattern: Integers, entity: Integers) -> Booleans:
        """Whether any fact of a pattern's relation has an entity in the slot it asks for.

        `pattern` is the pattern of each entity. Of a qualifier, the attribute counts as well.
        """

    def has_slot(self, pattern: Pattern) -> bool:
        """Whether any fact of a pattern's relation has the slot that the pattern asks for."""

    def find_common(self, pattern: Pattern, count: int) -> list[int]:
        """At most `count` of the entities that stand in the slot that a pattern asks for.

        Those that most facts of its relation have there come first, equal ones by id.
        """

    def find_common_attributes(self, relation: int, count: int) -> list[int]:
        """At most `count` attributes of the facts of a relation, the most frequent first."""

    def matches(self, pattern: Pattern, max_bindings: int | None = None) -> Integers:
        """The rows of the facts that match a pattern, in ascending order."""

    def fact(self, row: int) -> Fact:
        """The fact of one row, in ids."""

    def mentions(self, entity: int) -> Integers:
        """The rows of the facts that have an entity in any slot, in ascending order."""

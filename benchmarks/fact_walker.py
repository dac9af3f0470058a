"""Picks facts of a graph at random: paths, cycles, and facts with times and numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from random import Random
from typing import NamedTuple

import numpy as np

from nqe.graph import Fact, Graph
from nqe.graph.literals import parse_id
from nqe.graph.number_values import Number
from nqe.graph.time_values import Time


class ValuedFact(NamedTuple):
    """A fact with a time or a number."""

    fact: Fact
    attribute: str | None
    """Of which qualifier it is the value; None if it is the fact's object."""
    value: str


class Walker:
    """Picks facts at random, only of relations that do not have too many of them."""

    def __init__(self, graph: Graph, seed: int, largest_relation: int | None = None) -> None:
        self.rng = Random(seed)
        relations = graph.facts.relation
        most = len(graph) if largest_relation is None else largest_relation
        rows = np.flatnonzero(np.bincount(relations)[relations] <= most)
        self.facts = [graph.fact(row) for row in rows.tolist()]

    # What the facts link

    @cached_property
    def at(self) -> Mapping[str, list[Fact]]:
        """The facts of each subject and object."""
        found: defaultdict[str, list[Fact]] = defaultdict(list)
        for fact in self.facts:
            for entity in dict.fromkeys((fact.subject, fact.object)):
                found[entity].append(fact)
        return found

    @cached_property
    def between(self) -> Mapping[frozenset[str], list[Fact]]:
        """The facts of each pair of a subject and an object, in either direction."""
        found: defaultdict[frozenset[str], list[Fact]] = defaultdict(list)
        for fact in self.facts:
            if fact.subject != fact.object:
                found[frozenset((fact.subject, fact.object))].append(fact)
        return found

    @cached_property
    def twice_linked(self) -> list[list[Fact]]:
        """The facts of each pair that several relations link."""
        return [
            facts for facts in self.between.values() if len({one.relation for one in facts}) > 1
        ]

    @cached_property
    def of_relation(self) -> Mapping[str, list[Fact]]:
        """The facts of each relation."""
        found: defaultdict[str, list[Fact]] = defaultdict(list)
        for fact in self.facts:
            found[fact.relation].append(fact)
        return found

    @cached_property
    def qualified(self) -> list[Fact]:
        """The facts with qualifiers."""
        return [fact for fact in self.facts if fact.qualifiers]

    def list_neighbours(self, entity: str, besides: Iterable[str] = ()) -> list[str]:
        """The entities that facts link with this one."""
        ends = {end for fact in self.at[entity] for end in (fact.subject, fact.object)}
        return sorted(ends.difference((entity, *besides)))

    def pick_link(self, one: str, other: str) -> Fact:
        """A fact that links two entities."""
        return self.rng.choice(self.between[frozenset((one, other))])

    def pick_two_links(self) -> tuple[Fact, Fact]:
        """Two facts of different relations between the same two entities."""
        facts = self.rng.choice(self.twice_linked)
        link = self.rng.choice(facts)
        return link, self.rng.choice([one for one in facts if one.relation != link.relation])

    # Paths and cycles

    def pick_path(self, length: int, start: str | None = None) -> list[str] | None:
        """Different entities, each linked with the next; None if the walk ends early."""
        path = [start or self.rng.choice(self.facts).subject]
        while len(path) < length:
            found = self.list_neighbours(path[-1], path)
            if not found:
                return None
            path.append(self.rng.choice(found))
        return path

    def pick_cycle(self, length: int, start: str | None = None) -> list[str] | None:
        """Different entities, each linked with the next, and the last with the first."""
        path = self.pick_path(length - 1, start)
        if path is None:
            return None
        last = set(self.list_neighbours(path[0], path)).intersection(self.list_neighbours(path[-1]))
        return [*path, self.rng.choice(sorted(last))] if last else None

    # Times and numbers

    @cached_property
    def valued(self) -> list[ValuedFact]:
        """The facts with times and numbers, once for each of these."""
        slots = (
            ValuedFact(fact, attribute, value)
            for fact in self.facts
            for attribute, value in ((None, fact.object), *fact.qualifiers)
        )
        return [one for one in slots if isinstance(parse_id(one.value), Time | Number)]

    @cached_property
    def valued_at(self) -> Mapping[str, list[ValuedFact]]:
        """The facts with times and numbers of each subject."""
        found: defaultdict[str, list[ValuedFact]] = defaultdict(list)
        for one in self.valued:
            found[one.fact.subject].append(one)
        return found

    @cached_property
    def values(self) -> Mapping[tuple[str, str | None], list[str]]:
        """The times and numbers of each relation, or of an attribute of it."""
        found: defaultdict[tuple[str, str | None], list[str]] = defaultdict(list)
        for fact, attribute, value in self.valued:
            found[fact.relation, attribute].append(value)
        return found

    def pick_value_like(self, one: ValuedFact) -> str:
        """A value that a fact of the same relation has in the same place."""
        return self.rng.choice(self.values[one.fact.relation, one.attribute])

    def chance(self, probability: float) -> bool:
        """Whether something happens."""
        return self.rng.random() < probability

"""Facts as edges: any two entities of one fact are joined by an edge whose kind says how."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.fact_columns import Facts
from nqe.graph.pattern import FIRST_QUALIFIER, OBJECT, SUBJECT
from nqe.graph.ragged import offsets, ranges


@dataclass(frozen=True, eq=False)
class EdgeKinds:
    """Kinds of edges in ascending order: a relation, and the roles of both ends in its facts.

    Role 0 is the subject, role 1 the object, and role 2 + a the value of the attribute a.
    """

    relation: Integers  # (kinds,)
    source: Integers  # (kinds,) the role of the entity that the edge leaves
    target: Integers  # (kinds,) the role of the entity that it leads to
    role_count: int

    @classmethod
    def of_keys(cls, keys: Integers, role_count: int) -> EdgeKinds:
        """The kinds that `to_keys` gave the numbers of."""
        rest, target = np.divmod(keys, role_count)
        relation, source = np.divmod(rest, role_count)
        return cls(relation, source, target, role_count)

    def __len__(self) -> int:
        return len(self.relation)

    @cached_property
    def keys(self) -> Integers:
        """One number per kind, ascending."""
        return to_keys(self.relation, self.source, self.target, self.role_count)

    def find(self, relation: Integers, source: Integers, target: Integers) -> Integers:
        """The place of each given kind, or -1 if it is not among these."""
        return find_sorted(self.keys, to_keys(relation, source, target, self.role_count))

    @cached_property
    def reverse(self) -> Integers:
        """The place of the kind that leads back, for each kind."""
        return self.find(self.relation, self.target, self.source)


def to_keys(relation: Integers, source: Integers, target: Integers, role_count: int) -> Integers:
    """One number per kind of edge."""
    keys: Integers = (relation * role_count + source) * role_count + target
    return keys


def find_sorted(values: Integers, wanted: Integers) -> Integers:
    """The first place of each wanted number among ascending ones, or -1 if it is not there."""
    if not len(values):
        return np.full(len(wanted), -1)
    place = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
    return np.where(values[place] == wanted, place, -1)


@dataclass(frozen=True, eq=False)
class Elements:
    """The entities of facts, fact by fact, with the role of each."""

    fact: Integers  # (elements,)
    role: Integers  # (elements,)
    entity: Integers  # (elements,)

    @classmethod
    def of(cls, facts: Facts) -> Elements:
        """The elements of all facts."""
        count = len(facts)
        fact = np.concatenate([np.arange(count), np.arange(count), facts.qualifier_fact])
        role = np.concatenate(
            [np.full(count, SUBJECT), np.full(count, OBJECT), facts.attribute + FIRST_QUALIFIER]
        )
        entity = np.concatenate([facts.subject, facts.object, facts.value])
        order = np.argsort(fact, kind="stable")
        return cls(fact[order], role[order], entity[order])


@dataclass(frozen=True, eq=False)
class Edges:
    """The edges of all facts, ordered by the entity they leave, kind, and entity they lead to.

    Edges that leave one entity and have one kind are a group.
    """

    entity_count: int
    kinds: EdgeKinds
    source: Integers  # (edges,)
    kind: Integers  # (edges,) a place in `kinds`
    target: Integers  # (edges,)
    fact: Integers  # (edges,) the row of the fact

    @classmethod
    def of(cls, facts: Facts, entity_count: int, relation_count: int) -> Edges:
        """The edges between any two entities of each fact, in both directions."""
        elements = Elements.of(facts)
        size = facts.qualifier_count + FIRST_QUALIFIER
        start, sizes = offsets(size), size[elements.fact]
        left = np.repeat(np.arange(len(elements.fact)), sizes)
        right = ranges(start[elements.fact], sizes)
        left, right = left[left != right], right[left != right]
        fact, role_count = elements.fact[left], relation_count + FIRST_QUALIFIER
        keys = to_keys(facts.relation[fact], elements.role[left], elements.role[right], role_count)
        found, kind = np.unique(keys, return_inverse=True)
        source, target = elements.entity[left], elements.entity[right]
        order = np.lexsort((fact, target, kind, source))
        return cls(
            entity_count,
            EdgeKinds.of_keys(found, role_count),
            *(column[order] for column in (source, kind, target, fact)),
        )

    def __len__(self) -> int:
        return len(self.source)

    @cached_property
    def group_keys(self) -> Integers:
        """One ascending number per group: the entity times the number of kinds, plus the kind."""
        return self._groups[0]

    @cached_property
    def group_start(self) -> Integers:
        """Where the edges of each group start; one more number says where the last ends."""
        return self._groups[1]

    @cached_property
    def _groups(self) -> tuple[Integers, Integers]:
        keys = self.source * max(len(self.kinds), 1) + self.kind
        found, start = np.unique(keys, return_index=True)
        return found, np.append(start, len(self))

    @cached_property
    def group_kind(self) -> Integers:
        """The kind of each group."""
        return self.group_keys % max(len(self.kinds), 1)

    @cached_property
    def group_source(self) -> Integers:
        """The entity that each group leaves."""
        return self.group_keys // max(len(self.kinds), 1)

    @cached_property
    def first_group(self) -> Integers:
        """Where the groups of each entity start, (entities + 1,)."""
        return np.searchsorted(self.group_source, np.arange(self.entity_count + 1))

    @cached_property
    def group_size(self) -> Integers:
        """The number of edges of each group."""
        return np.diff(self.group_start)

    @cached_property
    def pairs(self) -> tuple[Integers, Integers]:
        """The edges ordered by both ends: one ascending number per edge, and its place."""
        keys = self.source * self.entity_count + self.target
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def find_between(self, source: Integers, target: Integers) -> tuple[Integers, Integers]:
        """All edges from each source to its target: the place of the pair, and of the edge."""
        keys, order = self.pairs
        wanted = source * self.entity_count + target
        # Most pairs have no edge, so only those that have one are looked up a second time.
        place = np.flatnonzero(find_sorted(keys, wanted) >= 0)
        first = np.searchsorted(keys, wanted[place])
        count = np.searchsorted(keys, wanted[place], side="right") - first
        return np.repeat(place, count), order[ranges(first, count)]

    def find_groups(self, entity: Integers, kind: Integers) -> Integers:
        """The group of each entity and kind, or -1 if there is none."""
        return find_sorted(self.group_keys, entity * max(len(self.kinds), 1) + kind)

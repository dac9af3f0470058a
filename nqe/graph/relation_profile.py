"""What facts show about relations: who stands in their slots, and which of them take one value.

A *place* is the subject or the object of a main relation, numbered 2 · relation + slot.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.entity_set import EntitySet, distinct
from nqe.graph.fact_columns import Facts
from nqe.graph.pattern import OBJECT, SUBJECT
from nqe.graph.ragged import Ragged

Floats = npt.NDArray[np.float64]
SINGLE = 0.95
"""A slot takes one value if this share of the entities at the other end has exactly one."""
AKIN = 0.25
"""An entity fits a place if it shares this part of its places, on average, with those there.

If those there have fewer other places on average, it is this part of theirs.
"""


@dataclass(frozen=True, eq=False)
class RelationProfile:
    """The places of a graph's entities, and the slots that take one value."""

    members: Ragged
    """The entities that stand in each place, in ascending order."""
    single: Booleans  # (places,)
    """Whether the slot has one value as a rule, given the entity at the other end."""
    reflexive: Booleans  # (relations,)
    """Whether a fact has the same subject and object; without facts, nothing speaks against it."""

    @classmethod
    def of(cls, facts: Facts, entity_count: int, relation_count: int) -> RelationProfile:
        """Learn the profile from facts; qualifiers do not count."""
        places = 2 * relation_count
        ends = np.concatenate([facts.subject, facts.object])
        place = np.concatenate([2 * facts.relation + SUBJECT, 2 * facts.relation + OBJECT])
        keys = distinct(place * entity_count + ends)
        members = Ragged.group(keys % max(entity_count, 1), keys // max(entity_count, 1), places)
        own = facts.relation[facts.subject == facts.object]
        reflexive = (np.bincount(own, minlength=relation_count) > 0) | (len(facts) == 0)
        return cls(members, _find_single(facts, relation_count), reflexive)

    def may_hold_of_itself(self, relation: int) -> bool:
        """Whether an entity may have a relation to itself, as far as the facts show."""
        return bool(self.reflexive[relation])

    def takes_one(self, relation: int, slot: int) -> bool:
        """Whether a slot of a relation has one value as a rule, given the other end."""
        return bool(self.single[2 * relation + slot])

    def standing(self, relation: int, slot: int) -> EntitySet:
        """The entities that stand in a slot of a relation."""
        return EntitySet(self.members[2 * relation + slot])

    def is_main(self, relation: int) -> bool:
        """Whether a fact has the relation as its main one, and not only as an attribute."""
        return len(self.members[2 * relation]) > 0

    def find_fitting_places(self, entity: int) -> Booleans:
        """For each relation and slot, whether the entity is like those there, (relations, 2).

        It is if it stands there, or if it shares enough of its other places with them. Of an
        entity without a place nothing is known, so it fits every place of a main relation.
        """
        lengths = self.members.lengths
        own = self.members.owner[self.members.values == entity]
        if not len(own):
            return (lengths > 0).reshape(-1, 2)
        common = np.zeros(len(lengths), dtype=np.int64)
        for place in own.tolist():
            common += self._count_common(place)
        shared = common / np.maximum(lengths, 1)
        fits = (shared > 0) & (shared >= AKIN * np.minimum(len(own), self.other_places))
        fits[own] = True
        return fits.reshape(-1, 2)

    def find_fitting_entities(self, relation: int, slot: int) -> EntitySet:
        """The entities that stand in a slot of a relation, or are like those that do."""
        place = 2 * relation + slot
        shares = self._count_common(place) / max(len(self.members[place]), 1)
        shared = np.bincount(self.members.values, shares[self.members.owner])  # (entities,)
        enough = AKIN * np.minimum(self.place_counts, self.other_places[place])
        fits = (shared > 0) & (shared >= enough)
        fits[self.members[place]] = True
        return EntitySet(np.flatnonzero(fits))

    @cached_property
    def place_counts(self) -> Integers:
        """The number of places of each entity."""
        return np.bincount(self.members.values)

    @cached_property
    def other_places(self) -> Floats:
        """The mean number of other places that the entities of each place have."""
        counts = self.place_counts[self.members.values] - 1
        total = np.bincount(self.members.owner, counts, minlength=len(self.members))
        return total / np.maximum(self.members.lengths, 1)

    def _count_common(self, place: int) -> Integers:
        """For each place, how many of its entities stand in the given place too."""
        inside = np.zeros(len(self.place_counts), dtype=bool)
        inside[self.members[place]] = True
        owner = self.members.owner[inside[self.members.values]]
        return np.bincount(owner, minlength=len(self.members))


def _find_single(facts: Facts, relation_count: int) -> Booleans:
    """For each place, whether the entities at the other end have exactly one value there."""
    ends = (facts.subject, facts.object)
    single = np.zeros((relation_count, 2), dtype=bool)
    for slot in (SUBJECT, OBJECT):
        single[:, slot] = _takes_one(facts.relation, ends[1 - slot], ends[slot], relation_count)
    return single.ravel()


def _takes_one(relation: Integers, end: Integers, value: Integers, relation_count: int) -> Booleans:
    """For each relation, whether nearly every entity in `end` has one distinct value.

    The share is smoothed by two more entities, one of which has several values, so 18 entities
    with one value each are the fewest that reach 0.95.
    """
    order = np.lexsort((value, end, relation))
    relation, end, value = relation[order], end[order], value[order]
    new_end = np.ones(len(order), dtype=bool)
    new_end[1:] = (np.diff(relation) != 0) | (np.diff(end) != 0)
    new_value = new_end.copy()
    new_value[1:] |= np.diff(value) != 0  # A fact with other qualifiers repeats the value.
    counts = np.bincount(np.cumsum(new_end)[new_value] - 1)
    of_end = relation[new_end]
    ends = np.bincount(of_end, minlength=relation_count)
    ones = np.bincount(of_end[counts == 1], minlength=relation_count)
    return (ones + 1) / (ends + 2) >= SINGLE

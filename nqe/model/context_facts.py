"""Facts about the known entities of projections, drawn as context for an encoder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.fact_columns import Facts
from nqe.graph.match_pairs import match_pairs
from nqe.graph.pattern import FIRST_QUALIFIER, OBJECT, SUBJECT, Kind, Patterns
from nqe.graph.ragged import Ragged, offsets, ranges
from nqe.query.step_table import StepTable

LOOKED_AT = 2
"""For one known entity, at most this many times as many facts are looked at as are drawn."""
# The roles of an entity in a context fact, seen from the known entity that the fact is about.
_OBJECT_OF_SUBJECT, _SUBJECT_OF_OBJECT, _SUBJECT_OF_VALUE, _OBJECT_OF_VALUE = range(4)
_OTHER_VALUE, _KNOWN_VALUE = 4, 5
ROLES = 6
"""The number of roles; each relation or attribute has its own vectors for each role."""
_Elements = tuple[Integers, Integers, Integers]


@dataclass(frozen=True, eq=False)
class PlacedElements:
    """The other entities of the facts of some steps, in a table of steps and facts."""

    entity: Integers  # (elements,)
    role: Integers  # (elements,) relation or attribute * ROLES + role
    place: Integers  # (elements,) step * facts + number of the fact
    padding: Booleans  # (steps, facts) True where there is no fact


@dataclass(frozen=True, eq=False)
class Context:
    """The facts drawn for the steps of a table, with the entities that they relate."""

    facts: Ragged  # (facts,) the rows of the facts of each step
    slot: Integers  # (facts,) where the known entity stands: 0 subject, 1 object, 2 + qualifier
    elements: Ragged  # (elements,) the other entities of each fact
    role: Integers  # (elements,) relation or attribute * ROLES + role

    def take(self, steps: Integers) -> PlacedElements:
        """The elements of the given steps."""
        counts = self.facts.lengths[steps]
        facts = ranges(self.facts.offset[steps], counts)
        most = int(counts.max(initial=0))
        place = ranges(np.arange(len(steps)) * most, counts)
        lengths = self.elements.lengths[facts]
        elements = ranges(self.elements.offset[facts], lengths)
        return PlacedElements(
            self.elements.values[elements],
            self.role[elements],
            np.repeat(place, lengths),
            np.arange(most) >= counts[:, None],
        )


@dataclass(frozen=True, eq=False)
class ContextFacts:
    """Facts, and for each entity the slots in which it stands in them.

    Both are in the order of ids: the slots of an entity by the relation of their fact, then by
    subject, object and qualifier, then by fact. So nothing depends on how names are numbered.
    """

    facts: Facts
    rows: Ragged  # (slots,) the rows of the facts of each entity, once for each of its slots
    slot: Integers  # (slots,) 0 subject, 1 object, 2 + i the value of the fact's qualifier i

    @classmethod
    def of(
        cls, facts: Facts, entity_count: int, entity_order: Integers, relation_order: Integers
    ) -> ContextFacts:
        """Sort facts; an order has the place of each name in the order of ids."""
        back = np.argsort(entity_order), np.argsort(relation_order)
        facts = facts.renumber(entity_order, relation_order).to_canonical().renumber(*back)
        rows = np.arange(len(facts))
        row = np.concatenate([rows, rows, facts.qualifier_fact])
        entity = np.concatenate([facts.subject, facts.object, facts.value])
        main = np.repeat([SUBJECT, OBJECT], len(facts))
        number = ranges(np.zeros_like(rows), facts.qualifier_count)
        slot = np.concatenate([main, FIRST_QUALIFIER + number])
        kind = np.minimum(slot, FIRST_QUALIFIER)
        order = np.lexsort((slot, row, kind, relation_order[facts.relation[row]], entity))
        return cls(facts, Ragged.group(row[order], entity[order], entity_count), slot[order])

    def __deepcopy__(self, memo: dict[int, Any]) -> ContextFacts:
        """The same object, as nobody changes it: models are copied to average their weights."""
        return self

    def draw(self, plans: StepTable, most: int, rng: np.random.Generator | None) -> Context:
        """Draw at most `most` facts for each projection, about all its known entities together.

        Without a generator they are evenly spaced. Of the facts of one known entity, at most
        LOOKED_AT times as many are looked at. Those that match the projection's own pattern are
        left out, and `most` of the others are kept.
        """
        slots = np.flatnonzero(plans.kind == Kind.KNOWN)
        anchor = plans.filler[slots]
        number, owner = _spread(self.rows.lengths[anchor], LOOKED_AT * most, rng)
        entry = self.rows.offset[anchor[owner]] + number
        step = plans.step_of_slot[slots[owner]]
        others = np.flatnonzero(~self._match(plans, step, self.rows.values[entry]))
        step, entry = step[others], entry[others]
        counts = np.bincount(step, minlength=plans.step_count)
        number, step = _spread(counts, most, rng)
        entry = entry[offsets(counts)[step] + number]
        rows = Ragged.group(self.rows.values[entry], step, plans.step_count)
        return self._lay_out(rows, self.slot[entry])

    def _match(self, plans: StepTable, step: Integers, row: Integers) -> Booleans:
        """Whether each fact matches the pattern of its step; only known slots restrict it."""
        patterns = Patterns.without_sets(
            plans.relation,
            plans.closed,
            plans.asked,
            plans.slot_start,
            plans.attribute,
            np.where(plans.kind == Kind.KNOWN, plans.filler, -1),
        )
        return match_pairs(self.facts, len(self.rows), patterns, step, row)

    def _lay_out(self, rows: Ragged, slot: Integers) -> Context:
        """List the other entities of each fact with their roles."""
        lists = (self._list_subjects, self._list_objects, self._list_values)
        parts = zip(*(one(rows.values, slot) for one in lists), strict=True)
        fact, entity, role = (np.concatenate(part) for part in parts)
        order = np.argsort(fact, kind="stable")
        elements = Ragged.group(entity[order], fact[order], len(slot))
        return Context(rows, slot, elements, role[order])

    def _list_subjects(self, row: Integers, slot: Integers) -> _Elements:
        """The fact, entity and role of each subject that is not the known entity itself."""
        chosen = np.flatnonzero(slot != SUBJECT)
        row, of_object = row[chosen], slot[chosen] == OBJECT
        role = np.where(of_object, _SUBJECT_OF_OBJECT, _SUBJECT_OF_VALUE)
        return chosen, self.facts.subject[row], self.facts.relation[row] * ROLES + role

    def _list_objects(self, row: Integers, slot: Integers) -> _Elements:
        """The same of objects."""
        chosen = np.flatnonzero(slot != OBJECT)
        row, of_subject = row[chosen], slot[chosen] == SUBJECT
        role = np.where(of_subject, _OBJECT_OF_SUBJECT, _OBJECT_OF_VALUE)
        return chosen, self.facts.object[row], self.facts.relation[row] * ROLES + role

    def _list_values(self, row: Integers, slot: Integers) -> _Elements:
        """The same of qualifier values; here the known entity has a role, for its attribute."""
        qualifiers = self.facts.find_qualifiers(row)
        number = ranges(np.zeros_like(row), qualifiers.lengths)
        fact, place = qualifiers.owner, qualifiers.values
        is_known = number + FIRST_QUALIFIER == slot[fact]
        role = np.where(is_known, _KNOWN_VALUE, _OTHER_VALUE)
        return fact, self.facts.value[place], self.facts.attribute[place] * ROLES + role


def _spread(
    counts: Integers, most: int, rng: np.random.Generator | None
) -> tuple[Integers, Integers]:
    """Numbers below each count, at most `most` of them, and whose they are.

    The numbers below a larger count are cut into `most` parts of about the same size. The middle
    of each part is taken, or with a generator one drawn from it.
    """
    lengths = np.minimum(counts, most)
    owner = np.repeat(np.arange(len(counts)), lengths)
    part, count = ranges(np.zeros_like(lengths), lengths), np.maximum(counts, most)[owner]
    first, end = part * count // most, (part + 1) * count // most
    within = 0.5 if rng is None else rng.random(len(owner))
    return first + ((end - first) * within).astype(np.int64), owner

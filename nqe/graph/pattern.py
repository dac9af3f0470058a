"""Patterns of facts, one as a value or many as flat arrays, and the facts that match them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import assert_never

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.entity_set import EntitySet
from nqe.graph.ragged import offsets

Restriction = int | EntitySet | None
"""What may be in a slot: one entity, an entity of a set, or any entity."""

SUBJECT, OBJECT, FIRST_QUALIFIER = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Pattern:
    """A fact of which some slots are known, some are restricted to a set, and one is asked for.

    Slot 0 is the subject, slot 1 the object, slot 2 + i the value of qualifier i. A fact matches
    if each qualifier of the pattern fits a different qualifier of the fact; if the pattern is
    closed, the fact has no further qualifiers.
    """

    relation: int
    slots: tuple[Restriction, ...]
    attributes: tuple[int, ...] = ()
    asked: int = OBJECT
    closed: bool = False

    def __post_init__(self) -> None:
        if len(self.slots) != len(self.attributes) + 2:
            raise ValueError("a pattern has two slots and one more per attribute")
        if not 0 <= self.asked < len(self.slots):
            raise ValueError(f"asked slot {self.asked} is not one of {len(self.slots)} slots")

    @property
    def repeats_attribute(self) -> bool:
        """Whether two qualifiers could fit the same qualifier of a fact."""
        return len(self.attributes) > 1 and len(set(self.attributes)) < len(self.attributes)

    def qualifier(self, slot: int) -> tuple[int, Restriction]:
        """The attribute of a qualifier's slot, and what may be in the slot."""
        return self.attributes[slot - FIRST_QUALIFIER], self.slots[slot]


class Kind(IntEnum):
    """How a slot is restricted."""

    FREE = 0
    KNOWN = 1
    SET = 2


@dataclass(frozen=True, eq=False)
class Patterns:
    """Many patterns as flat arrays, with one row per pattern, per slot, and per member of a set."""

    relation: Integers  # (patterns,)
    closed: Integers  # (patterns,) 0 or 1
    first_slot: Integers  # (patterns + 1,) where the slots of each pattern start
    asked: Integers  # (patterns,) the asked slot within the pattern
    attribute: Integers  # (slots,) -1 for subject and object
    kind: Integers  # (slots,) a `Kind`
    filler: Integers  # (slots,) the known entity, or the number of the set
    set_offset: Integers  # (sets + 1,)
    members: Integers  # (members,) sorted within a set
    inverted: Integers  # (sets,) 0 or 1

    def __len__(self) -> int:
        return len(self.relation)

    @classmethod
    def without_sets(
        cls,
        relation: Integers,
        closed: Integers,
        asked: Integers,
        first_slot: Integers,
        attribute: Integers,
        filler: Integers,
    ) -> Patterns:
        """Patterns whose slots hold an entity, or -1 for a free slot."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(
            relation=relation,
            closed=closed,
            first_slot=first_slot,
            asked=asked,
            attribute=attribute,
            kind=np.where(filler < 0, Kind.FREE, Kind.KNOWN).astype(np.int64),
            filler=filler,
            set_offset=np.zeros(1, dtype=np.int64),
            members=nothing,
            inverted=nothing,
        )

    @classmethod
    def of(cls, patterns: Sequence[Pattern]) -> Patterns:
        """The given patterns as flat arrays."""
        slots = [slot for pattern in patterns for slot in pattern.slots]
        sets = [slot for slot in slots if isinstance(slot, EntitySet)]
        set_numbers = iter(range(len(sets)))
        members = [entities.members for entities in sets]
        filled = [_filler(slot, set_numbers) for slot in slots]
        return cls(
            relation=_integers(pattern.relation for pattern in patterns),
            closed=_integers(pattern.closed for pattern in patterns),
            first_slot=offsets(_integers(len(pattern.slots) for pattern in patterns)),
            asked=_integers(pattern.asked for pattern in patterns),
            attribute=_integers(a for p in patterns for a in (-1, -1, *p.attributes)),
            kind=_integers(kind for kind, _ in filled),
            filler=_integers(filler for _, filler in filled),
            set_offset=offsets(_integers(map(len, members))),
            members=np.concatenate([np.zeros(0, np.int64), *members]),
            inverted=_integers(entities.inverted for entities in sets),
        )


@dataclass(frozen=True, eq=False)
class Matches:
    """The facts that match each of many patterns, and the entities in the asked slots."""

    pattern_count: int
    pattern: Integers  # (matches,) ascending
    row: Integers  # (matches,) ascending within a pattern
    answer_pattern: Integers  # (answers,) ascending
    answer: Integers  # (answers,) ascending within a pattern, each once

    def answers(self) -> list[EntitySet]:
        """The entities in the asked slot of each pattern."""
        bounds = np.searchsorted(self.answer_pattern, np.arange(self.pattern_count + 1)).tolist()
        return [EntitySet(self.answer[a:b]) for a, b in pairwise(bounds)]


def _filler(slot: Restriction, set_numbers: Iterator[int]) -> tuple[Kind, int]:
    match slot:
        case None:
            return Kind.FREE, -1
        case EntitySet():
            return Kind.SET, next(set_numbers)
        case int() | np.integer():
            return Kind.KNOWN, slot
        case _:
            assert_never(slot)


def _integers(values: Iterable[int]) -> Integers:
    return np.fromiter(values, dtype=np.int64)

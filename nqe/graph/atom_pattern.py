"""Patterns with variables: what a fact must have in slots that share variables with others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from nqe.graph.pattern import FIRST_QUALIFIER


@dataclass(frozen=True, slots=True)
class Unknown:
    """A variable, by its number."""

    number: int


Content = int | Unknown
"""What stands in a slot or for a relation: a number of the vocabulary, or a variable."""


@dataclass(frozen=True, eq=False)
class AtomPattern:
    """A fact of which some slots are known and the others are variables.

    Slots are numbered as in a `Pattern`: subject, object, then the values of the qualifiers. Each
    qualifier of the pattern fits a different one of the fact, which has no others if the pattern is
    closed. A variable that stands twice is the same entity in both places.
    """

    relation: Content
    slots: tuple[Content, ...]
    attributes: tuple[int, ...] = ()
    closed: bool = False
    variables: tuple[int, ...] = field(init=False)
    """The numbers of its distinct variables."""
    known: tuple[tuple[int, int], ...] = field(init=False)
    """The slots that hold an entity, with the entity."""
    unknown: tuple[tuple[int, int], ...] = field(init=False)
    """The slots that hold a variable, with its number."""
    in_qualifiers: frozenset[int] = field(init=False)
    """The variables that stand in its qualifiers."""
    repeats_attribute: bool = field(init=False)
    """Whether two qualifiers could fit the same qualifier of a fact."""

    def __post_init__(self) -> None:
        slots = tuple(enumerate(self.slots))
        known = tuple((place, one) for place, one in slots if not isinstance(one, Unknown))
        unknown = tuple((place, one.number) for place, one in slots if isinstance(one, Unknown))
        object.__setattr__(self, "known", known)
        object.__setattr__(self, "unknown", unknown)
        qualifiers = frozenset(number for place, number in unknown if place >= FIRST_QUALIFIER)
        object.__setattr__(self, "in_qualifiers", qualifiers)
        object.__setattr__(self, "variables", tuple(dict.fromkeys(self._list_variables())))
        repeats = len(set(self.attributes)) < len(self.attributes)
        object.__setattr__(self, "repeats_attribute", repeats)

    @property
    def is_loose(self) -> bool:
        """Whether it asks nothing of a fact except what one variable in a slot stands for."""
        if self.closed or self.known or self.attributes:
            return False
        return self.slots[0] != self.slots[1]

    def _list_variables(self) -> Iterator[int]:
        if isinstance(self.relation, Unknown):
            yield self.relation.number
        yield from (number for _, number in self.unknown)

"""Fuzzy sets of entities: those with a chance of their own are listed, all others share one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.entity_set import EntitySet
from nqe.graph.ragged import offsets, ranges

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FuzzySet:
    """Entities with their probabilities.

    Entities that are not listed have the probability `rest`: 0, or in the set of a negation
    nearly 1.
    """

    entities: Integers  # (listed,) ascending
    values: Floats  # (listed,)
    rest: float = 0.0

    @classmethod
    def of_all(cls, values: Floats) -> FuzzySet:
        """The set in which every entity is listed."""
        return cls(np.arange(len(values)), values)

    def __getitem__(self, entity: int) -> float:
        """The probability of one entity."""
        return float(self.look_up(np.array([entity]))[0])

    def look_up(self, entities: Integers) -> Floats:
        """The probabilities of some entities."""
        return _look_up(self.entities, self.values, self.rest, entities)

    def to_array(self, entity_count: int) -> Floats:
        """The probabilities of all entities."""
        values = np.full(entity_count, self.rest)
        values[self.entities] = self.values
        return values

    def restrict(self, among: EntitySet | None, entity_count: int) -> FuzzySet:
        """The set with the probability 0 for entities outside of another set."""
        if among is None:
            return self
        if self.rest and among.inverted:
            return FuzzySet.of_all(
                np.where(among.contains(np.arange(entity_count)), self.to_array(entity_count), 0.0)
            )
        inside = among.contains(self.entities)
        if not self.rest:
            return FuzzySet(self.entities[inside], self.values[inside])
        members = among.to_array(entity_count)
        return FuzzySet(members, self.look_up(members))

    def list_all(self, entity_count: int) -> FuzzySet:
        """The same set with every entity listed, unless the others have no chance."""
        return FuzzySet.of_all(self.to_array(entity_count)) if self.rest else self

    def keep(self, chosen: Booleans) -> FuzzySet:
        """The chosen listed entities alone."""
        return FuzzySet(self.entities[chosen], self.values[chosen])


class FuzzySets:
    """The fuzzy sets of the steps of a table, filled in step by step."""

    def __init__(self, step_count: int, entity_count: int) -> None:
        self.entity_count = entity_count
        self.entities, self.values = np.zeros(0, dtype=np.int64), np.zeros(0)
        self.start = np.zeros(step_count, dtype=np.int64)
        self.length = np.zeros(step_count, dtype=np.int64)
        self.rest = np.zeros(step_count)

    def __getitem__(self, step: int) -> FuzzySet:
        listed = slice(self.start[step], self.start[step] + self.length[step])
        return FuzzySet(self.entities[listed], self.values[listed], float(self.rest[step]))

    def __len__(self) -> int:
        return len(self.rest)

    def store(self, steps: Integers, owner: Integers, entities: Integers, values: Floats) -> None:
        """Store what is listed for some steps, ordered by `owner`, its place in `steps`."""
        counts = np.bincount(owner, minlength=len(steps))
        self.start[steps] = len(self.entities) + offsets(counts)[:-1]
        self.length[steps] = counts
        self.entities = np.concatenate([self.entities, entities])
        self.values = np.concatenate([self.values, values])

    def add(self, steps: Integers, entities: Integers, values: Floats) -> None:
        """List further entities, each for the step beside it; none may be listed there yet."""
        changed, place = np.unique(steps, return_inverse=True)
        owner, listed, before = self.take(changed)
        keys = np.concatenate([owner, place]) * self.entity_count
        keys += np.concatenate([listed, entities])
        order = keys.argsort()
        all_values = np.concatenate([before, values])[order]
        kept = all_values > 0
        self.store(changed, *np.divmod(keys[order][kept], self.entity_count), all_values[kept])

    def copy(self, steps: Integers, sources: Integers) -> None:
        """Give steps the sets of other steps."""
        for column in (self.start, self.length, self.rest):
            column[steps] = column[sources]

    def take(self, steps: Integers) -> tuple[Integers, Integers, Floats]:
        """What is listed for some steps: the place of the step, the entity and its probability."""
        lengths = self.length[steps]
        at = ranges(self.start[steps], lengths)
        return np.repeat(np.arange(len(steps)), lengths), self.entities[at], self.values[at]

    def look_up(self, steps: Integers, entities: Integers) -> Floats:
        """The probability of each entity in the set of the step beside it."""
        sources, place = np.unique(steps, return_inverse=True)
        owner, listed, values = self.take(sources)
        keys = owner * self.entity_count + listed
        return _look_up(keys, values, self.rest[steps], place * self.entity_count + entities)


def concatenate(parts: Sequence[Floats]) -> Floats:
    """Some arrays of probabilities, one after another."""
    return np.concatenate([np.zeros(0), *parts])


def _look_up(keys: Integers, values: Floats, rest: Floats | float, wanted: Integers) -> Floats:
    """The values of the wanted keys among sorted keys; `rest` for those that are not there."""
    if not len(keys):
        return np.broadcast_to(np.asarray(rest, dtype=np.float64), wanted.shape).copy()
    places = np.minimum(keys.searchsorted(wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], rest)

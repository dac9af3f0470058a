"""Bindings: the most likely members of a projection's inputs, inserted into its slots.

The model is asked about a limited number of them, the beam. Where members at the edge of the beam
are equally likely, those come first that the model finds more likely in that slot when it knows
the rest of the atom but neither the answer nor the other inputs, and then those with lower ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch

from nqe.answering.fuzzy_set import FuzzySets
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.pattern import Kind, Patterns
from nqe.graph.ragged import offsets, ranges
from nqe.model.fuzzy_logic import Logic
from nqe.query.plan import Op
from nqe.query.step_table import StepTable

Floats = npt.NDArray[np.float64]

_FINE = 1e6
"""Probabilities that agree when multiplied by this and rounded count as equal."""
_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Bindings:
    """Projections whose inputs are bound to entities, ordered by projection, likeliest first."""

    start: Integers  # (projections + 1,) the range of bindings of each projection
    weight: Floats  # (bindings,) the probability that the inputs are the bound entities
    patterns: Patterns
    """One pattern per binding; a slot that may hold any entity is free."""

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def owner(self) -> Integers:
        """The place of the projection of each binding."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))

    def to_plans(self) -> StepTable:
        """Return one plan per binding for the model; a free slot becomes a step Any."""
        return StepTable.of_patterns(self.patterns)


class ReverseScores(Protocol):
    """What the model says of the entities in a slot of an atom in which little is known."""

    def order_all(self, patterns: Patterns) -> Integers:
        """A number for every entity, (patterns, entities): lower ones come first, none is equal."""

    def order_some(self, patterns: Patterns, pattern: Integers, entity: Integers) -> Integers:
        """The same numbers for some pairs of a pattern and an entity, (pairs,)."""


def choose_bindings(
    table: StepTable,
    steps: Integers,
    sets: FuzzySets,
    logic: Logic,
    beam: int,
    least: float,
    model: ReverseScores,
) -> Bindings:
    """Choose at most `beam` of the likeliest bindings of each projection, none below `least`."""
    slots = table.slots_of(steps)
    owner, place = slots.owner, np.arange(len(slots.values)) - slots.offset[slots.owner]
    filled = np.flatnonzero(_find_filled(table, slots.values))
    ordinal = np.arange(len(filled)) - np.searchsorted(owner[filled], owner[filled])
    chosen = _Chosen.start_with_nothing(len(steps))
    for number in range(int(ordinal.max(initial=-1)) + 1):
        now = filled[ordinal == number]
        reverse = _Reverse(table, steps[owner[now]], place[now], model)
        members = _choose_members(table.filler[slots.values[now]], sets, beam, reverse)
        chosen = chosen.extend(members, owner[now], logic, beam, least)
    return chosen.bind(table, steps, filled, ordinal)


def _find_filled(table: StepTable, slots: Integers) -> Booleans:
    """Whether each slot is filled by a step other than Any."""
    from_step = table.kind[slots] == Kind.SET
    filled: Booleans = from_step & (table.op[np.where(from_step, table.filler[slots], 0)] != Op.ANY)
    return filled


@dataclass(frozen=True, eq=False)
class _Members:
    """The likeliest members of the sets of some slots, likeliest first."""

    start: Integers  # (slots + 1,)
    entity: Integers
    value: Floats


@dataclass(frozen=True, eq=False)
class _Reverse:
    """The reverse questions of some projections: which entities may stand in one of the slots."""

    table: StepTable
    steps: Integers
    asked: Integers
    model: ReverseScores

    def rank_all(self, chosen: Integers) -> Integers:
        """The order of all entities in the slots of some of the projections."""
        return self.model.order_all(self._ask(chosen))

    def rank_some(self, chosen: Integers, owner: Integers, entity: Integers) -> Integers:
        """The same order for some entities, each with its place in `chosen`."""
        return self.model.order_some(self._ask(chosen), owner, entity)

    def _ask(self, chosen: Integers) -> Patterns:
        table, steps = self.table, self.steps[chosen]
        slots = table.slots_of(steps)
        known = table.kind[slots.values] == Kind.KNOWN
        return Patterns.without_sets(
            relation=table.relation[steps],
            closed=table.closed[steps],
            asked=self.asked[chosen],
            first_slot=slots.offset,
            attribute=table.attribute[slots.values],
            filler=np.where(known, table.filler[slots.values], -1),
        )


def _choose_members(sources: Integers, sets: FuzzySets, beam: int, reverse: _Reverse) -> _Members:
    """Choose the likeliest members of sets, at most `beam` of each."""
    owner, entity, value = sets.take(sources)
    has_rest = np.flatnonzero(sets.rest[sources] > 0)
    fine = np.rint(value * _FINE)
    tied = _find_tied(owner, fine, len(sources), beam)
    needed = np.union1d(np.flatnonzero(tied), has_rest)
    ranks = np.zeros(len(entity), dtype=np.int64)
    if len(needed):
        number = np.full(len(sources), -1)
        number[needed] = np.arange(len(needed))
        has_rank = number[owner] >= 0
        ranks[has_rank] = reverse.rank_some(needed, number[owner[has_rank]], entity[has_rank])
    if len(has_rest):
        more = _list_rest(sources[has_rest], sets, reverse.rank_all(has_rest), beam)
        owner = np.concatenate([owner, has_rest[more[0]]])
        entity, ranks = np.concatenate([entity, more[1]]), np.concatenate([ranks, more[2]])
        value = np.concatenate([value, sets.rest[sources[has_rest[more[0]]]]])
    order = np.lexsort((ranks, -np.rint(value * _FINE), owner))
    order = order[value[order] > 0]
    kept = order[_count_within(owner[order], len(sources)) < beam]
    return _Members(
        offsets(np.bincount(owner[kept], minlength=len(sources))), entity[kept], value[kept]
    )


def _find_tied(owner: Integers, fine: Floats, count: int, beam: int) -> Booleans:
    """Whether members of each set are equally likely on both sides of the beam's edge."""
    order = np.lexsort((-fine, owner))
    first = np.searchsorted(owner, np.arange(count))
    tied = np.bincount(owner, minlength=count) > beam
    edge = first[tied] + beam
    tied[tied] = fine[order[edge - 1]] == fine[order[edge]]
    found: Booleans = tied
    return found


def _list_rest(
    sources: Integers, sets: FuzzySets, places: Integers, beam: int
) -> tuple[Integers, Integers, Integers]:
    """The first entities of each order that a set does not list: set, entity, number."""
    owner, entity, _ = sets.take(sources)
    places = places.copy()
    places[owner, entity] = _LAST
    width = min(beam, sets.entity_count)
    best = np.argpartition(places, width - 1, axis=1)[:, :width]
    found = np.take_along_axis(places, best, axis=1)
    row, column = np.nonzero(found < _LAST)
    return row, best[row, column], found[row, column]


def _count_within(owner: Integers, count: int) -> Integers:
    """The number of each element within its group; groups are in ascending order."""
    first = np.searchsorted(owner, np.arange(count))
    places: Integers = np.arange(len(owner)) - first[owner]
    return places


@dataclass(frozen=True, eq=False)
class _Chosen:
    """Bindings of the first filled slots of each projection."""

    start: Integers  # (projections + 1,)
    weight: Floats  # (bindings,)
    entities: Integers  # (bindings, slots bound so far), -1 if a projection has fewer

    @classmethod
    def start_with_nothing(cls, count: int) -> _Chosen:
        """One binding of no slots for each projection."""
        return cls(np.arange(count + 1), np.ones(count), np.zeros((count, 0), dtype=np.int64))

    def extend(
        self, members: _Members, steps: Integers, logic: Logic, beam: int, least: float
    ) -> _Chosen:
        """Bind one more slot of some projections, and keep the likeliest bindings of each."""
        count = len(self.start) - 1
        slot = np.full(count, -1)
        slot[steps] = np.arange(len(steps))
        owner = np.repeat(np.arange(count), np.diff(self.start))
        own = slot[owner]
        sizes: Integers = np.where(own >= 0, np.diff(members.start)[own], 1)
        before = np.repeat(np.arange(len(owner)), sizes)
        at = ranges(np.where(own >= 0, members.start[own], 0), sizes)
        bound = own[before] >= 0
        entity = np.where(bound, np.append(members.entity, -1)[at], -1)
        added = np.where(bound, np.append(members.value, 1.0)[at], 1.0)
        # What comes first in its own order comes first here, whatever its number.
        first = _count_within(owner, count)[before]
        second = np.where(bound, at - members.start[own[before]], 0)
        pairs = torch.from_numpy(np.stack((self.weight[before], added), axis=1))
        weight = logic.conjoin(pairs[..., None])[:, 0].numpy()
        order = np.lexsort((first, first + second, -np.rint(weight * _FINE), owner[before]))
        order = order[weight[order] >= least]
        kept = order[_count_within(owner[before][order], count) < beam]
        return _Chosen(
            offsets(np.bincount(owner[before][kept], minlength=count)),
            weight[kept],
            np.concatenate([self.entities[before[kept]], entity[kept, None]], axis=1),
        )

    def bind(
        self, table: StepTable, steps: Integers, filled: Integers, ordinal: Integers
    ) -> Bindings:
        """Insert the entities into the slots."""
        slots = table.slots_of(steps)
        known = table.kind[slots.values] == Kind.KNOWN
        filler = np.where(known, table.filler[slots.values], -1)
        column = np.full(len(filler), -1)
        column[filled] = ordinal
        owner = np.repeat(np.arange(len(steps)), np.diff(self.start))
        bound = slots.take(owner)  # the numbers of slots in the table
        at = ranges(slots.offset[owner], np.diff(slots.offset)[owner])
        binding, which = bound.owner, column[at]
        is_filled = which >= 0
        fillers = filler[at]
        fillers[is_filled] = self.entities[binding[is_filled], which[is_filled]]
        patterns = Patterns.without_sets(
            relation=table.relation[steps[owner]],
            closed=table.closed[steps[owner]],
            asked=table.asked[steps[owner]],
            first_slot=bound.offset,
            attribute=table.attribute[bound.values],
            filler=fillers,
        )
        return Bindings(self.start, self.weight, patterns)

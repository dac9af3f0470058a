"""A batch: many plans as flat arrays, whatever their shapes, in the order they are worked on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nqe.errors import NqeError
from nqe.graph.arrays import Integers
from nqe.graph.pattern import Kind
from nqe.graph.ragged import offsets, ranges
from nqe.model.devices import moved
from nqe.model.edge_kinds import edge_kinds
from nqe.query.plan import Op, Plan
from nqe.query.step_table import StepTable

MASKS = 2
"""Sources begin with the two mask vectors: of open atoms, then of closed ones."""
LEAST_FACTS = 64
"""So many facts of an arity are worth a group of their own."""
MOST_PADDING = 8
"""Facts in a group are at most so many times as long as the shortest."""
_CONNECTIVES = (Op.AND, Op.OR, Op.NOT)


@dataclass(frozen=True, eq=False)
class FactGroup:
    """Projections of similar length, to attend within together.

    Their elements stand in the order [s, r, o, a1, v1, …]; where facts of different lengths are
    together, the shorter ones end in padding.
    """

    tokens: Tensor  # (facts, elements) places among the level's entities and then relations
    padding: Tensor | None  # (facts, elements) whether an element is padding
    kinds: Tensor  # (elements, elements) the kind of edge between two
    asked: Tensor  # (facts,) the element that is masked


@dataclass(frozen=True, eq=False)
class Projections:
    """All projections of one depth.

    Entities and relations are two lists, so that each role passes through its own maps at once.
    """

    entities: Tensor  # (entity elements,) places among the sources
    relations: Tensor  # (relation elements,) numbers of relations
    groups: tuple[FactGroup, ...]
    asked: Tensor  # (projections,) places of the masked elements in `entities`


@dataclass(frozen=True, eq=False)
class Connectives:
    """Steps of one depth with the same connective and the same number of inputs."""

    op: Op
    inputs: Tensor  # (steps, inputs) places among the sources


@dataclass(frozen=True, eq=False)
class Level:
    """All steps of one depth. Their results join the sources in this order."""

    projections: Projections | None
    connectives: tuple[Connectives, ...]
    any_count: int


@dataclass(frozen=True, eq=False)
class Batch:
    """Plans ready for the model.

    Sources are numbered: the masks, the distinct anchors, then the results of the levels.
    """

    anchors: Tensor  # (anchors,) the distinct entities that stand in atoms
    levels: tuple[Level, ...]
    steps: Tensor  # (steps,) where the result of each step is among the sources
    targets: Tensor  # (queries,) where the result of each query is among the sources
    largest: tuple[int, int]
    """The largest numbers of an entity and of a relation."""

    @classmethod
    def of(cls, plans: Sequence[Plan] | StepTable) -> Batch:
        """The batch of some plans; no loop over them when they are a table already."""
        return _build(plans if isinstance(plans, StepTable) else StepTable.of(plans))

    def __len__(self) -> int:
        return len(self.targets)

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on a device."""
        return self if torch.device(device) == self.steps.device else moved(self, device)

    def check(self, entity_count: int, relation_count: int) -> None:
        """Refuse numbers that a model does not have."""
        for kind, number, count in zip(
            ("entity", "relation"), self.largest, (entity_count, relation_count), strict=True
        ):
            if number >= count:
                raise NqeError(
                    f"{kind} number {number} is not one of the model's {count:,}; "
                    "use queries and a model of the same graph"
                )


@dataclass
class _Numbering:
    """Which source holds the result of each step, as far as they are numbered."""

    place: Integers
    next: int

    def give(self, steps: Integers) -> None:
        self.place[steps] = np.arange(self.next, self.next + len(steps))
        self.next += len(steps)


def _build(table: StepTable) -> Batch:
    known, free = table.kind == Kind.KNOWN, table.kind == Kind.FREE
    anchors, anchor_number = np.unique(table.filler[known], return_inverse=True)
    sources = np.zeros(len(table.kind), dtype=np.int64)
    sources[known] = MASKS + anchor_number
    sources[free] = table.closed[table.step_of_slot[free]]
    numbering = _Numbering(np.full(table.step_count, -1), MASKS + len(anchors))
    reader = _Reader(table, sources, numbering)
    levels = tuple(reader.level(depth) for depth in range(table.depth_count))
    relations = max(table.relation.max(initial=-1), table.attribute.max(initial=-1))
    return Batch(
        torch.from_numpy(anchors),
        levels,
        torch.from_numpy(numbering.place),
        torch.from_numpy(numbering.place[table.targets]),
        (int(anchors[-1]) if len(anchors) else -1, int(relations)),
    )


@dataclass
class _Reader:
    """Reads the levels of a table, the lowest first."""

    table: StepTable
    sources: Integers  # (slots,) the source in each slot, but for those that steps fill
    numbering: _Numbering

    def level(self, depth: int) -> Level:
        """The steps of one depth."""
        here = np.flatnonzero(self.table.depth == depth)
        op = self.table.op[here]
        projections = self._projections(here[op == Op.PROJECTION])
        connectives = [
            one for kind in _CONNECTIVES for one in self._connectives(kind, here[op == kind])
        ]
        anything = here[op == Op.ANY]
        self.numbering.give(anything)
        return Level(projections, tuple(connectives), len(anything))

    def _connectives(self, op: Op, steps: Integers) -> list[Connectives]:
        """The steps of one connective, by their number of inputs."""
        if not len(steps):
            return []
        children = self.table.children.take(steps)
        child, counts, starts = children.values, children.lengths, children.offset[:-1]
        groups = []
        for count in np.unique(counts):
            chosen = np.flatnonzero(counts == count)
            inputs = child[starts[chosen, None] + np.arange(count)]
            groups.append(Connectives(op, torch.from_numpy(self.numbering.place[inputs])))
            self.numbering.give(steps[chosen])
        return groups

    def _projections(self, steps: Integers) -> Projections | None:
        if not len(steps):
            return None
        first_slot = self.table.slot_start
        arity = np.diff(first_slot)[steps]
        order = np.argsort(arity, kind="stable")
        steps, arity = steps[order], arity[order]
        self.numbering.give(steps)
        slots = ranges(first_slot[steps], arity)
        first_entity = offsets(arity)
        qualifier = np.ones(len(slots), dtype=bool)
        qualifier[first_entity[:-1]] = qualifier[first_entity[:-1] + 1] = False
        first_relation = offsets(arity - 1)
        relations = np.empty(len(slots) - len(steps), dtype=np.int64)
        relations[first_relation[:-1]] = self.table.relation[steps]
        rest = np.ones(len(relations), dtype=bool)
        rest[first_relation[:-1]] = False
        relations[rest] = self.table.attribute[slots[qualifier]]
        asked = self.table.asked[steps]
        groups = _groups(arity, first_entity[:-1], first_relation[:-1] + len(slots), asked)
        return Projections(
            torch.from_numpy(self._filled(slots)),
            torch.from_numpy(relations),
            groups,
            torch.from_numpy(first_entity[:-1] + asked),
        )

    def _filled(self, slots: Integers) -> Integers:
        """The sources in these slots, those of steps too."""
        sources = self.sources[slots]
        from_step = self.table.kind[slots] == Kind.SET
        sources[from_step] = self.numbering.place[self.table.filler[slots[from_step]]]
        return sources


def _groups(
    arity: Integers, first_entity: Integers, first_relation: Integers, asked: Integers
) -> tuple[FactGroup, ...]:
    """Facts of similar arity together; they come sorted by it.

    Only attention, a small part of the work, sees the padding that this makes.
    """
    groups = []
    for here in _similar(arity):
        length = 2 * int(arity[here].max()) - 1
        place = np.arange(length)
        # Even places are entities (s, o, v1, …), odd ones relations (r, a1, …).
        tokens = np.where(
            place % 2 == 0,
            first_entity[here, None] + place // 2,
            first_relation[here, None] + place // 2,
        )  # (facts, elements)
        padding = place >= 2 * arity[here, None] - 1
        tokens = np.where(padding, tokens[:, :1], tokens)
        groups.append(
            FactGroup(
                torch.from_numpy(tokens),
                torch.from_numpy(padding) if padding.any() else None,
                edge_kinds((length + 1) // 2),
                torch.from_numpy(2 * asked[here]),
            )
        )
    return tuple(groups)


def _similar(arity: Integers) -> list[Integers]:
    """Runs of facts: an arity that many have is by itself, rare ones are with the next longer."""
    counts = np.bincount(arity)
    runs, first, start = [], 0, 0
    for size in np.flatnonzero(counts).tolist():
        if start > first and size > MOST_PADDING * int(arity[first]):
            runs.append(np.arange(first, start))
            first = start
        start += int(counts[size])
        if start - first >= LEAST_FACTS:
            runs.append(np.arange(first, start))
            first = start
    if start > first:
        runs.append(np.arange(first, start))
    return runs

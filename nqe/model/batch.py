"""A batch of the NQE model: plans of any shapes as tensors, level by level of their depth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nqe.graph.arrays import Integers
from nqe.graph.pattern import FIRST_QUALIFIER, Kind
from nqe.graph.ragged import offsets, ranges
from nqe.model.context import ContextElements
from nqe.model.context_facts import Context
from nqe.model.devices import move
from nqe.model.edge_kinds import edge_kinds
from nqe.query.plan import Op
from nqe.query.step_table import StepTable

MASKS = 3
"""The number of mask vectors, which come first among the sources: open, closed and ANY."""
ANY = 2
"""The mask in a slot that may hold any entity; 0 and 1 ask for a slot of open and closed atoms."""
LEAST_FACTS = 64
"""The number of facts of one arity from which they form a group of their own."""
MOST_PADDING = 8
"""The largest ratio between the arities of two facts in a group."""
_CONNECTIVES = (Op.AND, Op.OR, Op.NOT)


@dataclass(frozen=True, eq=False)
class FactGroup:
    """Projections of similar length, for which attention is computed together.

    The elements of a fact are in the order [s, r, o, a1, v1, …]. If the facts of a group differ
    in length, the shorter ones are padded at the end.
    """

    tokens: Tensor  # (facts, elements) indices into the level's entities, then its relations
    padding: Tensor | None  # (facts, elements) True for padding; None if there is none
    kinds: Tensor  # (elements, elements) the kind of edge between two elements
    asked: Tensor  # (facts,) the masked element


@dataclass(frozen=True, eq=False)
class Projections:
    """All projections of one depth.

    Entities and relations are separate, because each role has its own linear maps.
    """

    entities: Tensor  # (entity elements,) indices of sources
    relations: Tensor  # (relation elements,) relation numbers
    groups: tuple[FactGroup, ...]
    asked: Tensor  # (projections,) indices of the masked elements in `entities`, then `relations`
    asks_relations: bool = False
    """Whether the masked elements are relations; otherwise they are entities."""
    context: ContextElements | None = None


@dataclass(frozen=True, eq=False)
class Connectives:
    """Steps of one depth with the same connective and the same number of inputs."""

    op: Op
    inputs: Tensor  # (steps, inputs) indices of sources


@dataclass(frozen=True, eq=False)
class Level:
    """All steps of one depth. Their results are appended to the sources in this order."""

    projections: Projections | None
    connectives: tuple[Connectives, ...]


@dataclass(frozen=True, eq=False)
class Batch:
    """Plans as the tensors that the NQE model works on.

    Whatever a step can read is a *source*. The sources are the masks, the distinct anchors, and
    then the results of each level, in this order.
    """

    anchors: Tensor  # (anchors,) the distinct entities that occur in atoms and their context
    levels: tuple[Level, ...]
    steps: Tensor  # (steps,) the source that holds the result of each step
    targets: Tensor  # (queries,) the source that holds the result of each query

    @classmethod
    def of(cls, plans: StepTable, context: Context | None = None) -> Batch:
        """Lay out the given plans, with the context of their projections if there is any."""
        reader = _Reader.of(plans, context)
        levels = tuple(reader.level(depth) for depth in range(plans.depth_count))
        result_of = reader.sources.of_step
        unknown = plans.op[result_of < 0]
        if len(unknown):
            raise ValueError(f"unknown operator {unknown[0]} in a plan")
        return cls(
            torch.from_numpy(reader.anchors),
            levels,
            torch.from_numpy(result_of),
            torch.from_numpy(result_of[plans.targets]),
        )

    def __len__(self) -> int:
        """The number of queries."""
        return len(self.targets)

    def to(self, device: torch.device | str) -> Batch:
        """The same batch on a device."""
        return self if torch.device(device) == self.steps.device else move(self, device)


@dataclass
class _Sources:
    """Numbers the results of steps as sources, in the order in which they are computed."""

    of_step: Integers  # (steps,) -1 for steps that have no number yet
    next: int

    def add(self, steps: Integers) -> None:
        """Give the results of the steps the next numbers."""
        self.of_step[steps] = np.arange(self.next, self.next + len(steps))
        self.next += len(steps)


@dataclass
class _Reader:
    """Reads the levels of a table, starting with depth 0."""

    table: StepTable
    anchors: Integers  # (anchors,)
    in_slot: Integers  # (slots,) the source in each slot, except in slots that steps fill
    sources: _Sources
    context: Context | None

    @classmethod
    def of(cls, table: StepTable, context: Context | None) -> _Reader:
        """A reader that has numbered the masks and the anchors."""
        known, free = table.kind == Kind.KNOWN, table.kind == Kind.FREE
        entities = table.filler[known]
        if context is not None:
            entities = np.concatenate([entities, context.elements.values])
        anchors, anchor_index = np.unique(entities, return_inverse=True)
        in_slot = np.zeros(len(table.kind), dtype=np.int64)
        in_slot[known] = MASKS + anchor_index[: int(known.sum())]
        in_slot[free] = table.closed[table.step_of_slot[free]]
        results = np.where(table.op == Op.ANY, ANY, -1)
        return cls(table, anchors, in_slot, _Sources(results, MASKS + len(anchors)), context)

    def level(self, depth: int) -> Level:
        """The steps of one depth; all lower levels must have been read."""
        steps = np.flatnonzero(self.table.depth == depth)
        op = self.table.op[steps]
        projections = self._projections(steps[op == Op.PROJECTION])
        connectives = [
            group for kind in _CONNECTIVES for group in self._connectives(kind, steps[op == kind])
        ]
        return Level(projections, tuple(connectives))

    def _connectives(self, op: Op, steps: Integers) -> list[Connectives]:
        """The steps of one connective, grouped by their number of inputs."""
        if not len(steps):
            return []
        children = self.table.children.take(steps)
        counts, starts = children.lengths, children.offset[:-1]
        groups = []
        for count in np.unique(counts):
            chosen = np.flatnonzero(counts == count)
            inputs = children.values[starts[chosen, None] + np.arange(count)]
            groups.append(Connectives(op, torch.from_numpy(self.sources.of_step[inputs])))
            self.sources.add(steps[chosen])
        return groups

    def _projections(self, steps: Integers) -> Projections | None:
        """The given projections, ordered by arity."""
        if not len(steps):
            return None
        arity = np.diff(self.table.slot_start)[steps]
        order = np.argsort(arity, kind="stable")
        steps, arity = steps[order], arity[order]
        self.sources.add(steps)
        slots = ranges(self.table.slot_start[steps], arity)
        first_entity, first_relation = offsets(arity)[:-1], offsets(arity - 1)[:-1]
        asked = self.table.asked[steps]
        return Projections(
            torch.from_numpy(self._slot_sources(slots)),
            torch.from_numpy(self._relations(steps, slots, first_entity, first_relation)),
            group_facts(arity, first_entity, first_relation + len(slots), 2 * asked),
            torch.from_numpy(first_entity + asked),
            context=self._context(steps),
        )

    def _context(self, steps: Integers) -> ContextElements | None:
        """The elements of the context facts of the given projections."""
        if self.context is None:
            return None
        elements = self.context.take(steps)
        sources = MASKS + self.anchors.searchsorted(elements.entity)
        return ContextElements(
            torch.from_numpy(sources),
            torch.from_numpy(elements.role),
            torch.from_numpy(elements.place),
            torch.from_numpy(elements.padding),
        )

    def _relations(
        self, steps: Integers, slots: Integers, first_entity: Integers, first_relation: Integers
    ) -> Integers:
        """The relation and then the attributes of each projection."""
        relations = np.empty(len(slots) - len(steps), dtype=np.int64)
        is_attribute = np.ones(len(relations), dtype=bool)
        is_attribute[first_relation] = False
        is_value = np.ones(len(slots), dtype=bool)
        for place in range(FIRST_QUALIFIER):
            is_value[first_entity + place] = False
        relations[first_relation] = self.table.relation[steps]
        relations[is_attribute] = self.table.attribute[slots[is_value]]
        return relations

    def _slot_sources(self, slots: Integers) -> Integers:
        """The source in each of the given slots."""
        sources = self.in_slot[slots]
        from_step = self.table.kind[slots] == Kind.SET
        sources[from_step] = self.sources.of_step[self.table.filler[slots[from_step]]]
        return sources


def group_facts(
    arity: Integers, first_entity: Integers, first_relation: Integers, masked: Integers
) -> tuple[FactGroup, ...]:
    """Groups of facts of similar arity, from facts that are ordered by arity.

    `masked` is the masked element of each fact in the order [s, r, o, a1, v1, …]. The padding
    costs little, because only attention sees it.
    """
    groups = []
    for facts in _similar_facts(arity):
        length = 2 * int(arity[facts].max()) - 1
        place = np.arange(length)
        # Even places are entities (s, o, v1, …), odd ones relations (r, a1, …).
        tokens = np.where(
            place % 2 == 0,
            first_entity[facts, None] + place // 2,
            first_relation[facts, None] + place // 2,
        )  # (facts, elements)
        padding = place >= 2 * arity[facts, None] - 1
        tokens = np.where(padding, tokens[:, :1], tokens)
        groups.append(
            FactGroup(
                torch.from_numpy(tokens),
                torch.from_numpy(padding) if padding.any() else None,
                edge_kinds((length + 1) // 2),
                torch.from_numpy(masked[facts]),
            )
        )
    return tuple(groups)


def _similar_facts(arity: Integers) -> list[Integers]:
    """Runs of facts: a frequent arity has its own run, a rare one joins the next longer one."""
    counts = np.bincount(arity)
    runs, first, end = [], 0, 0
    for size in np.flatnonzero(counts).tolist():
        if end > first and size > MOST_PADDING * int(arity[first]):
            runs.append(np.arange(first, end))
            first = end
        end += int(counts[size])
        if end - first >= LEAST_FACTS:
            runs.append(np.arange(first, end))
            first = end
    if end > first:
        runs.append(np.arange(first, end))
    return runs

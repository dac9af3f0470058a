"""Drawing a random query of a given shape, walking back from an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.graph import Graph
from nqe.graph.pattern import FIRST_QUALIFIER, OBJECT, SUBJECT
from nqe.query.exact import run
from nqe.query.plan import Op, Plan, PlanBuilder
from nqe.query.shapes import Shape

Match = Literal["open", "closed", "any"]
Draw = Literal["fact", "relation"]
SLOTS = ("subject", "object", "value")

# A walk that finds no fitting fact is begun anew so many times.
TRIES = 100
# An open atom names each qualifier of its fact that it need not with this probability.
NAMED = 0.5


class DeadEnd(Exception):
    """The walk found no fact that fits; another walk may."""


@dataclass(frozen=True, eq=False)
class Walker:
    """Draws queries over a graph that have at least the answer they were walked from.

    Not promised where a `not` is: what it takes away may be that answer. `asked_slots` are those
    that may be asked for or hold a variable. `draw_by` tells whether the fact a walk begins with
    is drawn evenly over facts, or over relations and then over their facts. With `qualifiers`
    every atom has just so many.
    """

    graph: Graph
    match: Match = "closed"
    asked_slots: frozenset[str] = frozenset(SLOTS)
    draw_by: Draw = "fact"
    qualifiers: int | None = None

    def draw(self, shape: Shape, rng: np.random.Generator) -> Plan | None:
        """A random query of the shape; None when the graph has none to be found in some tries."""
        for _ in range(TRIES):
            plan = self.try_to_draw(shape, rng)
            if plan is not None:
                return plan
        return None

    def try_to_draw(self, shape: Shape, rng: np.random.Generator) -> Plan | None:
        """A random query of the shape, or None at a dead end."""
        walk = _Walk(self, rng)
        try:
            walk.step(shape, None, None)
        except DeadEnd:
            return None
        return walk.builder.finish()

    def can_fill(self, shape: Shape) -> bool:
        """Whether any fact has enough slots for the shape's widest projection."""
        widest = max((len(one.inputs) for one in shape.walk() if one.word == "P"), default=0)
        return len(self.long_enough(widest)) > 0

    def long_enough(self, input_count: int) -> Integers:
        """The facts with slots for so many variables beside the asked one."""
        # Facts are sorted by arity, so that those with enough slots are the last ones.
        first = int(self._usable_counts.searchsorted(input_count - 1))
        return self.usable_rows[first:]

    @cached_property
    def _usable_counts(self) -> Integers:
        return self.graph.facts.qualifier_count[self.usable_rows]

    @cached_property
    def usable_rows(self) -> Integers:
        """The facts that may become atoms."""
        counts = self.graph.facts.qualifier_count
        if self.qualifiers is None:
            return np.arange(len(self.graph))
        enough = counts == self.qualifiers if self.match == "closed" else counts >= self.qualifiers
        return np.flatnonzero(enough)

    @cached_property
    def mentions(self) -> tuple[Integers, Integers, Integers]:
        """The usable facts of each entity: where its run starts, the rows, and the slots."""
        facts = self.graph.facts
        rows = np.arange(len(facts))
        ordinal = np.arange(len(facts.value)) - facts.offset[facts.qualifier_fact]
        entity = np.concatenate([facts.subject, facts.object, facts.value])
        row = np.concatenate([rows, rows, facts.qualifier_fact])
        slot = np.concatenate([np.zeros_like(rows), np.ones_like(rows), ordinal + FIRST_QUALIFIER])
        usable = np.zeros(len(facts), dtype=bool)
        usable[self.usable_rows] = True
        keep = usable[row] & self._may_be_asked(slot)
        entity, row, slot = entity[keep], row[keep], slot[keep]
        order = np.argsort(entity, kind="stable")
        start = np.searchsorted(entity[order], np.arange(self.graph.entity_count + 1))
        return start, row[order], slot[order]

    @cached_property
    def by_relation(self) -> tuple[Integers, Integers]:
        """The usable facts sorted by relation, and where each relation's run starts."""
        rows = self.usable_rows
        relation = self.graph.facts.relation[rows]
        order = np.argsort(relation, kind="stable")
        starts = np.flatnonzero(np.diff(relation[order], prepend=-1))
        return rows[order], np.append(starts, len(rows))

    def _may_be_asked(self, slot: Integers) -> Integers:
        allowed = np.array([kind in self.asked_slots for kind in SLOTS])
        return allowed[np.minimum(slot, FIRST_QUALIFIER)]


@dataclass(eq=False)
class _Walk:
    """One walk: the steps so far, and how to go on."""

    walker: Walker
    rng: np.random.Generator
    builder: PlanBuilder = field(default_factory=PlanBuilder)

    def step(self, shape: Shape, answer: int | None, came_from: int | None) -> int:
        """Build the steps of a shape, the last of which has the answer; gives its number.

        `came_from` is the fact the walk comes from: going straight back along it would name the
        answer among the anchors.
        """
        match shape.word:
            case "P":
                return self._projection(shape, answer, came_from)
            case "And":
                return self._conjunction(shape, answer, came_from)
            case "Or":
                return self._disjunction(shape, answer, came_from)
            case "Not":
                inner = self.step(shape.inputs[0], answer, came_from)
                return self.builder.add_connective(Op.NOT, self._name(), (inner,))
            case "Any":
                return self.builder.add_connective(Op.ANY, self._name(), ())
            case word:
                raise ValueError(f"unknown operator '{word}' in a shape")

    def _conjunction(self, shape: Shape, answer: int | None, came_from: int | None) -> int:
        """Parts that share the answer; a `not` is walked from another answer of the others."""
        common = self._any_entity() if answer is None else answer
        numbers: dict[int, int] = {}
        for place, one in enumerate(shape.inputs):
            if one.word != "Not":
                numbers[place] = self.step(one, common, came_from)
        for place, one in enumerate(shape.inputs):
            if one.word == "Not":
                other = self._another_answer(list(numbers.values()), common)
                numbers[place] = self.step(one, other, None)
        inputs = tuple(numbers[place] for place in range(len(shape.inputs)))
        return self.builder.add_connective(Op.AND, self._name(), inputs)

    def _another_answer(self, steps: Sequence[int], answer: int) -> int | None:
        """An entity that all these steps have, but the answer: so that the `not` matters."""
        positive = [one for one in steps if self.builder.steps[one].op != Op.NOT]
        if not positive:
            return None
        sets = run(self.builder.finish(), self.walker.graph)
        members = sets[positive[0]]
        for one in positive[1:]:
            members = members & sets[one]
        if members.inverted:
            return None
        others = members.members[members.members != answer]
        if not len(others):
            raise DeadEnd
        return int(others[self.rng.integers(len(others))])

    def _disjunction(self, shape: Shape, answer: int | None, came_from: int | None) -> int:
        """One branch has the answer, the others any."""
        holding = int(self.rng.integers(len(shape.inputs)))
        inputs = tuple(
            self.step(one, answer if place == holding else None, came_from)
            for place, one in enumerate(shape.inputs)
        )
        return self.builder.add_connective(Op.OR, self._name(), inputs)

    def _projection(self, shape: Shape, answer: int | None, came_from: int | None) -> int:
        """A fact with the answer in a slot; some of its other slots become variables."""
        row, asked = self._a_fact(answer, len(shape.inputs), came_from)
        subject, relation, object_, pairs = self.walker.graph.facts.row(row)
        entities = [subject, object_, *(value for _, value in pairs)]
        chosen = self._variable_slots(len(entities), asked, len(shape.inputs))
        closed = self.walker.match == "closed" or (
            self.walker.match == "any" and bool(self.rng.random() < 0.5)
        )
        kept = self._kept_slots(len(entities), {SUBJECT, OBJECT, asked, *chosen}, closed)
        inputs = tuple(
            (kept.index(place), self.step(one, entities[place], row))
            for place, one in zip(chosen, shape.inputs, strict=True)
        )
        slots = tuple(
            None if place == asked or place in chosen else entities[place] for place in kept
        )
        attributes = tuple(pairs[p - FIRST_QUALIFIER][0] for p in kept if p >= FIRST_QUALIFIER)
        return self.builder.add_projection(
            self._name(), relation, attributes, slots, kept.index(asked), closed, inputs
        )

    def _variable_slots(self, slot_count: int, asked: int, count: int) -> list[int]:
        if not count:
            return []
        others = [p for p in range(slot_count) if p != asked and _kind(p) in self._asked_slots]
        # In the restricted case StarQE knows, variables go from subject to object.
        if self._asked_slots == {"object"}:
            others = [SUBJECT]
        if len(others) < count:
            raise DeadEnd
        chosen: list[int] = sorted(self.rng.permutation(others)[:count].tolist())
        return chosen

    @property
    def _asked_slots(self) -> frozenset[str]:
        return self.walker.asked_slots

    def _kept_slots(self, slot_count: int, needed: set[int], closed: bool) -> list[int]:
        """The slots of the fact that the atom names."""
        if closed:
            return list(range(slot_count))
        free = [place for place in range(slot_count) if place not in needed]
        if self.walker.qualifiers is not None:
            missing = self.walker.qualifiers - sum(place >= FIRST_QUALIFIER for place in needed)
            if missing < 0 or missing > len(free):
                raise DeadEnd
            named = set(self.rng.permutation(free)[:missing].tolist())
        else:
            named = {place for place in free if self.rng.random() < NAMED}
        return sorted(needed | named)

    def _a_fact(self, answer: int | None, inputs: int, came_from: int | None) -> tuple[int, int]:
        """A random fact with enough slots, and the slot in which it holds the answer."""
        if answer is None:
            row = self._first_fact(inputs)
            return row, self._any_slot(row)
        start, rows, slots = self.walker.mentions
        first, last = int(start[answer]), int(start[answer + 1])
        for _ in range(8):
            if first == last:
                break
            place = int(self.rng.integers(first, last))
            row = int(rows[place])
            if row != came_from and self.walker.graph.facts.qualifier_count[row] + 1 >= inputs:
                return row, int(slots[place])
        raise DeadEnd

    def _first_fact(self, inputs: int) -> int:
        """The fact a walk begins with."""
        if self.walker.draw_by == "relation":
            rows, starts = self.walker.by_relation
            if len(starts) < 2:
                raise DeadEnd
            relation = int(self.rng.integers(len(starts) - 1))
            row = int(rows[self.rng.integers(starts[relation], starts[relation + 1])])
            if self.walker.graph.facts.qualifier_count[row] + 1 < inputs:
                raise DeadEnd
            return row
        rows = self.walker.long_enough(inputs)
        if not len(rows):
            raise DeadEnd
        return int(rows[self.rng.integers(len(rows))])

    def _any_slot(self, row: int) -> int:
        count = int(self.walker.graph.facts.qualifier_count[row]) + FIRST_QUALIFIER
        slots = [place for place in range(count) if _kind(place) in self._asked_slots]
        if not slots:
            raise DeadEnd
        return slots[int(self.rng.integers(len(slots)))]

    def _any_entity(self) -> int:
        """What stands in a slot that may be asked of a fact drawn as a first one."""
        row = self._first_fact(0)
        slot = self._any_slot(row)
        subject, _, object_, pairs = self.walker.graph.facts.row(row)
        return (subject, object_, *(value for _, value in pairs))[slot]

    def _name(self) -> str:
        return f"v{len(self.builder.steps)}"


def _kind(place: int) -> str:
    return SLOTS[min(place, FIRST_QUALIFIER)]

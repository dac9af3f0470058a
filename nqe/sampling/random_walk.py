"""Draws random queries of a given shape by walking from an answer to the anchors."""

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
from nqe.settings import SLOTS

Match = Literal["open", "closed", "any"]
Draw = Literal["fact", "relation"]


TRIES = 100
"""`Walker.draw` gives up after this many walks without success."""
FACT_TRIES = 8
"""A walk looks at this many facts of an entity for one that fits."""
NAMED = 0.5
"""The probability that an open atom names a qualifier of its fact that it could leave out."""


class DeadEnd(Exception):
    """A walk found no fact that fits; another walk may find one."""


@dataclass(frozen=True, eq=False)
class Walker:
    """Draws queries over a graph.

    A query without `not` has at least one answer: the one its walk began with. A `not` may
    remove that answer.
    """

    graph: Graph
    match: Match = "closed"
    asked_slots: frozenset[str] = frozenset(SLOTS)
    """The slots that may be asked for or hold a variable."""
    draw_by: Draw = "fact"
    """The first fact of a walk is drawn uniformly from all facts, or from those of a relation
    that is drawn uniformly."""
    qualifiers: int | None = None
    """The number of qualifiers of every atom; None means any number."""

    def draw(self, shape: Shape, rng: np.random.Generator) -> Plan | None:
        """Draw a query of the shape; None if many walks found none."""
        for _ in range(TRIES):
            plan = self.try_to_draw(shape, rng)
            if plan is not None:
                return plan
        return None

    def try_to_draw(self, shape: Shape, rng: np.random.Generator) -> Plan | None:
        """Draw a query of the shape by one walk; None if the walk comes to a dead end."""
        walk = _Walk(self, rng)
        try:
            walk.add_steps(shape, None, None)
        except DeadEnd:
            return None
        return walk.builder.finish()

    def can_fill(self, shape: Shape) -> bool:
        """Whether any fact has enough slots for the widest projection of the shape."""
        widest = max((len(one.inputs) for one in shape.walk() if one.word == "P"), default=0)
        return len(self.long_enough(widest)) > 0

    def long_enough(self, input_count: int) -> Integers:
        """Return the usable facts with slots for this many variables besides the asked one."""
        # Facts are sorted by arity, so those with enough slots come last.
        first = int(self._usable_counts.searchsorted(input_count - 1))
        return self.usable_rows[first:]

    @cached_property
    def _usable_counts(self) -> Integers:
        return self.graph.facts.qualifier_count[self.usable_rows]

    @cached_property
    def usable_rows(self) -> Integers:
        """The facts that may become atoms, by their rows."""
        counts = self.graph.facts.qualifier_count
        if self.qualifiers is None:
            return np.arange(len(self.graph))
        enough = counts == self.qualifiers if self.match == "closed" else counts >= self.qualifiers
        return np.flatnonzero(enough)

    @cached_property
    def mentions(self) -> tuple[Integers, Integers, Integers]:
        """Where each entity occurs in usable facts: start of its entries, rows, and slots."""
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
        """The usable facts sorted by relation, and where the facts of each relation start."""
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
    """One walk, and the steps of the plan that it has built so far."""

    walker: Walker
    rng: np.random.Generator
    builder: PlanBuilder = field(default_factory=PlanBuilder)

    def add_steps(self, shape: Shape, answer: int | None, came_from: int | None) -> int:
        """Add the steps of a shape that have the given answer, and return the last one's number.

        Without an answer, any is drawn. `came_from` is the fact that the walk comes from. It is
        not used again, as the answer would then be one of the anchors.
        """
        match shape.word:
            case "P":
                return self._projection(shape, answer, came_from)
            case "And":
                return self._conjunction(shape, answer, came_from)
            case "Or":
                return self._disjunction(shape, answer, came_from)
            case "Not":
                inner = self.add_steps(shape.inputs[0], answer, came_from)
                return self.builder.add_connective(Op.NOT, self._name(), (inner,))
            case "Any":
                return self.builder.add_connective(Op.ANY, self._name(), ())
            case word:
                raise ValueError(f"unknown operator '{word}' in a shape")

    def _conjunction(self, shape: Shape, answer: int | None, came_from: int | None) -> int:
        """Add inputs that share the answer; a `not` is walked from another answer of the others."""
        common = self._draw_entity() if answer is None else answer
        numbers: dict[int, int] = {}
        for place, one in enumerate(shape.inputs):
            if one.word != "Not":
                numbers[place] = self.add_steps(one, common, came_from)
        for place, one in enumerate(shape.inputs):
            if one.word == "Not":
                other = self._draw_other_answer(list(numbers.values()), common)
                numbers[place] = self.add_steps(one, other, None)
        inputs = tuple(numbers[place] for place in range(len(shape.inputs)))
        return self.builder.add_connective(Op.AND, self._name(), inputs)

    def _draw_other_answer(self, steps: Sequence[int], answer: int) -> int | None:
        """Draw an entity, other than the answer, that all steps have, so that the `not` matters."""
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
        """Add branches, one of which has the answer."""
        holding = int(self.rng.integers(len(shape.inputs)))
        inputs = tuple(
            self.add_steps(one, answer if place == holding else None, came_from)
            for place, one in enumerate(shape.inputs)
        )
        return self.builder.add_connective(Op.OR, self._name(), inputs)

    def _projection(self, shape: Shape, answer: int | None, came_from: int | None) -> int:
        """Add a projection made from a fact that has the answer in a slot."""
        row, asked = self._draw_fact(answer, len(shape.inputs), came_from)
        subject, relation, object_, pairs = self.walker.graph.facts.row(row)
        entities = [subject, object_, *(value for _, value in pairs)]
        chosen = self._draw_variable_slots(len(entities), asked, len(shape.inputs))
        closed = self.walker.match == "closed" or (
            self.walker.match == "any" and bool(self.rng.random() < 0.5)
        )
        kept = self._draw_named_slots(len(entities), {SUBJECT, OBJECT, asked, *chosen}, closed)
        inputs = tuple(
            (kept.index(place), self.add_steps(one, entities[place], row))
            for place, one in zip(chosen, shape.inputs, strict=True)
        )
        slots = tuple(
            None if place == asked or place in chosen else entities[place] for place in kept
        )
        attributes = tuple(pairs[p - FIRST_QUALIFIER][0] for p in kept if p >= FIRST_QUALIFIER)
        return self.builder.add_projection(
            self._name(), relation, attributes, slots, kept.index(asked), closed, inputs
        )

    def _draw_variable_slots(self, slot_count: int, asked: int, count: int) -> list[int]:
        """Draw the slots that inputs fill."""
        if not count:
            return []
        others = [p for p in range(slot_count) if p != asked and _kind(p) in self._asked_slots]
        # In StarQE's restricted case, variables go from subject to object.
        if self._asked_slots == {"object"}:
            others = [SUBJECT]
        if len(others) < count:
            raise DeadEnd
        chosen: list[int] = sorted(self.rng.permutation(others)[:count].tolist())
        return chosen

    @property
    def _asked_slots(self) -> frozenset[str]:
        return self.walker.asked_slots

    def _draw_named_slots(self, slot_count: int, needed: set[int], closed: bool) -> list[int]:
        """Draw the slots of the fact that the atom has; a closed atom has all of them."""
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

    def _draw_fact(self, answer: int | None, inputs: int, came_from: int | None) -> tuple[int, int]:
        """Draw a fact with enough slots, and return it with the slot that has the answer."""
        if answer is None:
            row = self._draw_first_fact(inputs)
            return row, self._draw_slot(row)
        start, rows, slots = self.walker.mentions
        first, last = int(start[answer]), int(start[answer + 1])
        for _ in range(FACT_TRIES):
            if first == last:
                break
            place = int(self.rng.integers(first, last))
            row = int(rows[place])
            if row != came_from and self.walker.graph.facts.qualifier_count[row] + 1 >= inputs:
                return row, int(slots[place])
        raise DeadEnd

    def _draw_first_fact(self, inputs: int) -> int:
        """Draw the fact that a walk begins with."""
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

    def _draw_slot(self, row: int) -> int:
        count = int(self.walker.graph.facts.qualifier_count[row]) + FIRST_QUALIFIER
        slots = [place for place in range(count) if _kind(place) in self._asked_slots]
        if not slots:
            raise DeadEnd
        return slots[int(self.rng.integers(len(slots)))]

    def _draw_entity(self) -> int:
        """Draw an entity from a slot that may be asked for."""
        row = self._draw_first_fact(0)
        slot = self._draw_slot(row)
        subject, _, object_, pairs = self.walker.graph.facts.row(row)
        return (subject, object_, *(value for _, value in pairs))[slot]

    def _name(self) -> str:
        return f"v{len(self.builder.steps)}"


def _kind(place: int) -> str:
    return SLOTS[min(place, FIRST_QUALIFIER)]

"""Drawing a random query of a given shape, walking back from an answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from nqe.graph.facts import Integers
from nqe.graph.graph import Graph
from nqe.graph.pattern import FIRST_QUALIFIER, OBJECT, SUBJECT
from nqe.query.plan import Op, Plan, PlanBuilder
from nqe.query.shapes import Shape

Match = Literal["open", "closed", "any"]

# A walk that finds no fitting fact is begun anew so many times.
TRIES = 100
# An open atom names each qualifier of its fact that it need not with this probability.
NAMED = 0.5


class DeadEnd(Exception):
    """The walk found no fact that fits; another walk may."""


@dataclass(frozen=True, eq=False)
class Walker:
    """Draws queries over a graph that have at least the answer they were walked from.

    Not promised where a `not` is: what it takes away may be that answer.
    """

    graph: Graph
    match: Match = "closed"
    asked_slots: frozenset[str] = frozenset({"subject", "object", "value"})

    def draw(self, shape: Shape, rng: np.random.Generator) -> Plan | None:
        """A random query of the shape; None when the graph has none to be found in some tries."""
        for _ in range(TRIES):
            builder = PlanBuilder()
            try:
                self._walk(shape, None, builder, rng)
            except DeadEnd:
                continue
            return builder.finish()
        return None

    def _walk(
        self, shape: Shape, answer: int | None, builder: PlanBuilder, rng: np.random.Generator
    ) -> int:
        """Build the steps of a shape, the last of which has the answer; gives its number."""
        variable = f"v{len(builder.steps)}"
        match shape.word:
            case "P":
                return self._projection(shape, answer, builder, rng)
            case "And":
                return self._conjunction(shape, answer, builder, rng)
            case "Or":
                return self._disjunction(shape, answer, builder, rng)
            case "Not":
                inner = self._walk(shape.inputs[0], None, builder, rng)
                return builder.connective(Op.NOT, variable, (inner,))
            case _:
                return builder.connective(Op.ANY, variable, ())

    def _conjunction(
        self, shape: Shape, answer: int | None, builder: PlanBuilder, rng: np.random.Generator
    ) -> int:
        """Parts that share the answer; what is under a `not` is walked from another one."""
        common = self._any_entity(rng) if answer is None else answer
        inputs = tuple(self._walk(one, common, builder, rng) for one in shape.inputs)
        return builder.connective(Op.AND, f"v{len(builder.steps)}", inputs)

    def _disjunction(
        self, shape: Shape, answer: int | None, builder: PlanBuilder, rng: np.random.Generator
    ) -> int:
        """One branch has the answer, the others any."""
        holding = int(rng.integers(len(shape.inputs)))
        inputs = tuple(
            self._walk(one, answer if place == holding else None, builder, rng)
            for place, one in enumerate(shape.inputs)
        )
        return builder.connective(Op.OR, f"v{len(builder.steps)}", inputs)

    def _projection(
        self, shape: Shape, answer: int | None, builder: PlanBuilder, rng: np.random.Generator
    ) -> int:
        """A fact with the answer in a slot; some of its other slots become variables."""
        row = self._a_fact(answer, len(shape.inputs), rng)
        subject, relation, object_, pairs = self.graph.facts.row(row)
        entities = [subject, object_, *(value for _, value in pairs)]
        asked = self._asked_slot(entities, answer, rng)
        others = [place for place in range(len(entities)) if place != asked]
        chosen = sorted(rng.permutation(others)[: len(shape.inputs)].tolist())
        closed = self.match == "closed" or (self.match == "any" and bool(rng.random() < 0.5))
        kept = [
            place
            for place in range(len(entities))
            if closed or place in (SUBJECT, OBJECT, asked, *chosen) or rng.random() < NAMED
        ]
        inputs = tuple(
            (kept.index(place), self._walk(one, entities[place], builder, rng))
            for place, one in zip(chosen, shape.inputs, strict=True)
        )
        slots = tuple(
            None if place == asked or place in chosen else entities[place] for place in kept
        )
        attributes = tuple(pairs[p - FIRST_QUALIFIER][0] for p in kept if p >= FIRST_QUALIFIER)
        variable = f"v{len(builder.steps)}"
        return builder.projection(
            variable, relation, attributes, slots, kept.index(asked), closed, inputs
        )

    def _a_fact(self, answer: int | None, input_count: int, rng: np.random.Generator) -> int:
        """A random fact that holds the answer in a slot that may be asked."""
        if answer is None:
            rows = self._long_enough(input_count)
        else:
            start, end = self._mention_start[answer], self._mention_start[answer + 1]
            rows = self._mention_row[start:end]
            rows = rows[self.graph.facts.qualifier_count[rows] + 1 >= input_count]
        if not len(rows):
            raise DeadEnd
        return int(rows[rng.integers(len(rows))])

    def _asked_slot(self, entities: list[int], answer: int | None, rng: np.random.Generator) -> int:
        slots = [
            place
            for place, entity in enumerate(entities)
            if answer in (None, entity) and _slot_kind(place) in self.asked_slots
        ]
        if not slots:
            raise DeadEnd
        return slots[int(rng.integers(len(slots)))]

    def _long_enough(self, input_count: int) -> Integers:
        least = max(0, input_count - 1)
        # Facts are sorted by arity, so that those with enough slots are the last ones.
        first = int(np.searchsorted(self.graph.facts.qualifier_count, least))
        return np.arange(first, len(self.graph))

    def _any_entity(self, rng: np.random.Generator) -> int:
        """An entity, as likely as it is often mentioned."""
        if not len(self._mention_row):
            raise DeadEnd
        facts = self.graph.facts
        subject, _, object_, pairs = facts.row(int(rng.integers(len(facts))))
        entities = [subject, object_, *(value for _, value in pairs)]
        return entities[int(rng.integers(len(entities)))]

    @cached_property
    def _mentions(self) -> tuple[Integers, Integers]:
        """The facts of each entity: where its run starts, and the rows."""
        facts = self.graph.facts
        rows = np.arange(len(facts))
        entity = np.concatenate([facts.subject, facts.object, facts.value])
        row = np.concatenate([rows, rows, facts.qualifier_fact])
        order = np.argsort(entity, kind="stable")
        start = np.searchsorted(entity[order], np.arange(self.graph.entity_count + 1))
        return start, row[order]

    @property
    def _mention_start(self) -> Integers:
        return self._mentions[0]

    @property
    def _mention_row(self) -> Integers:
        return self._mentions[1]


def _slot_kind(place: int) -> str:
    return {SUBJECT: "subject", OBJECT: "object"}.get(place, "value")

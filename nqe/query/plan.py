"""Plans: the steps by which a query over a known vocabulary is answered, for every runner."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any, assert_never

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.entity_set import EntitySet
from nqe.graph.pattern import FIRST_QUALIFIER, Kind, Pattern, Restriction
from nqe.graph.vocabulary import Vocabulary
from nqe.query.algebra import (
    Anything,
    Conjunction,
    Disjunction,
    Negation,
    Operator,
    Projection,
    to_formula,
)
from nqe.query.formula import Variable
from nqe.query.limits import NESTING
from nqe.query.query import Query
from nqe.query.shapes import Shape


class Op(IntEnum):
    """The operator of a step."""

    PROJECTION = 0
    AND = 1
    OR = 2
    NOT = 3
    ANY = 4

    @property
    def word(self) -> str:
        """The word that shapes, drawings and JSON use."""
        return ("P", "And", "Or", "Not", "Any")[self]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan, which computes a set of entities from the sets of its inputs.

    The fields after `depth` belong to projections. Slots are numbered: subject, object, then
    the values of the qualifiers.
    """

    op: Op
    inputs: tuple[int, ...]
    """The numbers of the steps whose sets it uses."""
    variable: str
    depth: int
    """The number of steps on the longest way below it."""
    relation: int = -1
    attributes: tuple[int, ...] = ()
    slots: tuple[int | None, ...] = ()
    """The anchors; None in the asked slot and in the slots that inputs fill."""
    filled: tuple[int, ...] = ()
    """For each input, the slot that it fills."""
    asked: int = -1
    closed: bool = False

    def pattern(self, inputs: Sequence[EntitySet] = ()) -> Pattern:
        """The pattern of a projection, with the sets of its inputs in their slots."""
        slots: list[Restriction] = list(self.slots)
        for place, entities in zip(self.filled, inputs, strict=True):
            slots[place] = entities
        return Pattern(self.relation, tuple(slots), self.attributes, self.asked, self.closed)


@dataclass(frozen=True, eq=False)
class Plan:
    """Steps in an order in which every input stands before its user; the last is the target."""

    steps: tuple[Step, ...]
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.steps:
            NESTING.check(self.steps[-1].depth + 1)

    def __eq__(self, other: object) -> bool:
        """Whether both plans have the same steps; the names of variables do not count."""
        if not isinstance(other, Plan):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(self.rows, other.rows, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(rows.tobytes() for rows in self.rows))

    @property
    def target(self) -> Step:
        """The step whose set holds the answers."""
        return self.steps[-1]

    @cached_property
    def shape(self) -> Shape:
        """The shape, with inputs in the order of the steps."""
        shapes: list[Shape] = []
        for step in self.steps:
            shapes.append(Shape(step.op.word, tuple(shapes[i] for i in step.inputs)))
        return shapes[-1]

    @property
    def shape_name(self) -> str:
        """The name of the shape if it is one of the 16, otherwise the shape as a tree."""
        return self.shape.name

    @cached_property
    def patterns(self) -> tuple[Pattern | None, ...]:
        """The pattern of each step that is a projection without inputs; None for other steps."""
        return tuple(
            step.pattern() if step.op == Op.PROJECTION and not step.filled else None
            for step in self.steps
        )

    @cached_property
    def largest(self) -> tuple[int, int]:
        """The largest entity number and the largest relation number that occur; -1 if none does."""
        entities = (slot for step in self.steps for slot in step.slots if slot is not None)
        relations = (n for step in self.steps for n in (step.relation, *step.attributes))
        return max(entities, default=-1), max(relations, default=-1)

    @cached_property
    def rows(self) -> tuple[Integers, Integers]:
        """The plan as rows of integers, one per step and one per slot; StepTable stacks them."""
        parent = {child: number for number, step in enumerate(self.steps) for child in step.inputs}
        steps = [_step_row(step, parent.get(number, -1)) for number, step in enumerate(self.steps)]
        slots = [row for step in self.steps for row in _slot_rows(step)]
        return (
            np.array(steps, dtype=np.int64),  # (steps, STEP_ROW)
            np.array(slots, dtype=np.int64).reshape(-1, SLOT_ROW),  # (slots, SLOT_ROW)
        )

    def query(self, vocabulary: Vocabulary) -> Query:
        """A query in ids that `bind` turns into this plan."""
        target = Variable(self.target.variable)
        return Query(target, to_formula(self._operators(vocabulary), target))

    def _operators(self, vocabulary: Vocabulary) -> Operator:
        """The tree of operators, with ids in place of numbers."""
        operators: list[Operator] = []
        for step in self.steps:
            inputs = tuple(operators[i] for i in step.inputs)
            operators.append(_to_operator(step, inputs, vocabulary))
        return operators[-1]


# The least and the most inputs of the steps that are not projections.
_FAN_IN = {
    Op.AND: (1, math.inf),
    Op.OR: (1, math.inf),
    Op.NOT: (1, 1),
    Op.ANY: (0, 0),
}


@dataclass
class PlanBuilder:
    """Builds a plan step by step; the methods that add a step return its number."""

    steps: list[Step] = field(default_factory=list)

    def add_projection(
        self,
        variable: str,
        relation: int,
        attributes: tuple[int, ...],
        slots: tuple[int | None, ...],
        asked: int,
        closed: bool,
        inputs: tuple[tuple[int, int], ...] = (),
    ) -> int:
        """Add a projection; `inputs` are pairs of a slot and the step that fills it."""
        numbers = tuple(step for _, step in inputs)
        return self._add(
            Step(
                Op.PROJECTION,
                numbers,
                variable,
                self._depth(numbers),
                relation,
                attributes,
                slots,
                tuple(slot for slot, _ in inputs),
                asked,
                closed,
            )
        )

    def add_connective(self, op: Op, variable: str, inputs: tuple[int, ...]) -> int:
        """Add a step that is not a projection."""
        least, most = _FAN_IN[op]
        if not least <= len(inputs) <= most:
            raise ValueError(f"a step {op.word} does not take {len(inputs)} inputs")
        return self._add(Step(op, inputs, variable, self._depth(inputs)))

    def finish(self, warnings: tuple[str, ...] = ()) -> Plan:
        """The plan of all steps added; the last one is its target."""
        return Plan(tuple(self.steps), warnings)

    def _depth(self, inputs: tuple[int, ...]) -> int:
        return 1 + max((self.steps[i].depth for i in inputs), default=-1)

    def _add(self, step: Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1


# The number of integers in a row of a step and of a slot.
STEP_ROW, SLOT_ROW = 7, 3


def _step_row(step: Step, parent: int) -> tuple[int, ...]:
    slot_count = len(step.slots)
    return (step.op, step.depth, parent, step.relation, step.asked, step.closed, slot_count)


def _slot_rows(step: Step) -> Iterator[tuple[int, int, int]]:
    """One row (attribute, kind, filler) per slot of a projection."""
    fillers = dict(zip(step.filled, step.inputs, strict=True)) if step.slots else {}
    for place, anchor in enumerate(step.slots):
        attribute = step.attributes[place - FIRST_QUALIFIER] if place >= FIRST_QUALIFIER else -1
        if anchor is not None:
            yield attribute, Kind.KNOWN, anchor
        elif place in fillers:
            yield attribute, Kind.SET, fillers[place]
        else:
            yield attribute, Kind.FREE, -1


def _to_operator(step: Step, inputs: tuple[Operator, ...], vocabulary: Vocabulary) -> Operator:
    match step.op:
        case Op.PROJECTION:
            fillers: dict[int, Any] = dict(zip(step.filled, inputs, strict=True))
            entity, relation = vocabulary.entities.ids, vocabulary.relations.ids
            slots = tuple(
                fillers.get(place) if anchor is None else entity[anchor]
                for place, anchor in enumerate(step.slots)
            )
            attributes = tuple(relation[attribute] for attribute in step.attributes)
            return Projection(
                step.variable, relation[step.relation], attributes, slots, step.asked, step.closed
            )
        case Op.AND:
            return Conjunction(step.variable, inputs)
        case Op.OR:
            return Disjunction(step.variable, inputs)
        case Op.NOT:
            return Negation(step.variable, inputs[0])
        case Op.ANY:
            return Anything(step.variable)
        case _:
            assert_never(step.op)

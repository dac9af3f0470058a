"""A plan: a query bound to a vocabulary, as steps in topological order that every runner shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any, assert_never

import numpy as np

from nqe.errors import NameLookupError, QueryError
from nqe.graph.arrays import Integers
from nqe.graph.dataset import Dataset
from nqe.graph.graph import Graph
from nqe.graph.pattern import FIRST_QUALIFIER, Kind, Pattern
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.query.algebra import (
    Anything,
    Conjunction,
    Disjunction,
    Negation,
    Operator,
    Projection,
    is_complement,
    query_of,
)
from nqe.query.compiler import operators
from nqe.query.formula import Query
from nqe.query.shapes import Shape, name_of
from nqe.query.text import parse


class Op(IntEnum):
    """What a step does."""

    PROJECTION = 0
    AND = 1
    OR = 2
    NOT = 3
    ANY = 4

    @property
    def word(self) -> str:
        """The word in shapes and drawings."""
        return ("P", "And", "Or", "Not", "Any")[self]


@dataclass(frozen=True, slots=True)
class Step:
    """One set to fill, from the sets of its inputs.

    Only projections have what follows `depth`: `slots` holds the anchors, and None in the asked
    slot and in those that inputs fill; `filled` tells which slots those are, input by input.
    """

    op: Op
    inputs: tuple[int, ...]
    variable: str
    depth: int
    relation: int = -1
    attributes: tuple[int, ...] = ()
    slots: tuple[int | None, ...] = ()
    filled: tuple[int, ...] = ()
    asked: int = -1
    closed: bool = False


@dataclass(frozen=True, eq=False)
class Plan:
    """Steps with inputs before what uses them; the last one is the target."""

    steps: tuple[Step, ...]
    warnings: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        """Whether both do the same; names of variables do not count."""
        if not isinstance(other, Plan):
            return NotImplemented
        return all(np.array_equal(a, b) for a, b in zip(self.rows, other.rows, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(rows.tobytes() for rows in self.rows))

    @property
    def target(self) -> Step:
        """The step whose set are the answers."""
        return self.steps[-1]

    @cached_property
    def shape(self) -> Shape:
        """The shape, inputs in order."""
        shapes: list[Shape] = []
        for step in self.steps:
            shapes.append(Shape(step.op.word, tuple(shapes[i] for i in step.inputs)))
        return shapes[-1]

    @property
    def shape_name(self) -> str:
        """The shape's name if it is one of the 16, else its tree."""
        return name_of(self.shape)

    @cached_property
    def patterns(self) -> tuple[Pattern | None, ...]:
        """The pattern of each projection without inputs, ready to be matched."""
        return tuple(
            Pattern(step.relation, step.slots, step.attributes, step.asked, step.closed)
            if step.op == Op.PROJECTION and not step.filled
            else None
            for step in self.steps
        )

    @cached_property
    def largest(self) -> tuple[int, int]:
        """The largest numbers of an entity and of a relation in it."""
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
        """A query, in ids, that binds to this plan."""
        return query_of(self._operators(vocabulary), self.target.variable)

    def _operators(self, vocabulary: Vocabulary) -> Operator:
        done: list[Operator] = []
        for step in self.steps:
            done.append(_operator(step, tuple(done[i] for i in step.inputs), vocabulary))
        return done[-1]


@dataclass
class PlanBuilder:
    """Collects steps; each method gives the number of the new step."""

    steps: list[Step] = field(default_factory=list)

    def projection(
        self,
        variable: str,
        relation: int,
        attributes: tuple[int, ...],
        slots: tuple[int | None, ...],
        asked: int,
        closed: bool,
        inputs: tuple[tuple[int, int], ...] = (),
    ) -> int:
        """A projection; `inputs` are pairs of a slot and the step that fills it."""
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

    def connective(self, op: Op, variable: str, inputs: tuple[int, ...]) -> int:
        """An and, or, not, or any."""
        return self._add(Step(op, inputs, variable, self._depth(inputs)))

    def finish(self, warnings: tuple[str, ...] = ()) -> Plan:
        """The plan whose target is the last step."""
        return Plan(tuple(self.steps), warnings)

    def _depth(self, inputs: tuple[int, ...]) -> int:
        return 1 + max((self.steps[i].depth for i in inputs), default=-1)

    def _add(self, step: Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1


def bind(query: Query | str | Mapping[str, Any], vocabulary: Vocabulary | Graph | Dataset) -> Plan:
    """The plan of a query (a tree, text or JSON) over a vocabulary; names are ids or labels."""
    tree = operators(as_query(query))
    builder = PlanBuilder()
    names = vocabulary if isinstance(vocabulary, Vocabulary) else vocabulary.vocabulary
    _bind(tree, builder, names)
    warnings = (_COMPLEMENT,) if is_complement(tree) else ()
    return builder.finish(warnings)


def as_query(query: Query | str | Mapping[str, Any]) -> Query:
    """The query that a tree, a text, JSON text or JSON data says."""
    if isinstance(query, Query):
        return query
    if isinstance(query, str):
        return Query.from_json(query) if query.lstrip().startswith("{") else parse(query)
    if isinstance(query, Mapping):
        return Query.from_json(query)
    raise QueryError(f"a query is text, JSON or a Query, not {type(query).__name__} {query!r:.60}")


_COMPLEMENT = (
    "the query does not say what its answers are, only what they are not, so nearly every "
    "entity is one; add something they are"
)


def _bind(operator: Operator, builder: PlanBuilder, vocabulary: Vocabulary) -> int:
    match operator:
        case Projection():
            return _bind_projection(operator, builder, vocabulary)
        case Conjunction():
            op = Op.AND
        case Disjunction():
            op = Op.OR
        case Negation():
            op = Op.NOT
        case Anything():
            op = Op.ANY
        case _:
            assert_never(operator)
    inputs = tuple(_bind(one, builder, vocabulary) for one in operator.inputs)
    return builder.connective(op, operator.variable, inputs)


def _bind_projection(operator: Projection, builder: PlanBuilder, vocabulary: Vocabulary) -> int:
    relation = _resolve(vocabulary.relations, operator.relation)
    attributes = tuple(_resolve(vocabulary.relations, name) for name in operator.attributes)
    slots: list[int | None] = []
    inputs: list[tuple[int, int]] = []
    for place, slot in enumerate(operator.slots):
        slots.append(_resolve(vocabulary.entities, slot) if isinstance(slot, str) else None)
        if slot is not None and not isinstance(slot, str):
            inputs.append((place, _bind(slot, builder, vocabulary)))
    return builder.projection(
        operator.variable,
        relation,
        attributes,
        tuple(slots),
        operator.asked,
        operator.closed,
        tuple(inputs),
    )


def _resolve(names: Names, text: str) -> int:
    try:
        return names.resolve(text)
    except NameLookupError as error:
        raise QueryError(str(error)) from error


# The number of integers in a row of a step and of a slot.
STEP_ROW, SLOT_ROW = 7, 3


def _step_row(step: Step, parent: int) -> tuple[int, ...]:
    slot_count = len(step.slots)
    return (step.op, step.depth, parent, step.relation, step.asked, step.closed, slot_count)


def _slot_rows(step: Step) -> Iterator[tuple[int, int, int]]:
    """A row (attribute, kind, filler) for each slot of a projection."""
    fillers = dict(zip(step.filled, step.inputs, strict=True)) if step.slots else {}
    for place, anchor in enumerate(step.slots):
        attribute = step.attributes[place - FIRST_QUALIFIER] if place >= FIRST_QUALIFIER else -1
        if anchor is not None:
            yield attribute, Kind.KNOWN, anchor
        elif place in fillers:
            yield attribute, Kind.SET, fillers[place]
        else:
            yield attribute, Kind.FREE, -1


def _operator(step: Step, inputs: tuple[Operator, ...], vocabulary: Vocabulary) -> Operator:
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

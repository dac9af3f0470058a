"""Structures of nested-tuple queries in BetaE's notation, and plans of queries that have one.

A structure is a tuple of the letters e (anchor), r (relation), n (not) and u (union):
`('e', ('r', 'r'))` is a chain, `(A, B)` a conjunction, `(A, B, ('u',))` a disjunction, and
`((A, B), ('r', 'n'))` continues a conjunction with a chain. A query has the same form, with
numbers for e and r, -2 for n and -1 for u.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.pattern import OBJECT, SUBJECT, Kind
from nqe.query.plan import Op, Plan, PlanBuilder
from nqe.query.step_table import StepTable

NestedTuple = Any
"""A letter or number, or a tuple of nested tuples."""

SIGNS = {"n": -2, "u": -1}
LARGEST = 2**62
"""Larger numbers occur in no file, and would not fit into an array."""


def show(value: Any) -> str:
    """The beginning of a value from a file, for messages."""
    try:
        return repr(value)[:100]
    except (ValueError, RecursionError):  # a number of thousands of digits
        return f"a {type(value).__name__} that is too large to show"


class MalformedTuple(Exception):
    """A structure without a meaning, or a query that does not have its structure."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """What the numbers in a folder's files mean: entities and relations of the vocabulary."""

    entity: Integers  # (entity numbers,)
    relation: Integers  # (relation numbers,)
    reverse: Booleans  # (relation numbers,) whether the subject is asked for


@dataclass(frozen=True, eq=False)
class Structure:
    """A structure, and its plan, in which anchors and relations are positions of letters."""

    form: NestedTuple
    letters: tuple[str, ...]
    plan: Plan

    @classmethod
    def of(cls, form: NestedTuple) -> Structure:
        """Parse a structure."""
        letters = tuple(_leaves(form))
        if not isinstance(form, tuple) or not set(letters) <= {"e", "r", "n", "u"}:
            raise MalformedTuple(f"the structure {show(form)} has letters besides e, r, n and u")
        builder = PlanBuilder()
        _add_steps(form, builder, count())
        return cls(form, letters, builder.finish())

    @cached_property
    def shape_name(self) -> str:
        """The name of the shape."""
        return self.plan.shape_name

    def read_matrix(self, queries: Sequence[NestedTuple], numbers: Numbers) -> Integers:
        """Return the numbers of all queries, checked: one row per query, one column per letter."""
        columns = list(_columns(self.form, queries))
        matrix = np.stack(columns, axis=1)  # (queries, letters)
        self._check(matrix, queries, numbers)
        return matrix

    def _check(self, matrix: Integers, queries: Sequence[NestedTuple], numbers: Numbers) -> None:
        limits = {"e": (0, len(numbers.entity)), "r": (0, len(numbers.relation))}
        limits |= {letter: (sign, sign + 1) for letter, sign in SIGNS.items()}
        for place, letter in enumerate(self.letters):
            low, high = limits[letter]
            wrong = np.flatnonzero((matrix[:, place] < low) | (matrix[:, place] >= high))
            if len(wrong):
                query, number = queries[wrong[0]], matrix[wrong[0], place]
                raise MalformedTuple(f"the query {show(query)} has {number} in place of '{letter}'")

    def build_plans(self, matrix: Integers, numbers: Numbers) -> StepTable:
        """Build the plans of all queries."""
        count = len(matrix)
        form = StepTable.of([self.plan])
        plans = form.take(np.zeros(count, dtype=np.int64))
        projections = plans.op == Op.PROJECTION
        relation = matrix[:, form.relation[form.op == Op.PROJECTION]]  # (queries, projections)
        reverse = numbers.reverse[relation].ravel()
        plans.relation[projections] = numbers.relation[relation].ravel()
        plans.asked[projections] = np.where(reverse, SUBJECT, OBJECT)
        anchors = matrix[:, form.filler[form.kind == Kind.KNOWN]]
        plans.filler[plans.kind == Kind.KNOWN] = numbers.entity[anchors].ravel()
        # Every atom has two slots, subject and object; a reversed relation swaps them.
        for column in (plans.kind, plans.filler):
            pairs = column.reshape(-1, 2)
            pairs[reverse] = pairs[reverse, ::-1]
        return plans


def _leaves(form: NestedTuple) -> Iterator[Any]:
    if isinstance(form, tuple):
        for part in form:
            yield from _leaves(part)
    else:
        yield form


def _columns(form: NestedTuple, queries: Sequence[NestedTuple]) -> Iterator[Integers]:
    """Yield for each letter of a structure the numbers of all queries."""
    if isinstance(form, str):
        yield _whole_numbers(queries)
        return
    for query in queries:
        if type(query) is not tuple or len(query) != len(form):
            raise MalformedTuple(f"{show(query)} does not have the structure {show(form)}")
    columns = zip(*queries, strict=True) if queries else iter([()] * len(form))
    for part, column in zip(form, columns, strict=True):
        yield from _columns(part, column)


def _whole_numbers(column: Sequence[Any]) -> Integers:
    for number in column:
        if type(number) is not int or abs(number) > LARGEST:
            raise MalformedTuple(f"a query has {show(number)} in place of a number")
    return np.array(column, dtype=np.int64)


def _add_steps(form: NestedTuple, builder: PlanBuilder, places: Iterator[int]) -> int:
    """Add the steps of a structure to a plan, and return the number of the last one."""
    match form:
        case ("e", ("r", *rest)):
            anchor = next(places)
            first = _add_projection(builder, next(places), (anchor, None), ())
            return _add_chain(first, rest, builder, places)
        case (tuple() as head, tuple() as letters) if {*letters} <= {"r", "n"} and letters:
            return _add_chain(_add_steps(head, builder, places), letters, builder, places)
        case (*parts, ("u",)) if len(parts) > 1:
            inputs = tuple(_add_steps(part, builder, places) for part in parts)
            next(places)
            return builder.add_connective(Op.OR, "x", inputs)
        case (tuple(), tuple(), *_):
            inputs = tuple(_add_steps(part, builder, places) for part in form)
            return builder.add_connective(Op.AND, "x", inputs)
        case _:
            raise MalformedTuple(f"the structure {show(form)} has no meaning")


def _add_chain(
    step: int, letters: Sequence[str], builder: PlanBuilder, places: Iterator[int]
) -> int:
    for letter in letters:
        place = next(places)
        if letter == "r":
            step = _add_projection(builder, place, (None, None), ((SUBJECT, step),))
        elif letter == "n":
            step = builder.add_connective(Op.NOT, "x", (step,))
        else:
            raise MalformedTuple(f"a chain has the letter '{letter}'; only r and n are possible")
    return step


def _add_projection(
    builder: PlanBuilder,
    relation: int,
    slots: tuple[int | None, int | None],
    inputs: tuple[tuple[int, int], ...],
) -> int:
    return builder.add_projection("x", relation, (), slots, OBJECT, False, inputs)

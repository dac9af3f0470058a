"""Checks of plans that were read from a file: every number is in its range, every plan a tree.

A plan that passes can be run and written as a query. Messages count queries and steps from 0, as
the files do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.pattern import FIRST_QUALIFIER, Kind
from nqe.query.limits import NESTING
from nqe.query.plan import Op
from nqe.query.step_table import StepTable

Problem = tuple[Booleans, str, Integers]
"""Which steps or slots are wrong, what is wrong with them, and the number that is."""

# The least and the most inputs of each operator, in the order of `Op`.
_LEAST_INPUTS = np.array([0, 2, 2, 1, 0])
_MOST_INPUTS = np.array([math.inf, math.inf, math.inf, 1, 0])


def check_steps(plans: StepTable, entity_count: int, relation_count: int) -> None:
    """Raise a ValueError unless every plan is a tree of operators over known numbers."""
    empty = plans.step_counts < 1
    if empty.any():
        raise ValueError(f"query {empty.argmax()} has no steps")
    for wrong, what, value in _find_wrong_steps(plans, relation_count):
        _refuse(plans, np.arange(plans.step_count), wrong, what, value)
    for wrong, what, value in _find_wrong_slots(plans, entity_count, relation_count):
        _refuse(plans, plans.step_of_slot, wrong, what, value)
    _check_filled_slots(plans)


def check_stored_steps(
    plan_start: Integers, parent: Integers, plan_of_slot: Integers, step_of_slot: Integers
) -> None:
    """Refuse numbers from which no StepTable can be built; steps count within their plans."""
    if parent.min(initial=0) < -1:
        raise ValueError(f"a step has the parent {parent.min()}")
    strays = _outside(step_of_slot, np.diff(plan_start)[plan_of_slot])
    if strays.any():
        first = strays.argmax()
        plan, step = plan_of_slot[first], step_of_slot[first]
        raise ValueError(f"query {plan}: a slot belongs to step {step}, which it does not have")
    if ((np.diff(step_of_slot) < 0) & (np.diff(plan_of_slot) == 0)).any():
        raise ValueError("slots are not in the order of their steps")


def _find_wrong_steps(plans: StepTable, relation_count: int) -> Iterator[Problem]:
    """Yield problems of steps; each may rely on the absence of those before it."""
    op, parent, depth = plans.op, plans.parent, plans.depth
    yield (op < 0) | (op >= len(Op)), "operator {} is unknown", op
    yield from _find_wrong_parents(plans)
    inputs = np.bincount(parent[parent >= 0], minlength=plans.step_count)
    yield (
        (inputs < _LEAST_INPUTS[op]) | (inputs > _MOST_INPUTS[op]),
        "the operator does not take {} input(s)",
        inputs,
    )
    yield depth != _compute_depths(plans), "depth {} is not that of its inputs plus one", depth
    yield depth >= NESTING.most, f"depth {{}} is more than {NESTING.most - 1}", depth
    projection = op == Op.PROJECTION
    fills_slot = (parent >= 0) & projection[parent]
    yield (op == Op.ANY) & ~fills_slot, "a step Any is not the input of a projection", op
    yield (
        np.where(projection, _outside(plans.relation, relation_count), plans.relation != -1),
        "relation {} is out of range",
        plans.relation,
    )
    yield (
        _outside(plans.closed, np.where(projection, 2, 1)),
        "the mark {} for closed is out of range",
        plans.closed,
    )
    slots = np.diff(plans.slot_start)
    yield (
        np.where(projection, slots < FIRST_QUALIFIER, slots > 0),
        "the operator does not take {} slot(s)",
        slots,
    )
    yield (
        np.where(projection, _outside(plans.asked, slots), plans.asked != -1),
        "asked slot {} is out of range",
        plans.asked,
    )


def _find_wrong_parents(plans: StepTable) -> Iterator[Problem]:
    """Yield steps whose parent is not a later step of the same plan; a target has no parent."""
    number = np.arange(plans.step_count)
    target = plans.targets[plans.plan_of_step]
    has_parent = (plans.parent > number) & (plans.parent <= target)
    yield (
        np.where(number == target, plans.parent != -1, ~has_parent),
        "the parent is not a later step, or the target has one",
        plans.parent,
    )


def _compute_depths(plans: StepTable) -> Integers:
    """Compute what each depth must be according to the depths of the inputs."""
    depths = np.zeros(plans.step_count, dtype=np.int64)
    inputs = np.flatnonzero(plans.parent >= 0)
    np.maximum.at(depths, plans.parent[inputs], plans.depth[inputs] + 1)
    return depths


def _find_wrong_slots(
    plans: StepTable, entity_count: int, relation_count: int
) -> Iterator[Problem]:
    """Yield problems of slots; each may rely on the absence of those before it."""
    kind, filler, step = plans.kind, plans.filler, plans.step_of_slot
    yield _outside(kind, len(Kind)), "kind {} of a slot is unknown", kind
    place = np.arange(len(step)) - plans.slot_start[step]
    yield (
        np.where(
            place < FIRST_QUALIFIER,
            plans.attribute != -1,
            _outside(plans.attribute, relation_count),
        ),
        "attribute {} of a slot is out of range",
        plans.attribute,
    )
    yield (
        (kind == Kind.FREE) != (place == plans.asked[step]),
        "slot {} is asked for but not free, or free but not asked for",
        place,
    )
    yield (kind == Kind.FREE) & (filler != -1), "a free slot is filled by {}", filler
    yield (
        (kind == Kind.KNOWN) & _outside(filler, entity_count),
        "entity {} in a slot is out of range",
        filler,
    )
    filled = kind == Kind.SET
    wrong = filled & _outside(filler, plans.step_count)
    wrong[filled & ~wrong] = plans.parent[filler[filled & ~wrong]] != step[filled & ~wrong]
    local = filler - plans.plan_start[plans.plan_of_step[step]]
    yield wrong, "a slot is filled by step {}, which is not an input", local


def _check_filled_slots(plans: StepTable) -> None:
    """Refuse an input of a projection that does not fill exactly one slot of it."""
    uses = np.bincount(plans.filler[plans.kind == Kind.SET], minlength=plans.step_count)
    below_projection = (plans.parent >= 0) & (plans.op[plans.parent] == Op.PROJECTION)
    wrong = below_projection & (uses != 1)
    _refuse(plans, np.arange(plans.step_count), wrong, "it fills {} slots of its parent", uses)


def _outside(numbers: Integers, count: Integers | int) -> Booleans:
    """For each number, whether it is not one of 0 to `count` - 1."""
    outside: Booleans = (numbers < 0) | (numbers >= count)
    return outside


def _refuse(plans: StepTable, steps: Integers, wrong: Booleans, what: str, value: Integers) -> None:
    """Raise a ValueError about the first wrong step or slot; `steps` is the step of each."""
    if not wrong.any():
        return
    first = int(wrong.argmax())
    step = steps[first]
    plan = plans.plan_of_step[step]
    where = f"step {step - plans.plan_start[plan]} of query {plan}"
    raise ValueError(f"{where}: {what.format(value[first])}")

"""Predictions that stand elsewhere: entities that no fact has where a query asks for them."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.pattern import Pattern, Patterns
from nqe.query.plan import Op, Plan, Step

if TYPE_CHECKING:
    from nqe.answering.predictor import Predictor

_JOINED = {Op.AND: np.logical_or, Op.OR: np.logical_and}
"""An `and` is new to an entity if one part is, an `or` if all parts are."""


def find_elsewhere(plan: Plan, entities: Integers, predictor: Predictor) -> Booleans:
    """Find the entities that never stood, in the known facts, in the slot that a plan asks for.

    Negated parts do not count. Without facts nothing is known about that, so it holds for none.
    """
    atoms = [number for number in _walk(plan) if plan.steps[number].op == Op.PROJECTION]
    patterns = Patterns.of([_ask_alone(plan.steps[number]) for number in atoms])
    place, entity = np.repeat(np.arange(len(atoms)), len(entities)), np.tile(entities, len(atoms))
    never = ~predictor.has_stood(patterns, place, entity).reshape(len(atoms), len(entities))
    found = dict(zip(atoms, never, strict=True))
    nowhere = np.zeros(len(entities), dtype=bool)
    for number in _walk(plan):
        step = plan.steps[number]
        if step.op in _JOINED:
            found[number] = reduce(_JOINED[step.op], [found[one] for one in step.inputs])
        found.setdefault(number, nowhere)
    return found[len(plan.steps) - 1]


def _walk(plan: Plan) -> list[int]:
    """The steps that hold the target without a negation above them, inputs first."""
    held = {len(plan.steps) - 1}
    for number in range(len(plan.steps) - 1, -1, -1):
        if number in held and plan.steps[number].op in _JOINED:
            held.update(plan.steps[number].inputs)
    return sorted(held)


def _ask_alone(step: Step) -> Pattern:
    """The pattern of a projection in which nothing is known."""
    return Pattern(step.relation, (None,) * len(step.slots), step.attributes, step.asked)

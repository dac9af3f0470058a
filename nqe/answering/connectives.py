"""And, Or and Not on the fuzzy sets of many steps at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch

from nqe.answering.faint_members import FaintMembers
from nqe.answering.fuzzy_set import FuzzySets
from nqe.answering.probability import MAX_PREDICTED
from nqe.graph.arrays import Integers
from nqe.model.fuzzy_logic import Logic, connect
from nqe.query.plan import Op
from nqe.query.step_table import StepTable

Floats = npt.NDArray[np.float64]


_CERTAIN = {Op.AND: np.all, Op.OR: np.any}
"""Which of its inputs make the result of an operator certain; nothing makes a negation so."""


def run_connectives(
    table: StepTable, steps: Integers, sets: FuzzySets, logic: Logic, faint: FaintMembers
) -> None:
    """Compute steps And, Or, Not and Any, whose inputs must have been computed."""
    op, fan_in = table.op[steps], table.children.lengths[steps]
    unknown = ~np.isin(op, (Op.AND, Op.OR, Op.NOT, Op.ANY))
    if unknown.any():
        raise ValueError(f"unknown operator {op[unknown][0]} in a plan")
    sets.rest[steps[op == Op.ANY]] = 1.0
    for kind in (Op.AND, Op.OR, Op.NOT):
        for width in np.unique(fan_in[op == kind]).tolist():
            some = steps[(op == kind) & (fan_in == width)]
            if kind == Op.AND:
                faint.list_in(sets, some)
            _connect(kind, table, some, sets, logic)


def _connect(op: Op, table: StepTable, steps: Integers, sets: FuzzySets, logic: Logic) -> None:
    """Compute steps of one operator and one number of inputs."""
    inputs = table.children.take(steps).values.reshape(len(steps), -1)
    if op == Op.NOT:
        doubled = table.op[inputs[:, 0]] == Op.NOT
        below = table.children.take(inputs[doubled, 0]).values
        sets.copy(steps[doubled], below)
        steps, inputs = steps[~doubled], inputs[~doubled]
    if not len(steps):
        return
    sets.rest[steps] = apply_connective(op, logic, sets.rest[inputs])
    keys = _find_listed(op, inputs, sets)
    owner, entities = np.divmod(keys, sets.entity_count)
    columns = [sets.look_up(one[owner], entities) for one in inputs.T]
    values = apply_connective(op, logic, np.stack(columns, axis=1))
    # An entity without a chance need not be listed, unless all others have one.
    kept = (values > 0) | (sets.rest[steps][owner] > 0)
    sets.store(steps, owner[kept], entities[kept], values[kept])


def _find_listed(op: Op, inputs: Integers, sets: FuzzySets) -> Integers:
    """The entities to list for each step, as (place of the step, entity) in one number.

    A conjunction holds no entity that one of its inputs holds with the probability 0.
    """
    owner, entities, _ = sets.take(inputs.ravel())
    place = owner // inputs.shape[1]
    keys = place * sets.entity_count + entities
    needed = np.zeros(len(inputs), dtype=np.int64)
    if op == Op.AND:
        positive = sets.rest[inputs] == 0
        needed = positive.sum(1)
        # Where an input lists all that have a chance, the others add nothing to its list.
        keys = keys[positive.ravel()[owner] | (needed[place] == 0)]
    listed, counts = np.unique(keys, return_counts=True)
    kept: Integers = listed[counts >= needed[listed // sets.entity_count]]
    return kept


def apply_connective(op: Op, logic: Logic, inputs: Floats) -> Floats:
    """Apply an operator to (rows, inputs); only what is certain has the probability 1."""
    values = connect(logic, op, torch.from_numpy(inputs)[..., None])[:, 0].numpy()
    reduce = _CERTAIN.get(op)
    sure = False if reduce is None else reduce(inputs == 1, axis=1)
    return np.where(sure, 1.0, np.minimum(values, MAX_PREDICTED))

"""Ways to an answer that the facts state: which members of a projection's inputs lead to what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from nqe.answering.fuzzy_set import FuzzySets
from nqe.answering.predictor import Predictor
from nqe.graph.arrays import Integers
from nqe.graph.pattern import Kind, Patterns
from nqe.graph.ragged import offsets
from nqe.model.fuzzy_logic import Logic
from nqe.query.plan import Op
from nqe.query.step_table import StepTable

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ways:
    """Ways to answers of projections, ordered by projection."""

    projection: Integers  # (ways,) the place of the projection
    members: Integers  # (ways, inputs) the member of each input, -1 if there are fewer
    answer: Integers  # (ways,)
    value: Floats  # (ways,) how likely the members are

    def __len__(self) -> int:
        return len(self.answer)


def find_stated_ways(
    table: StepTable,
    steps: Integers,
    sets: FuzzySets,
    logic: Logic,
    predictor: Predictor,
    least: float,
) -> Ways:
    """Find all ways to an answer of some projections that the facts state.

    Every member of an input counts, however unlikely; ways below the least probability are
    left out.
    """
    patterns, sources = _build_patterns(table, steps, sets)
    bound = predictor.graph.bind_many(patterns, predictor.max_bindings)
    value = np.ones(len(bound))
    for number in range(bound.members.shape[1]):
        source, member = sources[bound.pattern, number], bound.members[:, number]
        has_input = np.flatnonzero(member >= 0)
        chance = np.ones(len(bound))
        chance[has_input] = sets.look_up(source[has_input], member[has_input])
        pairs = torch.from_numpy(np.stack((value, chance), axis=1))
        value = logic.conjoin(pairs[..., None])[:, 0].numpy()
    kept = value >= least
    return Ways(bound.pattern[kept], bound.members[kept], bound.answer[kept], value[kept])


def _build_patterns(
    table: StepTable, steps: Integers, sets: FuzzySets
) -> tuple[Patterns, Integers]:
    """The patterns of projections with the members of their inputs in the slots.

    Also returns the step of each input, (projections, inputs). A slot that any entity may fill is
    free. A set in which all others have a chance allows all but the listed ones that have none.
    """
    slots = table.slots_of(steps)
    kind, filler = table.kind[slots.values].copy(), table.filler[slots.values].copy()
    from_step = np.flatnonzero(kind == Kind.SET)
    is_any = table.op[filler[from_step]] == Op.ANY
    kind[from_step[is_any]], filler[from_step[is_any]] = Kind.FREE, -1
    filled = from_step[~is_any]
    inputs = filler[filled]
    filler[filled] = np.arange(len(inputs))
    owner = slots.owner[filled]
    ordinal = np.arange(len(filled)) - np.searchsorted(owner, owner)
    sources = np.full((len(steps), int(ordinal.max(initial=-1)) + 1), -1)
    sources[owner, ordinal] = inputs
    place, entity, value = sets.take(inputs)
    inverted = sets.rest[inputs] > 0
    kept = (value > 0) ^ inverted[place]
    patterns = Patterns(
        relation=table.relation[steps],
        closed=table.closed[steps],
        first_slot=slots.offset,
        asked=table.asked[steps],
        attribute=table.attribute[slots.values],
        kind=kind,
        filler=filler,
        set_offset=offsets(np.bincount(place[kept], minlength=len(inputs))),
        members=entity[kept],
        inverted=inverted.astype(np.int64),
    )
    return patterns, sources

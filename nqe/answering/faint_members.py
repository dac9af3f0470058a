"""Members of projections that are too unlikely to be listed, and that a conjunction needs.

Where all other inputs of a conjunction find an entity likely, few others compete with it, and how
unlikely the last input finds it decides its rank.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch

from nqe.answering.fuzzy_set import FuzzySets
from nqe.answering.predictions import Predictions
from nqe.answering.probability import MAX_PREDICTED
from nqe.graph.arrays import Integers
from nqe.graph.ragged import ranges
from nqe.model.fuzzy_logic import Logic
from nqe.query.plan import Op
from nqe.query.step_table import StepTable

Floats = npt.NDArray[np.float64]

LIKELY = 0.01
"""A member is looked up if the other inputs of the conjunction are at least this likely."""
MANY = 512
"""If an input lacks more entities than this, none is looked up: their ranks matter little."""


class FaintMembers:
    """What a model was asked in projections, to look up members that they do not list."""

    def __init__(
        self,
        table: StepTable,
        logic: Logic,
        join: Callable[[Integers, Floats, int], tuple[Integers, Floats]],
    ) -> None:
        self.table, self.logic, self.join = table, logic, join
        self._is_needed = np.zeros(table.step_count, dtype=bool)
        self._is_needed[table.children.take(np.flatnonzero(table.op == Op.AND)).values] = True
        self._predictions: list[Predictions] = []
        self._number = np.full(table.step_count, -1)  # the place in `_predictions`, -1 if not asked
        self._place = np.full(table.step_count, -1)  # the place among the steps asked together

    def keep(self, steps: Integers, predictions: Predictions) -> None:
        """Keep what the model said about some projections, if a conjunction may need it."""
        if not self._is_needed[steps].any():
            return
        self._number[steps] = len(self._predictions)
        self._place[steps] = np.arange(len(steps))
        self._predictions.append(predictions)

    def list_in(self, sets: FuzzySets, conjunctions: Integers) -> None:
        """List further members of the inputs of conjunctions that have equally many inputs."""
        inputs = self.table.children.take(conjunctions).values.reshape(len(conjunctions), -1)
        step, entity = _find_needed(inputs, sets)
        counts = np.bincount(step, minlength=len(sets))
        kept = (self._number[step] >= 0) & (counts[step] <= MANY)
        step, entity = step[kept], entity[kept]
        if len(step):
            sets.add(step, entity, self._look_up(step, entity))

    def _look_up(self, step: Integers, entity: Integers) -> Floats:
        """The probability of each entity in the set of the projection beside it."""
        values = np.zeros(len(step))
        for number, predictions in enumerate(self._predictions):
            mine = np.flatnonzero(self._number[step] == number)
            bindings, place = predictions.bindings, self._place[step[mine]]
            counts = np.diff(bindings.start)[place]
            binding = ranges(bindings.start[place], counts)
            pair = np.repeat(np.arange(len(mine)), counts)
            found = predictions.look_up_pairs(binding, entity[mine[pair]])
            both = torch.from_numpy(np.stack((bindings.weight[binding], found), axis=1))
            chance = self.logic.conjoin(both[..., None])[:, 0].numpy()
            keys, joined = self.join(pair, chance, len(mine))
            values[mine[keys]] = np.minimum(joined, MAX_PREDICTED)
        return values


def _find_needed(inputs: Integers, sets: FuzzySets) -> tuple[Integers, Integers]:
    """Find the pairs of an input and an entity that it alone of all inputs does not list."""
    is_positive = sets.rest[inputs] == 0
    wanted = is_positive.sum(1) - 1  # how many inputs list such an entity
    owner, entities, values = sets.take(inputs.ravel())
    place = owner // inputs.shape[1]
    kept = (values >= LIKELY) & is_positive.ravel()[owner] & (wanted[place] > 0)
    keys, counts = np.unique(place[kept] * sets.entity_count + entities[kept], return_counts=True)
    place, entity = np.divmod(keys[counts == wanted[keys // sets.entity_count]], sets.entity_count)
    chances = np.stack([sets.look_up(one[place], entity) for one in inputs.T], axis=1)
    lacking = chances == 0
    others = np.where(lacking, 1.0, chances).prod(1)
    chosen = np.flatnonzero((lacking.sum(1) == 1) & (others >= LIKELY))
    return inputs[place[chosen], lacking[chosen].argmax(1)], entity[chosen]

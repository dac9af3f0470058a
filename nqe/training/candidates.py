"""What a batch is compared with: its answers, all entities or a sample of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nqe.graph.arrays import Integers
from nqe.graph.ragged import Ragged, offsets, ranges
from nqe.model.devices import move
from nqe.training.loss import Targets

MOST_TARGETS = 32
"""Of a query with more answers so many are sure to be among the sampled entities."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The entities to compare with (None: all), how many each stands for, and the answers."""

    entities: Tensor | None
    weight: Tensor | None
    targets: Targets

    def to(self, device: torch.device) -> Candidates:
        """The same on a device."""
        return self if device == self.targets.query.device else move(self, device)


def one_answer(answers: Ragged, rng: np.random.Generator) -> Ragged:
    """One answer of each query, by chance."""
    some = np.minimum(answers.lengths, 1)
    picked = answers.offset[:-1] + rng.integers(np.maximum(answers.lengths, 1))
    return Ragged(offsets(some), answers.values[picked[some > 0]])


def all_entities(answers: Ragged) -> Candidates:
    """Every entity, for the full softmax."""
    return Candidates(None, None, _targets(answers.owner, answers.values, len(answers)))


def sampled_entities(
    answers: Ragged, own: Ragged, entity_count: int, count: int, rng: np.random.Generator
) -> Candidates:
    """The batch's answers and other entities drawn evenly, for a sampled softmax.

    The answers stand for themselves, the others for all that are no answers; so the sum over
    them is an unbiased estimate of the sum over all. Every answer that is among them counts as
    one, so none is taken for wrong. `own` are the answers of the queries of this process.
    """
    right = np.unique(answers.values[_sure(answers, rng)])
    others = np.setdiff1d(rng.integers(entity_count, size=count), right)
    chosen = np.concatenate([right, others])
    weight = np.ones(len(chosen), dtype=np.float32)
    weight[len(right) :] = (entity_count - len(right)) / max(len(others), 1)
    place = np.full(entity_count, -1)
    place[chosen] = np.arange(len(chosen))
    columns = place[own.values]
    found = columns >= 0
    targets = _targets(own.owner[found], columns[found], len(own))
    return Candidates(torch.from_numpy(chosen), torch.from_numpy(weight), targets)


def _sure(answers: Ragged, rng: np.random.Generator) -> Integers:
    """Places of answers that are sure to be compared: all, or some drawn where there are many."""
    lengths = answers.lengths
    few, many = lengths <= MOST_TARGETS, np.flatnonzero(lengths > MOST_TARGETS)
    drawn = rng.integers(lengths[many, None], size=(len(many), MOST_TARGETS))
    all_of_few = ranges(answers.offset[:-1][few], lengths[few])
    return np.concatenate([all_of_few, (answers.offset[many, None] + drawn).ravel()])


def _targets(query: Integers, entity: Integers, queries: int) -> Targets:
    count = np.bincount(query, minlength=queries)
    return Targets(torch.from_numpy(query), torch.from_numpy(entity), torch.from_numpy(count))

"""The entities that a training batch is compared with: all of them, or a weighted sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from nqe.graph.arrays import Integers
from nqe.graph.ragged import Ragged, offsets, ranges
from nqe.model.devices import move
from nqe.training.loss import Targets

MAX_SURE_ANSWERS = 32
"""If a query has more answers, this many are drawn, with repetition, to be candidates."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The entities to compare queries with, their weights, and the answers among them."""

    entities: Tensor | None
    """None means all entities."""
    weight: Tensor | None
    """How many entities each candidate represents; None if each represents itself."""
    targets: Targets

    def to(self, device: torch.device) -> Candidates:
        """Return the candidates on a device."""
        return self if device == self.targets.query.device else move(self, device)


def draw_one_answer(answers: Ragged, rng: np.random.Generator) -> Ragged:
    """Return one answer per query, drawn at random; none where there are none."""
    count = np.minimum(answers.lengths, 1)
    drawn = answers.offset[:-1] + rng.integers(np.maximum(answers.lengths, 1))
    return Ragged(offsets(count), answers.values[drawn[count > 0]])


def take_all_entities(answers: Ragged) -> Candidates:
    """Return all entities, for the full softmax."""
    return Candidates(None, None, _targets(answers.owner, answers.values, len(answers)))


def sample_entities(
    answers: Ragged, own: Ragged, entity_count: int, count: int, rng: np.random.Generator
) -> Candidates:
    """Return the answers of a batch and `count` other entities, for a sampled softmax.

    An answer has the weight 1; the other entities are drawn uniformly and share the weight of
    all entities that are not answers. A weighted sum over the candidates is therefore an
    unbiased estimate of the sum over all entities. Whatever candidate is an answer to a query
    counts as its answer, so no answer is treated as wrong.

    `answers` belong to the whole batch, `own` to the queries of this process.
    """
    sure = np.unique(answers.values[_sure_answers(answers, rng)])
    others = np.setdiff1d(rng.integers(entity_count, size=count), sure)
    entities = np.concatenate([sure, others])
    weight = np.ones(len(entities), dtype=np.float32)
    weight[len(sure) :] = (entity_count - len(sure)) / max(len(others), 1)
    column_of = np.full(entity_count, -1)
    column_of[entities] = np.arange(len(entities))
    columns = column_of[own.values]
    found = columns >= 0
    targets = _targets(own.owner[found], columns[found], len(own))
    return Candidates(torch.from_numpy(entities), torch.from_numpy(weight), targets)


def _sure_answers(answers: Ragged, rng: np.random.Generator) -> Integers:
    """Return the positions, in `answers.values`, of the answers that become candidates.

    A query with few answers contributes all of them, a query with many some random ones.
    """
    lengths = answers.lengths
    few, many = lengths <= MAX_SURE_ANSWERS, np.flatnonzero(lengths > MAX_SURE_ANSWERS)
    drawn = rng.integers(lengths[many, None], size=(len(many), MAX_SURE_ANSWERS))
    all_of_few = ranges(answers.offset[:-1][few], lengths[few])
    return np.concatenate([all_of_few, (answers.offset[many, None] + drawn).ravel()])


def _targets(query: Integers, entity: Integers, queries: int) -> Targets:
    count = np.bincount(query, minlength=queries)
    return Targets(torch.from_numpy(query), torch.from_numpy(entity), torch.from_numpy(count))

"""Samples for fitting a calibration: entities that are answers or not, and their scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nqe.answering.calibration import SLOT_KINDS
from nqe.answering.joined_runner import to_patterns
from nqe.answering.joining import Evidence
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.fact_columns import Facts
from nqe.graph.fact_source import FactSource
from nqe.graph.pattern import FIRST_QUALIFIER
from nqe.graph.ragged import Ragged
from nqe.model.embedding_runner import EmbeddingRunner
from nqe.model.model import Model
from nqe.query.step_table import StepTable
from nqe.sampling.query_table import QueryTable

Floats = npt.NDArray[np.float64]

TOP, MIDDLE = 20, 1_000
"""Each query contributes its entities up to the first of these ranks, and some up to the second."""
DRAWN = 20
"""The number of entities drawn between these ranks, and of those drawn from all after them."""
TEMPERATURES = (0.7, 1.0, 1.4, 2.0)
MAX_SCORES, MAX_QUERIES = 2**24, 256
"""At most this many scores, of at most this many queries, exist at once."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Entities that are answers or not, with the inputs of the calibration formula."""

    logs: Floats  # (samples, temperatures) log softmax
    place: Integers  # (samples,) relation and slot, as one number
    right: Floats  # (samples,) 1 for an answer, 0 otherwise
    weight: Floats  # (samples,) how many entities the sample represents
    stated: Floats  # (samples,) the number of stated answers of its query
    elsewhere: Booleans  # (samples,) whether the entity never stood in the slot


@dataclass(frozen=True, eq=False)
class Distributions:
    """The distributions over all entities that a model and rules give for some queries."""

    scores: Tensor  # (queries, entities)
    evidence: Evidence | None
    """What rules say; patterns are numbered as the queries."""

    @classmethod
    def of(cls, model: Model, plans: StepTable, evidence: Evidence | None) -> Distributions:
        """The distributions of one-hop plans."""
        scores = EmbeddingRunner(model).run(plans).block(0, model.entity_count).cpu()
        return cls(scores, evidence)

    def to_logs(self, temperature: float) -> Tensor:
        """The logs of the distributions, with the model's scores divided by a temperature."""
        logs = (self.scores / temperature).log_softmax(1)
        if self.evidence is None or not len(self.evidence):
            return logs
        row, column = map(torch.from_numpy, (self.evidence.pattern, self.evidence.entity))
        joined, mass = self.evidence.join(logs[row, column].double().numpy(), len(logs))
        logs -= torch.from_numpy(mass).to(logs)[:, None]
        logs[row, column] = torch.from_numpy(joined).to(logs)
        return logs


def draw_samples(
    model: Model,
    table: QueryTable,
    stated: Ragged,
    known: FactSource | None,
    rng: np.random.Generator,
    evidence: Evidence | None = None,
) -> Samples:
    """Collect the answers, the best entities and some of all others of every query.

    Stated entities are left out. `known` says which entities stood in a slot before, and has
    the context of a model that uses facts; None if nothing is known. `evidence` is what rules
    say about the queries.
    """
    parts = []
    model = model.with_facts(Facts.empty() if known is None else known.facts)
    plans, targets = table.plans, table.plans.targets
    kind = np.minimum(plans.asked[targets], FIRST_QUALIFIER)
    place = plans.relation[targets] * SLOT_KINDS + kind
    patterns = to_patterns(plans)
    for rows in split_rows(len(table), model.entity_count):
        said = None if evidence is None else evidence.take(int(rows[0]), int(rows[-1]) + 1)
        distributions = Distributions.of(model, table.take(rows).plans, said)
        drawn = _sample_entities(distributions, table.easy.take(rows), stated.take(rows), rng)
        row, entity = rows[drawn.row], drawn.entity
        elsewhere = np.zeros(len(row), dtype=bool)
        if known is not None:
            elsewhere = ~known.has_stood(patterns, row, entity)
        counts = stated.lengths[row].astype(np.float64)
        parts.append((drawn.logs, place[row], drawn.right, drawn.weight, counts, elsewhere))
    return Samples(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def split_rows(queries: int, entity_count: int) -> Iterator[Integers]:
    """Split queries into row numbers of parts whose scores of all entities fit into memory."""
    size = max(1, min(MAX_SCORES // max(entity_count, 1), MAX_QUERIES))
    for first in range(0, queries, size):
        yield np.arange(first, min(first + size, queries))


def mask_stated(scores: torch.Tensor, stated: Ragged) -> torch.Tensor:
    """Return a copy of the scores with -∞ for the stated entities of each row."""
    scores = scores.clone()
    scores[torch.from_numpy(stated.owner), torch.from_numpy(stated.values)] = -torch.inf
    return scores


@dataclass(frozen=True, eq=False)
class _Drawn:
    """Entities drawn for some queries, each once."""

    row: Integers
    entity: Integers
    logs: Floats  # (samples, temperatures)
    right: Floats
    weight: Floats


def _sample_entities(
    distributions: Distributions, right: Ragged, stated: Ragged, rng: np.random.Generator
) -> _Drawn:
    """Draw entities of some queries: all answers, the best others, and some of the rest."""
    queries, count = distributions.scores.shape
    masked = mask_stated(distributions.to_logs(1.0), stated)
    order = masked.argsort(1, descending=True).numpy()
    bounds = [0, min(TOP, count), min(MIDDLE, count), count]
    ranks, weights = [np.tile(np.arange(bounds[1]), (queries, 1))], [np.ones(bounds[1])]
    for low, high in pairwise(bounds[1:]):
        if low < high:
            ranks.append(rng.integers(low, high, size=(queries, DRAWN)))
            weights.append(np.full(DRAWN, (high - low) / DRAWN))
    rank, weight = np.concatenate(ranks, axis=1), np.concatenate(weights)
    drawn = np.take_along_axis(order, rank, axis=1)
    row = np.repeat(np.arange(queries), rank.shape[1])
    answers = right.owner * count + right.values
    keys = row * count + drawn.ravel()
    # An answer counts once for itself, and never for others that were not drawn.
    wrong = ~np.isin(keys, answers)
    keys = np.concatenate([answers, keys[wrong]])
    weights_of = np.concatenate([np.ones(len(answers)), np.tile(weight, queries)[wrong]])
    is_right = np.arange(len(keys)) < len(answers)
    lacking = ~np.isin(keys, stated.owner * count + stated.values)
    row, entity = np.divmod(keys[lacking], count)
    logs = [distributions.to_logs(temperature)[row, entity] for temperature in TEMPERATURES]
    return _Drawn(
        row,
        entity,
        torch.stack(logs, 1).double().numpy(),
        is_right[lacking].astype(np.float64),
        weights_of[lacking],
    )

"""Fitting a calibration on validation queries, half of them with an anchor swapped."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import torch

from nqe.answering.calibration import KINDS, Calibration
from nqe.errors import NqeError
from nqe.graph.dataset import Dataset
from nqe.graph.facts import Integers, offsets
from nqe.graph.graph import Graph
from nqe.graph.pattern import FIRST_QUALIFIER, Kind
from nqe.model.model import Model
from nqe.model.runner import EmbeddingRunner
from nqe.query.exact_batch import run_table
from nqe.query.plan import SLOT, STEP
from nqe.sampling.one_hop import link_queries
from nqe.sampling.table import QueryTable, Ragged

Floats = npt.NDArray[np.float64]

QUERIES = 4_000
TOP, DRAWN = 20, 20
TEMPERATURES = (0.7, 1.0, 1.4)
PRIOR = 4.0
"""How firmly a relation's own offset is held at 0."""
_STEPS = 30


@dataclass(frozen=True, eq=False)
class Samples:
    """Entities that are answers or are not, with what a calibration goes by."""

    scores: Floats  # (samples,) log softmax
    place: Integers  # (samples,) relation and slot, as one number
    right: Floats  # (samples,) 1 or 0
    weight: Floats  # (samples,) how many entities each stands for


@dataclass(frozen=True)
class Reliability:
    """How far probabilities of the best prediction that is not stated mean what they say."""

    bins: tuple[tuple[float, float, int], ...]
    """Mean probability, share that is right, and how many, by equal mass."""
    error: float
    """The expected calibration error."""
    brier: float
    base: float
    """The Brier score of always saying the share that is right."""

    @classmethod
    def of(cls, told: Floats, right: Floats, count: int = 10) -> Reliability:
        """From probabilities and what was true."""
        order = np.argsort(told, kind="stable")
        parts = [part for part in np.array_split(order, count) if len(part)]
        bins = tuple((float(told[one].mean()), float(right[one].mean()), len(one)) for one in parts)
        error = sum(abs(mean - share) * n for mean, share, n in bins) / max(len(told), 1)
        share = right.mean()
        return cls(bins, error, float(((told - right) ** 2).mean()), float(share * (1 - share)))


def calibration_queries(
    dataset: Dataset, split: str, known: str, count: int, rng: np.random.Generator
) -> tuple[QueryTable, Ragged]:
    """One-hop queries of a split, half of them swapped, with all their answers; what is stated.

    Answers are over the known facts and the split's; `stated` are those of the known facts.
    """
    facts = dataset.splits.get(split)
    if facts is None or not len(facts):
        raise NqeError(f"calibrating needs a {split} split; import one")
    full = dataset.known(f"{known},{split}")
    table = link_queries(facts, full)
    table = table.take(rng.permutation(len(table))[:count])
    table = swapped(table, len(table) // 2, rng)
    answers = _answers(table, full)
    table = replace(table, easy=answers, hard=_none(len(table)), missing=_none(len(table)))
    return table, _answers(table, dataset.known(known))


def swapped(table: QueryTable, count: int, rng: np.random.Generator) -> QueryTable:
    """The queries, in the first so many of them an anchor changed for one of another query.

    That is one with the same relation and slot, where there is one, so that the new question
    sounds as likely as the old.
    """
    slots = table.slots.values.copy()
    owner = table.slots.owner
    anchors = np.flatnonzero((slots[:, SLOT.KIND] == Kind.KNOWN) & (owner < count))
    chosen = _one_each(anchors, owner, rng)
    place = np.arange(len(slots)) - table.slots.offset[owner]
    relation = table.steps.values[table.steps.offset[owner], STEP.RELATION]
    key = np.where(
        slots[:, SLOT.ATTRIBUTE] >= 0,
        slots[:, SLOT.ATTRIBUTE] * KINDS + FIRST_QUALIFIER,
        relation * KINDS + np.minimum(place, FIRST_QUALIFIER),
    )
    known = np.flatnonzero(slots[:, SLOT.KIND] == Kind.KNOWN)
    order = known[np.argsort(key[known], kind="stable")]
    start = np.searchsorted(key[order], key[chosen])
    end = np.searchsorted(key[order], key[chosen], side="right")
    drawn = order[start + rng.integers(np.maximum(end - start, 1))]
    slots[chosen, SLOT.FILLER] = table.slots.values[drawn, SLOT.FILLER]
    return replace(table, slots=Ragged(table.slots.offset, slots))


def _one_each(anchors: Integers, owner: Integers, rng: np.random.Generator) -> Integers:
    """One anchor of each query, by chance."""
    shuffled = rng.permutation(anchors)
    _, first = np.unique(owner[shuffled], return_index=True)
    return np.sort(shuffled[first])


def _answers(table: QueryTable, graph: Graph) -> Ragged:
    steps = table.step_table()
    sets = run_table(steps, graph)
    last = steps.plan_start[1:] - 1
    return Ragged(offsets(sets.length[last]), sets.members(last))


def _none(count: int) -> Ragged:
    return Ragged(np.zeros(count + 1, dtype=np.int64), np.zeros(0, dtype=np.int64))


def fit(model: Model, dataset: Dataset, seed: int = 0) -> Calibration:
    """The calibration that makes validation answers likeliest."""
    rng = np.random.default_rng(seed)
    table, stated = calibration_queries(dataset, "valid", "train", QUERIES, rng)
    plain = Calibration.plain(dataset.splits["train"], model.relation_count)
    fits = [
        _fit(replace(plain, temperature=one), draw(model, table, stated, one, seed))
        for one in TEMPERATURES
    ]
    return min(fits, key=lambda pair: pair[1])[0]


def draw(model: Model, table: QueryTable, stated: Ragged, temperature: float, seed: int) -> Samples:
    """The best entities, the right ones, and some drawn evenly, of every query; none stated."""
    rng = np.random.default_rng(seed)
    runner, parts = EmbeddingRunner(model), []
    steps = table.steps.values[table.steps.offset[:-1]]
    place = steps[:, STEP.RELATION] * KINDS + np.minimum(steps[:, STEP.ASKED], FIRST_QUALIFIER)
    for first in range(0, len(table), 256):
        rows = np.arange(first, min(first + 256, len(table)))
        scores = runner.run(table.take(rows)).block(0, model.entity_count).clone()
        scores = (scores / temperature).log_softmax(1).cpu()
        parts.append(_drawn(scores, table.easy.take(rows), stated.take(rows), place[rows], rng))
    return Samples(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _drawn(
    scores: torch.Tensor, right: Ragged, stated: Ragged, place: Integers, rng: np.random.Generator
) -> tuple[Floats, Integers, Floats, Floats]:
    queries, entities = scores.shape
    is_right, open_ = (
        torch.zeros(scores.shape, dtype=torch.bool),
        torch.ones(scores.shape, dtype=torch.bool),
    )
    is_right[right.owner, right.values] = True
    open_[stated.owner, stated.values] = False
    weight = torch.zeros(scores.shape)
    drawn = torch.from_numpy(rng.integers(entities, size=(queries, DRAWN)))
    weight.scatter_(1, drawn, entities / DRAWN)
    best = scores.masked_fill(~open_, -torch.inf).topk(min(TOP, entities), 1).indices
    weight.scatter_(1, best, 1.0)
    weight[is_right] = 1.0
    weight[~open_] = 0
    row, column = weight.nonzero(as_tuple=True)
    return (
        scores[row, column].double().numpy(),
        place[row.numpy()],
        is_right[row, column].double().numpy(),
        weight[row, column].double().numpy(),
    )


def _fit(start: Calibration, samples: Samples) -> tuple[Calibration, float]:
    """The best slope, cardinality and offset, then each relation's own; and the loss."""
    answers = np.log(start.answers.ravel()[samples.place]).astype(np.float64)
    features = np.stack([samples.scores, answers, np.ones_like(answers)], axis=1)
    values = np.array([1.0, 1.0, 0.0])
    for _ in range(_STEPS):
        told = _sigmoid(features @ values)
        gradient = features.T @ (samples.weight * (samples.right - told))
        curvature = (features * (samples.weight * told * (1 - told))[:, None]).T @ features
        values += np.linalg.solve(curvature + 1e-6 * np.eye(3), gradient)
    told = _sigmoid(features @ values)
    loss = -(samples.weight * np.log(np.where(samples.right > 0, told, 1 - told) + 1e-12)).sum()
    size = start.answers.size
    surplus = np.bincount(samples.place, samples.weight * (samples.right - told), size)
    room = np.bincount(samples.place, samples.weight * told * (1 - told), size)
    own = (surplus / (room + PRIOR)).astype(np.float32).reshape(start.answers.shape)
    slope, cardinality, offset = (float(one) for one in values)
    fitted = replace(start, slope=slope, cardinality=cardinality, offset=offset, own=own)
    return fitted, float(loss)


def _sigmoid(values: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -40, 40))))

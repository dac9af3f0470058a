"""Fitting a calibration on validation queries, half of them with an anchor swapped."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nqe.answering.calibration import KINDS, MOST, Calibration, Curve, mean_answers
from nqe.answering.calibration_queries import calibration_queries
from nqe.answering.reliability import Reliability, measure, rows_at_once, without
from nqe.errors import NqeError
from nqe.files import new_file
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.dataset import Dataset
from nqe.graph.pattern import FIRST_QUALIFIER
from nqe.graph.ragged import Ragged
from nqe.model.checkpoint import load
from nqe.model.embedding_runner import EmbeddingRunner
from nqe.model.model import Model
from nqe.run_folders import CHECKPOINT, checkpoint_of
from nqe.sampling.query_table import QueryTable
from nqe.training.validation import includes_valid

Floats = npt.NDArray[np.float64]

RELIABILITY = "reliability.json"
QUERIES = 4_000
TOP, DRAWN = 20, 20
TEMPERATURES = (0.7, 1.0, 1.4, 2.0)
PRIOR = 4.0
"""How firmly a relation's own offset is held at 0."""
LEAST = 0.05
"""The least slope: a higher score is never less likely."""
RIDGE = 1e-3
_STEPS = 60
_CONVERGED = 1e-10
"""Steps of the fit end when no coefficient changes by more."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Entities that are answers or are not, with what a calibration goes by."""

    logs: Floats  # (samples, temperatures) log softmax
    place: Integers  # (samples,) relation and slot, as one number
    right: Floats  # (samples,) 1 or 0
    weight: Floats  # (samples,) how many entities each stands for
    stated: Floats  # (samples,) how many answers of its query are stated
    best: Booleans  # (samples,) whether it is the best of its query


@dataclass(frozen=True)
class Calibrated:
    """What calibrating a checkpoint gave."""

    folder: Path
    split: str
    """Where reliability was measured: test, or valid if there is no test split."""
    before: Reliability
    after: Reliability

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        both = {"before": self.before.to_json(), "after": self.after.to_json()}
        return {"checkpoint": str(self.folder), "split": self.split, **both}


def calibrate(run: str | Path, dataset: Dataset, device: str = "auto") -> Calibrated:
    """Fit a calibration for the model of a RUN or checkpoint, and save it there.

    It is fitted on the validation split, which the model must not have learnt from.
    """
    folder = checkpoint_of(Path(run))
    if learnt_from_valid(folder):
        raise NqeError(
            f"{run}: learnt from the validation split, which calibrating needs unseen; "
            "train on train alone"
        )
    model = load(folder, device)
    if model.vocabulary is not None and not dataset.vocabulary.same_ids(model.vocabulary):
        raise NqeError(
            f"{run}: was trained on other entities or relations than the data set has; give the "
            "one it was trained on"
        )
    calibration = fit(model, dataset)
    plain = plain_calibration(dataset, model.relation_count)
    held_out = dataset.splits.get("test")
    has_test = held_out is not None and len(held_out) > 0
    split, known = ("test", "train,valid") if has_test else ("valid", "train")
    both = {"before": plain.facts, "after": calibration.facts}
    measured = measure(model, both, dataset, split, known)
    calibration.save(folder)
    done = Calibrated(folder, split, measured["before"], measured["after"])
    with new_file(folder / RELIABILITY) as temporary:
        temporary.write_text(json.dumps(done.to_json(), indent=2) + "\n", encoding="utf-8")
    return done


def learnt_from_valid(checkpoint: Path) -> bool:
    """Whether the facts that the model of a checkpoint learnt from include the valid split."""
    learnt = str(CHECKPOINT.read_manifest(checkpoint).get("trained_on") or "")
    return includes_valid(learnt)


def fit(model: Model, dataset: Dataset, seed: int = 0) -> Calibration:
    """The calibration that makes validation answers likeliest."""
    rng = np.random.default_rng(seed)
    table, stated = calibration_queries(dataset, "valid", "train", QUERIES, rng)
    plain = plain_calibration(dataset, model.relation_count)
    nothing = Ragged.empty(len(table))
    return Calibration(
        fit_curve(plain.facts, draw(model, table, stated, rng)),
        fit_curve(plain.alone, draw(model, table, nothing, rng)),
    )


def fit_curve(start: Curve, samples: Samples) -> Curve:
    """The curve that fits samples best, over all temperatures."""
    starts = [replace(start, temperature=one) for one in TEMPERATURES]
    fits = [_fit(one, samples, column) for column, one in enumerate(starts)]
    return min(fits, key=lambda pair: pair[1])[0]


def plain_calibration(dataset: Dataset, relation_count: int) -> Calibration:
    """That before any fit."""
    return Calibration.plain(mean_answers(dataset.splits["train"], relation_count))


def draw(model: Model, table: QueryTable, stated: Ragged, rng: np.random.Generator) -> Samples:
    """The best entities, the right ones, and some drawn evenly, of every query; none stated."""
    runner, parts = EmbeddingRunner(model), []
    plans, targets = table.plans, table.plans.targets
    kind = np.minimum(plans.asked[targets], FIRST_QUALIFIER)
    place = plans.relation[targets] * KINDS + kind
    for rows in rows_at_once(len(table), model.entity_count):
        scores = runner.run(table.take(rows).plans).block(0, model.entity_count).cpu()
        parts.append(_drawn(scores, table.easy.take(rows), stated.take(rows), place[rows], rng))
    return Samples(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _drawn(
    scores: torch.Tensor, right: Ragged, stated: Ragged, place: Integers, rng: np.random.Generator
) -> tuple[Floats, Integers, Floats, Floats, Floats, Booleans]:
    queries, entities = scores.shape
    drawn = rng.integers(entities, size=(queries, DRAWN))
    scores = without(scores, stated)
    best = scores.topk(min(TOP, entities), 1).indices.numpy()
    rows = np.arange(queries)[:, None]
    # Each entity once, by the first reason to have it.
    keys = np.concatenate(
        [
            right.owner * entities + right.values,
            (rows * entities + best).ravel(),
            (rows * entities + drawn).ravel(),
        ]
    )
    keys, first = np.unique(keys, return_index=True)
    lacking = ~np.isin(keys, stated.owner * entities + stated.values)
    keys, first = keys[lacking], first[lacking]
    row, column = np.divmod(keys, entities)
    logs = [(scores / one).log_softmax(1)[row, column] for one in TEMPERATURES]
    is_drawn = first >= len(right.values) + best.size
    return (
        torch.stack(logs, 1).double().numpy(),
        place[row],
        (first < len(right.values)).astype(np.float64),
        np.where(is_drawn, entities / DRAWN, 1.0),
        stated.lengths[row].astype(np.float64),
        column == best[row, 0],
    )


def _fit(start: Curve, samples: Samples, column: int) -> tuple[Curve, float]:
    """The best coefficients, then each relation's own; and the loss."""
    logs = samples.logs[:, column]
    logits = logs - np.log1p(-np.minimum(np.exp(logs), MOST))
    answers = np.log(start.answers.ravel()[samples.place]).astype(np.float64)
    columns = (logits, answers, np.log1p(samples.stated), np.ones_like(logits))
    features = np.stack(columns, axis=1)
    values = _newton(features, samples.right, samples.weight, np.array([1.0, 1.0, 0.0, 0.0]))
    told = _sigmoid(features @ values)
    loss = -(samples.weight * np.log(np.where(samples.right > 0, told, 1 - told) + 1e-12)).sum()
    size = start.answers.size
    surplus = np.bincount(samples.place, samples.weight * (samples.right - told), size)
    room = np.bincount(samples.place, samples.weight * told * (1 - told), size)
    own = surplus / (room + PRIOR)
    # Most of all the best prediction of a query must mean what it says.
    best = samples.best
    said = features[best] @ values + own[samples.place[best]]
    line = np.stack([said, np.ones_like(said)], axis=1)
    scale, more = _newton(line, samples.right[best], np.ones(len(said)), np.array([1.0, 0.0]))
    scale = max(scale, LEAST / max(values[0], LEAST))
    slope, cardinality, stated, offset = (float(one) for one in scale * values)
    fitted = replace(
        start,
        slope=max(slope, LEAST),
        cardinality=cardinality,
        stated=stated,
        offset=offset + float(more),
        own=(scale * own).astype(np.float32).reshape(start.answers.shape),
    )
    return fitted, float(loss)


def _newton(features: Floats, right: Floats, weight: Floats, values: Floats) -> Floats:
    """The coefficients of a logistic regression."""
    for _ in range(_STEPS):
        told = _sigmoid(features @ values)
        gradient = features.T @ (weight * (right - told))
        curvature = (features * (weight * told * (1 - told))[:, None]).T @ features
        step = np.linalg.solve(curvature + RIDGE * np.eye(len(values)), gradient - RIDGE * values)
        values = values + np.clip(step, -1, 1)
        if np.abs(step).max() < _CONVERGED:
            break
    return values


def _sigmoid(values: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -40, 40))))

"""Fit a calibration on validation queries, and measure how reliable its probabilities are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nqe.answering.calibration import (
    MAX_PREDICTED,
    SLOT_KINDS,
    Calibration,
    Curve,
    compute_mean_answers,
)
from nqe.answering.calibration_queries import draw_calibration_queries
from nqe.answering.calibration_storage import save_calibration
from nqe.answering.reliability import Reliability, mask_stated, measure_reliability, split_rows
from nqe.documents import render_document
from nqe.errors import NqeError
from nqe.files import new_file
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.dataset import Dataset
from nqe.graph.pattern import FIRST_QUALIFIER
from nqe.graph.ragged import Ragged
from nqe.model.checkpoint import load
from nqe.model.embedding_runner import EmbeddingRunner
from nqe.model.model import Model
from nqe.run_folders import CHECKPOINT, RELIABILITY_FILE, checkpoint_of, lock_run
from nqe.sampling.query_table import QueryTable
from nqe.training.validation import includes_valid

Floats = npt.NDArray[np.float64]

QUERIES = 4_000
TOP, DRAWN = 20, 20
"""Each query contributes this many best entities, and this many drawn at random."""
TEMPERATURES = (0.7, 1.0, 1.4, 2.0)
PRIOR = 4.0
"""How strongly the offset of a relation and slot is held at 0."""
MIN_SLOPE = 0.05
"""The slope stays positive, so that a higher score is never less likely."""
RIDGE = 1e-3
_MAX_STEPS = 60
_CONVERGED = 1e-10
"""The fit ends when no coefficient changes by more than this."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Entities that are answers or not, with the inputs of the calibration formula."""

    logs: Floats  # (samples, temperatures) log softmax
    place: Integers  # (samples,) relation and slot, as one number
    right: Floats  # (samples,) 1 for an answer, 0 otherwise
    weight: Floats  # (samples,) how many entities the sample represents
    stated: Floats  # (samples,) the number of stated answers of its query
    best: Booleans  # (samples,) whether it is the best prediction of its query


@dataclass(frozen=True)
class Calibrated:
    """The outcome of calibrating a checkpoint: its reliability before and after."""

    folder: Path
    """The checkpoint."""
    split: str
    """The split on which reliability was measured: test, or valid if there is no test split."""
    before: Reliability
    after: Reliability

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as JSON data."""
        both = {"before": self.before.to_json(), "after": self.after.to_json()}
        return {"checkpoint": str(self.folder), "split": self.split, **both}


def calibrate(run: str | Path, dataset: Dataset, device: str = "auto") -> Calibrated:
    """Fit a calibration for the model of a RUN or checkpoint, and save it there.

    It is fitted on the validation split, on which the model must not have been trained.
    """
    folder = checkpoint_of(Path(run))
    with lock_run(folder):
        return _calibrate(folder, str(run), dataset, device)


def _calibrate(folder: Path, run: str, dataset: Dataset, device: str) -> Calibrated:
    if has_learnt_from_valid(folder):
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
    calibration = fit_calibration(model, dataset)
    plain = build_plain_calibration(dataset, model.relation_count)
    held_out = dataset.splits.get("test")
    has_test = held_out is not None and len(held_out) > 0
    split, known = ("test", "train,valid") if has_test else ("valid", "train")
    both = {"before": plain.facts, "after": calibration.facts}
    measured = measure_reliability(model, both, dataset, split, known)
    save_calibration(calibration, folder)
    done = Calibrated(folder, split, measured["before"], measured["after"])
    path = folder / RELIABILITY_FILE
    text = render_document(path, done.to_json())
    with new_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return done


def has_learnt_from_valid(checkpoint: Path) -> bool:
    """Whether the model of a checkpoint was trained on the validation split."""
    trained_on = str(CHECKPOINT.read_manifest(checkpoint).get("trained_on") or "")
    return includes_valid(trained_on)


def fit_calibration(model: Model, dataset: Dataset, seed: int = 0) -> Calibration:
    """Fit a calibration on queries of the validation split."""
    rng = np.random.default_rng(seed)
    table, stated = draw_calibration_queries(dataset, "valid", "train", QUERIES, rng)
    plain = build_plain_calibration(dataset, model.relation_count)
    nothing = Ragged.empty(len(table))
    try:
        return Calibration(
            fit_curve(plain.facts, draw_samples(model, table, stated, rng)),
            fit_curve(plain.alone, draw_samples(model, table, nothing, rng)),
        )
    except ValueError as error:
        raise NqeError(
            f"no calibration fits the model's scores ({error}); train the model again"
        ) from error


def fit_curve(start: Curve, samples: Samples) -> Curve:
    """Fit a curve to samples with each temperature, and return the best one."""
    starts = [replace(start, temperature=temperature) for temperature in TEMPERATURES]
    fits = [_fit(curve, samples, column) for column, curve in enumerate(starts)]
    return min(fits, key=lambda pair: pair[1])[0]


def build_plain_calibration(dataset: Dataset, relation_count: int) -> Calibration:
    """Build the calibration before any fit."""
    return Calibration.plain(compute_mean_answers(dataset.splits["train"], relation_count))


def draw_samples(
    model: Model, table: QueryTable, stated: Ragged, rng: np.random.Generator
) -> Samples:
    """Collect the answers, the best entities and some random entities of every query.

    Stated entities are left out.
    """
    runner, parts = EmbeddingRunner(model), []
    plans, targets = table.plans, table.plans.targets
    kind = np.minimum(plans.asked[targets], FIRST_QUALIFIER)
    place = plans.relation[targets] * SLOT_KINDS + kind
    for rows in split_rows(len(table), model.entity_count):
        scores = runner.run(table.take(rows).plans).block(0, model.entity_count).cpu()
        parts.append(
            _sample_entities(scores, table.easy.take(rows), stated.take(rows), place[rows], rng)
        )
    return Samples(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _sample_entities(
    scores: torch.Tensor, right: Ragged, stated: Ragged, place: Integers, rng: np.random.Generator
) -> tuple[Floats, Integers, Floats, Floats, Floats, Booleans]:
    """Return the columns of `Samples` for some queries."""
    queries, entities = scores.shape
    drawn = rng.integers(entities, size=(queries, DRAWN))
    scores = mask_stated(scores, stated)
    best = scores.topk(min(TOP, entities), 1).indices.numpy()
    rows = np.arange(queries)[:, None]
    # An entity that was collected for several reasons counts once, for the first of them.
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
    logs = [(scores / temperature).log_softmax(1)[row, column] for temperature in TEMPERATURES]
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
    """Fit the coefficients, then the offsets of relations and slots; also return the loss."""
    features = _build_features(start, samples, column)
    values = _newton(features, samples.right, samples.weight, np.array([1.0, 1.0, 0.0, 0.0]))
    predicted = _sigmoid(features @ values)
    likelihood = np.where(samples.right > 0, predicted, 1 - predicted)
    loss = -(samples.weight * np.log(likelihood + 1e-12)).sum()
    own = _fit_offsets(samples, predicted, start.answers.size)
    # The best prediction of a query matters most, so the curve is fitted once more to these.
    best = samples.best
    logits = features[best] @ values + own[samples.place[best]]
    line = np.stack([logits, np.ones_like(logits)], axis=1)
    scale, more = _newton(line, samples.right[best], np.ones(len(logits)), np.array([1.0, 0.0]))
    scale = max(scale, MIN_SLOPE / max(values[0], MIN_SLOPE))
    slope, cardinality, stated, offset = (float(value) for value in scale * values)
    fitted = replace(
        start,
        slope=max(slope, MIN_SLOPE),
        cardinality=cardinality,
        stated=stated,
        offset=offset + float(more),
        own=(scale * own).astype(np.float32).reshape(start.answers.shape),
    )
    return fitted, float(loss)


def _build_features(start: Curve, samples: Samples, column: int) -> Floats:
    """The terms of the formula that have a coefficient, (samples, 4)."""
    logs = samples.logs[:, column]
    logits = logs - np.log1p(-np.minimum(np.exp(logs), MAX_PREDICTED))
    answers = np.log(start.answers.ravel()[samples.place]).astype(np.float64)
    return np.stack((logits, answers, np.log1p(samples.stated), np.ones_like(logits)), axis=1)


def _fit_offsets(samples: Samples, predicted: Floats, size: int) -> Floats:
    """One Newton step from 0 for the offset of each relation and slot, with a prior at 0."""
    surplus = np.bincount(samples.place, samples.weight * (samples.right - predicted), size)
    curvature = np.bincount(samples.place, samples.weight * predicted * (1 - predicted), size)
    return np.asarray(surplus / (curvature + PRIOR))


def _newton(features: Floats, right: Floats, weight: Floats, values: Floats) -> Floats:
    """Fit the coefficients of a logistic regression by Newton's method, starting at `values`."""
    for _ in range(_MAX_STEPS):
        predicted = _sigmoid(features @ values)
        gradient = features.T @ (weight * (right - predicted))
        curvature = (features * (weight * predicted * (1 - predicted))[:, None]).T @ features
        step = np.linalg.solve(curvature + RIDGE * np.eye(len(values)), gradient - RIDGE * values)
        values = values + np.clip(step, -1, 1)
        if np.abs(step).max() < _CONVERGED:
            break
    return values


def _sigmoid(values: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-np.clip(values, -40, 40))))

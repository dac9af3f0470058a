"""Fit a calibration on validation queries, and measure how reliable its probabilities are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nqe.answering.calibration import Calibration, Curve, compute_mean_answers
from nqe.answering.calibration_queries import draw_calibration_queries
from nqe.answering.calibration_samples import TEMPERATURES, Samples, draw_samples
from nqe.answering.calibration_storage import save_calibration
from nqe.answering.join_fitting import fit_evidence
from nqe.answering.joining import TEMPERATURE
from nqe.answering.logistic import fit_logistic, sigmoid
from nqe.answering.neural import NeuralEngine, check_can_answer
from nqe.answering.probability import MAX_PREDICTED
from nqe.answering.question_fitting import (
    QUESTIONS,
    Asked,
    draw_questions,
    fit_question_curve,
)
from nqe.answering.reliability import ALL, Reliability, measure_reliability
from nqe.answering.run_rules import use_run_rules
from nqe.documents import render_document
from nqe.errors import NqeError
from nqe.files import new_file
from nqe.graph.dataset import Dataset
from nqe.graph.ragged import Ragged
from nqe.model.checkpoint import load
from nqe.model.model import Model
from nqe.progress import Progress
from nqe.rules.rules import Rules
from nqe.run_folders import CHECKPOINT, RELIABILITY_FILE, checkpoint_of, lock_run
from nqe.training.validation import includes_valid

Floats = npt.NDArray[np.float64]

ONE_HOP = 4_000
"""The number of one-hop queries that are drawn."""
SHARE = 0.5
"""Questions are also drawn with this share of the validation facts, to learn what that changes."""
MEASURED = 60
"""The number of questions of each shape on which reliability is measured."""
KNOTS = (-9.0, -6.0, -3.0, 0.0)
"""The log odds at which the bend of a fitted curve changes its slope."""
PRIOR = 4.0
"""How strongly the offset of a relation and slot is held at 0."""
MAX_OWN = 3.0
"""The offset of a relation and slot is at most this large."""
MIN_SLOPE = 0.05
"""Slopes stay positive, so that a higher score is never less likely."""


@dataclass(frozen=True)
class Calibrated:
    """The outcome of calibrating a checkpoint: its reliability before and after, by shape."""

    folder: Path
    """The checkpoint."""
    split: str
    """The split on which reliability was measured: test, or valid if there is no test split."""
    shapes_before: dict[str, Reliability]
    shapes_after: dict[str, Reliability]

    @property
    def before(self) -> Reliability:
        """The reliability over all shapes before calibrating."""
        return self.shapes_before[ALL]

    @property
    def after(self) -> Reliability:
        """The reliability over all shapes after calibrating."""
        return self.shapes_after[ALL]

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as JSON data."""
        both = {"before": self.shapes_before, "after": self.shapes_after}
        measured = {
            when: {name: one.to_json() for name, one in shapes.items()}
            for when, shapes in both.items()
        }
        return {"checkpoint": str(self.folder), "split": self.split, **measured}


def calibrate(
    run: str | Path,
    dataset: Dataset,
    device: str = "auto",
    *,
    with_rules: bool = True,
    progress: Progress | None = None,
) -> Calibrated:
    """Fit a calibration for the model of a RUN or checkpoint, and save it there.

    It is fitted on the validation split, on which the model must not have been trained. In a RUN,
    rules are mined from the training facts unless it has them already, and are calibrated
    together with the model; `with_rules` leaves them out. `progress` shows the mining.
    """
    folder = checkpoint_of(Path(run))
    with lock_run(folder):
        _check_can_calibrate(folder, str(run))
        model = _load(folder, str(run), dataset, device)
        rules = use_run_rules(folder, dataset, progress) if with_rules else None
        return _calibrate(folder, model, dataset, rules)


def _check_can_calibrate(folder: Path, run: str) -> None:
    if has_learnt_from_valid(folder):
        raise NqeError(
            f"{run}: learnt from the validation split, which calibrating needs unseen; "
            "train on train alone"
        )


def _load(folder: Path, run: str, dataset: Dataset, device: str) -> Model:
    """Load a model that can be calibrated on a data set."""
    model = load(folder, device)
    if model.vocabulary is not None and not dataset.vocabulary.same_ids(model.vocabulary):
        raise NqeError(
            f"{run}: was trained on other entities or relations than the data set has; give the "
            "one it was trained on"
        )
    check_can_answer(model)
    return model


def _calibrate(folder: Path, model: Model, dataset: Dataset, rules: Rules | None) -> Calibrated:
    calibration = fit_calibration(model, dataset, rules=rules)
    held_out = dataset.splits.get("test")
    has_test = held_out is not None and len(held_out) > 0
    split, known = ("test", "train,valid") if has_test else ("valid", "train")
    questions = draw_questions(dataset, split, known, MEASURED, seed=1)
    missing = dataset.count_missing(known)
    before, after = (
        measure_reliability(
            NeuralEngine.of(model, dataset.known(known), one, missing=missing, rules=rules),
            questions,
        )
        for one in (None, calibration)
    )
    save_calibration(calibration, folder)
    done = Calibrated(folder, split, before, after)
    path = folder / RELIABILITY_FILE
    text = render_document(path, done.to_json())
    with new_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return done


def has_learnt_from_valid(checkpoint: Path) -> bool:
    """Whether the model of a checkpoint was trained on the validation split."""
    trained_on = str(CHECKPOINT.read_manifest(checkpoint).get("trained_on") or "")
    return includes_valid(trained_on)


def fit_calibration(
    model: Model, dataset: Dataset, seed: int = 0, rules: Rules | None = None
) -> Calibration:
    """Fit a calibration on the validation split: one-hop curves, then those of whole questions.

    With rules, the probabilities are those of the model and the rules together.
    """
    try:
        calibration = fit_one_hop(model, dataset, seed, rules)
        asked, thinned = (
            _ask(model, one, calibration, seed, rules)
            for one in (dataset, thin(dataset, SHARE, seed))
        )
        alone = replace(
            asked,
            engine=NeuralEngine.of(model, dataset.known("none"), calibration),
            questions=asked.questions.without_facts(),
        )
        curves = fit_question_curve(asked, thinned), fit_question_curve(alone)
    except ValueError as error:
        raise NqeError(
            f"no calibration fits the model's scores ({error}); train the model again"
        ) from error
    return replace(calibration, facts_questions=curves[0], alone_questions=curves[1])


def _ask(
    model: Model, dataset: Dataset, calibration: Calibration, seed: int, rules: Rules | None
) -> Asked:
    """Questions of which some have answers that only the validation split states."""
    missing = _count_held_out(dataset)
    known = dataset.known("train")
    engine = NeuralEngine.of(model, known, calibration, missing=missing, rules=rules)
    questions = draw_questions(dataset, "valid", "train", QUESTIONS, seed)
    return Asked(engine, questions, missing / calibration.missing)


def thin(dataset: Dataset, share: float, seed: int) -> Dataset:
    """The data set with that share of its validation facts, drawn at random, and no test split."""
    facts = dataset.splits["valid"]
    count = max(1, round(len(facts) * share))
    rows = np.random.default_rng(seed).permutation(len(facts))[:count]
    kept = {"train": dataset.splits["train"], "valid": facts.take(np.sort(rows))}
    return Dataset(dataset.vocabulary, kept)


def _count_held_out(dataset: Dataset) -> float:
    """How many validation facts there are for each of the training facts."""
    return max(len(dataset.splits["valid"]), 1) / max(len(dataset.splits["train"]), 1)


def fit_one_hop(
    model: Model, dataset: Dataset, seed: int = 0, rules: Rules | None = None
) -> Calibration:
    """Fit the weights of rules, and the curves of one-hop queries."""
    rng = np.random.default_rng(seed)
    table, stated = draw_calibration_queries(dataset, "valid", "train", ONE_HOP, rng)
    plain = build_plain_calibration(dataset, model.relation_count)
    nothing = Ragged.empty(len(table))
    known = dataset.known("train")
    evidence = weights = None
    if rules is not None:
        evidence, weights = fit_evidence(model, table, stated, rules, known)
    samples = draw_samples(model, table, stated, known, rng, evidence)
    temperatures = TEMPERATURES if rules is None else (TEMPERATURE,)
    facts = fit_curve(plain.facts, samples, temperatures)
    return Calibration(
        facts,
        fit_curve(plain.alone, draw_samples(model, table, nothing, None, rng)),
        missing=_count_held_out(dataset),
        join=weights,
        rules=None if rules is None else rules.digest,
    )


def fit_curve(
    start: Curve, samples: Samples, temperatures: Sequence[float] = TEMPERATURES
) -> Curve:
    """Fit a curve to samples with each of some temperatures, and return the best one."""
    starts = [replace(start, temperature=temperature) for temperature in temperatures]
    fits = [_fit(curve, samples, TEMPERATURES.index(curve.temperature)) for curve in starts]
    return min(fits, key=lambda pair: pair[1])[0]


def build_plain_calibration(dataset: Dataset, relation_count: int) -> Calibration:
    """Build the calibration before any fit."""
    return Calibration.plain(compute_mean_answers(dataset.splits["train"], relation_count))


def _fit(start: Curve, samples: Samples, column: int) -> tuple[Curve, float]:
    """Fit the coefficients, then the offsets of relations and slots; also return the loss."""
    pieces = len(KNOTS) + 1
    features = _build_features(start, samples, column)
    prior = np.array([1.0] * pieces + [1.0, 0.0, 0.0, 0.0, 0.0])
    least = np.array([MIN_SLOPE] * pieces + [-np.inf] * 5)
    values = fit_logistic(features, samples.right, samples.weight, prior, least)
    predicted = sigmoid(features @ values)
    likelihood = np.where(samples.right > 0, predicted, 1 - predicted)
    loss = -(samples.weight * np.log(likelihood + 1e-12)).sum()
    own = _fit_offsets(samples, predicted, start.answers.size)
    slopes, (cardinality, stated, nothing, elsewhere, offset) = values[:pieces], values[pieces:]
    knots = (KNOTS[0] - 1, *KNOTS, KNOTS[-1] + 1)
    fitted = replace(
        start,
        knots=knots,
        heights=tuple((_split_pieces(np.array(knots)) @ slopes + offset).tolist()),
        cardinality=float(cardinality),
        stated=float(stated),
        nothing=float(nothing),
        elsewhere=float(elsewhere),
        own=own.astype(np.float32).reshape(start.answers.shape),
    )
    return fitted, float(loss)


def _build_features(start: Curve, samples: Samples, column: int) -> Floats:
    """The terms of the formula that have a coefficient, (samples, terms)."""
    logs = samples.logs[:, column]
    logits = logs - np.log1p(-np.minimum(np.exp(logs), MAX_PREDICTED))
    answers = np.log(start.answers.ravel()[samples.place]).astype(np.float64)
    others = (
        answers,
        np.log1p(samples.stated),
        samples.stated == 0,
        samples.elsewhere,
        np.ones_like(logits),
    )
    return np.concatenate([_split_pieces(logits), np.stack(others, axis=1)], axis=1)


def _split_pieces(logits: Floats) -> Floats:
    """How much of the way from the first knot to each value lies in each piece of the bend."""
    low = np.array([-np.inf, *KNOTS])
    high = np.array([*KNOTS, np.inf])
    origin = np.array([KNOTS[0], *KNOTS])
    return np.asarray(np.clip(logits[:, None], low, high) - origin)


def _fit_offsets(samples: Samples, predicted: Floats, size: int) -> Floats:
    """One Newton step from 0 for the offset of each relation and slot, with a prior at 0."""
    surplus = np.bincount(samples.place, samples.weight * (samples.right - predicted), size)
    curvature = np.bincount(samples.place, samples.weight * predicted * (1 - predicted), size)
    return np.clip(surplus / (curvature + PRIOR), -MAX_OWN, MAX_OWN)

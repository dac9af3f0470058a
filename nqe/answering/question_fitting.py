"""Fit the calibration of whole questions, on sampled ones of which some have no hard answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from nqe.answering.calibration_queries import answer_exactly, swap_anchors
from nqe.answering.fuzzy_set import FuzzySet
from nqe.answering.logistic import fit_logistic
from nqe.answering.neural import NeuralEngine
from nqe.answering.probability import to_logit
from nqe.answering.question_curve import JOINED, PARTS, QuestionCurve
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.dataset import Dataset
from nqe.graph.ragged import Ragged
from nqe.query.shapes import SHAPES
from nqe.query.step_table import StepTable
from nqe.sampling.query_table import QueryTable
from nqe.sampling.sampler import sample
from nqe.sampling.worker import Worker
from nqe.settings import SamplingSettings

Floats = npt.NDArray[np.float64]

QUESTIONS, LEAST_QUESTIONS = 600, 8
"""At most and at least this many questions of each shape are drawn."""
FACTS_PER_QUESTION = 40
"""The number of facts of the split for which one question of each shape is drawn."""
LEAST = 0.02
"""Predictions that are less likely take no part in the fit."""
WEIGHT = 1.0
"""The predictions of a shape together count as this many times its questions."""
BATCH = 64


@dataclass(frozen=True, eq=False)
class Questions:
    """Questions with the entities that the known facts state, and with all right ones."""

    shape: tuple[str, ...]
    plans: StepTable
    stated: Ragged
    right: Ragged

    def __len__(self) -> int:
        return len(self.plans)

    def without_facts(self) -> Questions:
        """The same questions when no facts are known, so that none of the answers is stated."""
        return replace(self, stated=Ragged.empty(len(self)))


def draw_questions(
    dataset: Dataset, split: str, known: str, count: int, seed: int = 0
) -> Questions:
    """Draw at most `count` questions of all shapes, with an anchor swapped in every second one.

    Those that are sampled have a hard answer. Most of the others have none, as an anchor comes
    from another question. A shape that the graph is too small for is left out.
    """
    none = SamplingSettings(match="any", seed=seed, train=0, valid=0, test=0)
    worth = len(dataset.splits[split]) // FACTS_PER_QUESTION
    counts: dict[str, Any] = {split: min(count, max(worth, LEAST_QUESTIONS))}
    settings = replace(none, **counts)
    worker = Worker(dataset, settings)
    shapes = tuple(shape for shape in SHAPES if worker.can_sample(split, shape))
    drawn = sample(dataset, replace(settings, shapes=shapes), workers=1).splits[split]
    return swap_half(drawn, dataset, split, known, np.random.default_rng(seed))


def swap_half(
    table: QueryTable, dataset: Dataset, split: str, known: str, rng: np.random.Generator
) -> Questions:
    """Swap an anchor in half of the queries, and answer all of them over both sets of facts."""
    table = table.take(rng.permutation(len(table)))
    table = swap_anchors(table, len(table) // 2, rng)
    stated = answer_exactly(table, dataset.known(known))
    right = answer_exactly(table, dataset.known(f"{known},{split}"))
    return Questions(table.shape, table.plans, stated, right)


@dataclass(frozen=True, eq=False)
class Predicted:
    """The predictions for some questions that have at least some probability."""

    question: Integers  # (predictions,)
    probability: Floats  # (predictions,)
    right: Booleans  # (predictions,)


def predict(engine: NeuralEngine, questions: Questions, least: float) -> tuple[Predicted, Floats]:
    """Predict the answers of questions that no fact states; also measure the questions' parts."""
    found, parts = [], []
    for rows in _split(len(questions)):
        run = engine.run_table(questions.plans.take(rows))
        parts.append(run.parts)
        for row, target in zip(rows.tolist(), run.targets, strict=True):
            found.append(_select(row, target, questions, least))
    columns = (np.concatenate(column) for column in zip(*found, strict=True))
    return Predicted(*columns), np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class Asked:
    """Questions with the engine that predicts their answers.

    `times` says how many times as many facts are missing as when the one-hop curves were fitted.
    """

    engine: NeuralEngine
    questions: Questions
    times: float = 1.0


def fit_question_curve(*asked: Asked) -> QuestionCurve:
    """Fit the curve of whole questions; the engines must not have one yet."""
    samples = [_sample(one) for one in asked]
    features, logits, right, weight = map(np.concatenate, zip(*samples, strict=True))
    values = fit_logistic(features, right, weight, np.zeros(features.shape[1]), offset=logits)
    slopes, bends, heights = values[: 3 * len(PARTS)].reshape(3, len(PARTS)).tolist()
    missing = tuple(values[3 * len(PARTS) :].tolist())
    return QuestionCurve(tuple(slopes), tuple(bends), tuple(heights), missing)


def _sample(asked: Asked) -> tuple[Floats, Floats, Floats, Floats]:
    """The features, log odds, truth and weight of the predictions for some questions."""
    questions = asked.questions
    predicted, parts = predict(asked.engine, questions, LEAST)
    shapes, shape = np.unique(np.array(questions.shape)[predicted.question], return_inverse=True)
    count = np.array([questions.shape.count(str(name)) for name in shapes])
    weight = (WEIGHT * count / np.bincount(shape, minlength=len(shapes)))[shape]
    logits = to_logit(predicted.probability)
    own = parts[predicted.question]
    joined = own[:, [PARTS.index(JOINED)]] * np.log(asked.times)
    features = (
        *(own * logits[:, None], own * np.maximum(logits, 0)[:, None], own),
        *(joined * logits[:, None], joined),
    )
    right = predicted.right.astype(np.float64)
    return np.concatenate(features, axis=1), logits, right, weight


def _split(count: int) -> Iterator[Integers]:
    for first in range(0, count, BATCH):
        yield np.arange(first, min(first + BATCH, count))


def _select(
    row: int, target: FuzzySet, questions: Questions, least: float
) -> tuple[Integers, Floats, Booleans]:
    """The predictions for one question."""
    chosen = (target.values >= least) & (target.values < 1)
    chosen &= ~np.isin(target.entities, questions.stated[row])
    entities = target.entities[chosen]
    right = np.isin(entities, questions.right[row])
    return np.full(len(entities), row), target.values[chosen], right

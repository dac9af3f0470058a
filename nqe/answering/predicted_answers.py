"""Hybrid answers of requests that are no trees: entities or rows, the likeliest first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from nqe.answering.answers import LIKELY, Answer, Answers
from nqe.answering.exact_answers import make_rows
from nqe.answering.neural import NeuralEngine
from nqe.answering.predicted_rows import PredictedRows, predict_rows
from nqe.answering.row_answers import RowAnswers
from nqe.answering.task import Task
from nqe.graph.arrays import Booleans, Integers
from nqe.query.rows import Rows

MakeAnswer = Callable[[int, float, bool], Answer]
"""Makes an answer of an entity, its probability, and whether facts state it."""


def list_predicted(
    task: Task, stated: Rows, engine: NeuralEngine, make_answer: MakeAnswer
) -> Answers | RowAnswers:
    """The likeliest answers of a task, stated ones first, as many as it asks for."""
    plan, request = stated.plan, task.request
    found = predict_rows(plan, stated, engine)
    if task.among is not None:
        found = found.keep(task.among.contains(found.columns[0]))
    threshold = LIKELY if request.threshold is None else request.threshold
    if request.threshold is None:
        stated_count = int(found.known.sum())
        likely_count = int((~found.known & (found.probability > threshold)).sum())
    else:
        found = found.keep(found.probability >= threshold)
        stated_count, likely_count = int(found.known.sum()), int((~found.known).sum())
    listed = found.keep(_choose_kind(task, found))
    best = rank_rows(listed, stated)[: request.limit(task.mode)]
    unseen = engine.predictor.find_unseen_names(plan)
    if plan.is_single:
        columns = (listed.columns[0][best], listed.probability[best], listed.known[best])
        answers = (make_answer(*one) for one in zip(*(c.tolist() for c in columns), strict=True))
        return Answers(
            plan,
            task.mode,
            tuple(answers),
            unseen,
            has_rules=engine.predictor.rules is not None,
            stated_count=stated_count,
            likely_count=likely_count,
            among_warnings=task.among_warnings,
            result=stated,
        )
    rows = replace(stated, numbers=tuple(one[best] for one in listed.columns))
    chances = zip(listed.probability[best].tolist(), listed.known[best].tolist(), strict=True)
    shown = (
        replace(row, probability=probability, known=known)
        for row, (probability, known) in zip(make_rows(rows), chances, strict=True)
    )
    return RowAnswers(
        plan, task.mode, tuple(shown), None, stated_count, likely_count, unseen, result=rows
    )


def _choose_kind(task: Task, found: PredictedRows) -> Booleans:
    """The rows that are stated or predicted, as requested."""
    if task.request.predicted_only:
        return ~found.known
    if task.request.stated_only:
        return found.known
    return np.ones(len(found), dtype=bool)


def rank_rows(found: PredictedRows, stated: Rows) -> Integers:
    """The order of rows: stated first, then the likeliest, then by ids."""
    ids = (
        names.id_order[column] for names, column in zip(stated.names, found.columns, strict=True)
    )
    return np.lexsort((*reversed(list(ids)), -found.probability, ~found.known))

"""Exact answers of requests: entities or rows, in the order that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from nqe.answering.answers import Answer, Answers, StepSummary
from nqe.answering.request import EMBEDDING, EXACT, Request
from nqe.answering.row_answers import RowAnswer, RowAnswers
from nqe.answering.task import Task
from nqe.errors import NqeError
from nqe.query.join_plan import JoinPlan
from nqe.query.result import Result
from nqe.query.row_order import parse_order, sort_rows
from nqe.query.rows import Rows

MakeAnswer = Callable[[int], Answer]
"""Makes a stated answer of an entity."""


def check_joins(plan: JoinPlan, request: Request, mode: str) -> None:
    """Refuse what cannot be asked for with a query that is no tree."""
    if mode == EMBEDDING:
        raise plan.refuse("which vectors cannot answer", "use --mode hybrid or exact")
    if mode != EXACT and plan.counted is not None:
        raise plan.refuse("which only exact answers can do", "use --mode exact")
    if request.steps is not None:
        raise plan.refuse("so it has no steps to show", "leave out --steps")
    if request.among is not None and not plan.is_single:
        columns = ", ".join(plan.columns)
        raise NqeError(
            f"the answers are rows ({columns}), not entities that --among could keep; add its "
            "conditions to the query"
        )


def list_exact(task: Task, result: Result | Rows, make_answer: MakeAnswer) -> Answers | RowAnswers:
    """The answers of a task, as many as it asks for."""
    if isinstance(result, Rows) and not result.plan.is_single:
        return _list_rows(task, result)
    entities = result.answers
    if task.among is not None:
        entities = entities[task.among.contains(entities)]
    names, order_by = result.graph.vocabulary.entities, task.request.order_by
    if order_by is not None:
        keys = parse_order(order_by)
        entities = entities[sort_rows(keys, result.columns, (names,), (entities,))]
    shown = entities[: task.request.limit(task.mode)].tolist()
    return Answers(
        task.plan,
        task.mode,
        tuple(map(make_answer, shown)),
        count=len(entities),
        stated_count=len(entities),
        steps=tuple(_summarize_steps(task, result, make_answer)),
        among_warnings=task.among_warnings,
        result=result,
    )


def _list_rows(task: Task, rows: Rows) -> RowAnswers:
    if task.request.order_by is not None:
        keys = parse_order(task.request.order_by)
        targets = rows.columns[: len(rows.numbers)]
        rows = rows.take(sort_rows(keys, targets, rows.names, rows.numbers, rows.counts))
    listed = rows.take(np.arange(len(rows))[: task.request.limit(task.mode)])
    answers = tuple(make_rows(listed))
    return RowAnswers(rows.plan, task.mode, answers, len(rows), len(rows), result=listed)


def make_rows(rows: Rows) -> Iterator[RowAnswer]:
    """The rows with their names."""
    pairs = list(zip(rows.names, rows.numbers, strict=True))
    counts = [None] * len(rows) if rows.counts is None else rows.counts.tolist()
    for place, count in enumerate(counts):
        chosen = [(names, int(column[place])) for names, column in pairs]
        ids = tuple(names.ids[number] for names, number in chosen)
        yield RowAnswer(ids, tuple(names.labels[number] for names, number in chosen), count)


def _summarize_steps(
    task: Task, result: Result | Rows, make_answer: MakeAnswer
) -> Iterator[StepSummary]:
    if task.request.steps is None or isinstance(result, Rows):
        return
    for number, entities in enumerate(result.sets):
        listed = entities.to_array(result.graph.entity_count)
        shown = listed[: task.request.steps].tolist()
        yield StepSummary(number, len(listed), tuple(map(make_answer, shown)))

"""Queries with chosen answers, and a runner that reads its scores from a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from nqe.graph.arrays import Integers
from nqe.graph.ragged import Ragged
from nqe.query.plan import Plan, PlanBuilder
from nqe.query.step_table import StepTable
from nqe.sampling.query_table import QueryTable


@dataclass(frozen=True)
class Question:
    """A one-hop query with the given answers; its shape can have any name."""

    hard: Sequence[int]
    easy: Sequence[int] = ()
    missing: Sequence[int] | None = None
    shape: str = "1p"
    asked: int = 1
    arity: int = 2
    answer_count: int | None = None


def table_of(questions: Sequence[Question]) -> QueryTable:
    """A query table; the relation of each query is its number, which tells the runner its row."""
    missing = [[1] * len(q.hard) if q.missing is None else q.missing for q in questions]
    counts = [len(q.easy) + len(q.hard) for q in questions]
    return QueryTable(
        shape=tuple(q.shape for q in questions),
        plans=StepTable.of([bind(number, q) for number, q in enumerate(questions)]),
        easy=Ragged.of([numbers(q.easy) for q in questions]),
        hard=Ragged.of([numbers(q.hard) for q in questions]),
        missing=Ragged.of([numbers(one) for one in missing]),
        answer_count=numbers(
            [
                stored if question.answer_count is None else question.answer_count
                for stored, question in zip(counts, questions, strict=True)
            ]
        ),
    )


def bind(relation: int, question: Question) -> Plan:
    slots = tuple(None if place == question.asked else 0 for place in range(question.arity))
    builder = PlanBuilder()
    attributes = (0,) * (question.arity - 2)
    builder.add_projection("x", relation, attributes, slots, question.asked, closed=True)
    return builder.finish()


def numbers(values: Sequence[int]) -> Integers:
    return np.array(values, dtype=np.int64)


@dataclass(frozen=True)
class MatrixScores:
    rows: Tensor
    sizes: list[int]

    def block(self, first: int, last: int) -> Tensor:
        self.sizes.append(len(self.rows) * (last - first))
        return self.rows[:, first:last]


@dataclass(frozen=True)
class MatrixRunner:
    """Scores each query by the row of the matrix whose number is the query's relation."""

    scores: Tensor
    sizes: list[int] = field(default_factory=list)
    """The size of each block that was requested."""

    @property
    def entity_count(self) -> int:
        return self.scores.shape[1]

    def run(self, plans: StepTable) -> MatrixScores:
        relation = plans.relation[plans.targets]
        return MatrixScores(self.scores[torch.from_numpy(relation)], self.sizes)

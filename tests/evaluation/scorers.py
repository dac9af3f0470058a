"""Queries made by hand and runners made of a matrix, for tests of evaluation."""

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
    """A one-hop query of any name, for its answers alone."""

    hard: Sequence[int]
    easy: Sequence[int] = ()
    missing: Sequence[int] | None = None
    shape: str = "1p"
    asked: int = 1
    arity: int = 2
    answer_count: int | None = None


def table_of(questions: Sequence[Question]) -> QueryTable:
    """Queries whose relation is their number, so that a runner can tell them apart."""
    missing = [[1] * len(q.hard) if q.missing is None else q.missing for q in questions]
    counts = [len(q.easy) + len(q.hard) for q in questions]
    told = [q.answer_count for q in questions]
    return QueryTable(
        shape=tuple(q.shape for q in questions),
        plans=StepTable.of([plan_of(number, q) for number, q in enumerate(questions)]),
        easy=Ragged.of([numbers(q.easy) for q in questions]),
        hard=Ragged.of([numbers(q.hard) for q in questions]),
        missing=Ragged.of([numbers(one) for one in missing]),
        answer_count=numbers([n if t is None else t for n, t in zip(counts, told, strict=True)]),
    )


def plan_of(relation: int, question: Question) -> Plan:
    slots = tuple(None if place == question.asked else 0 for place in range(question.arity))
    builder = PlanBuilder()
    attributes = (0,) * (question.arity - 2)
    builder.projection("x", relation, attributes, slots, question.asked, closed=True)
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
    """Gives each query the row of the matrix that its relation names."""

    scores: Tensor
    sizes: list[int] = field(default_factory=list)
    """How large each block was that somebody asked for."""

    @property
    def entity_count(self) -> int:
        return self.scores.shape[1]

    def run(self, plans: StepTable) -> MatrixScores:
        relation = plans.relation[plans.targets]
        return MatrixScores(self.scores[torch.from_numpy(relation)], self.sizes)

"""Small reports with chosen ranks, for tests of comparison, storage and tables."""

from __future__ import annotations

import torch
from scorers import MatrixRunner, Question, table_of

from nqe.evaluation import Report, evaluate
from nqe.evaluation.groupings import OF_LINKS


def report_of(ranks: dict[str, int], split: str = "test", **about: str) -> Report:
    """A report with one query per shape, whose only answer has the given rank."""
    questions = [Question(hard=[0], shape=shape) for shape in ranks]
    matrix = -torch.arange(30.0).repeat(len(ranks), 1)
    for row, rank in enumerate(ranks.values()):
        matrix[row, 0] = -rank + 0.5
    ranking = evaluate(MatrixRunner(matrix), table_of(questions))
    return Report.of(ranking, split=split, about=about)


def link_report_of(rank: int, **about: str) -> Report:
    """A report of link prediction with a subject of rank 1 and a value of the given rank."""
    questions = [Question(hard=[0], asked=0), Question(hard=[0], asked=2, arity=3)]
    matrix = -torch.arange(30.0).repeat(2, 1)
    matrix[0, 0] = 1
    matrix[1, 0] = -rank + 0.5
    ranking = evaluate(MatrixRunner(matrix), table_of(questions))
    return Report.of(ranking, split="test", per="answer", by=OF_LINKS, about=about)


def random_report() -> Report:
    """A report of twenty queries of four shapes, with random scores."""
    random = torch.Generator().manual_seed(0)
    questions = [
        Question(hard=[0, 1], missing=[1, 2], shape=shape, asked=i % 3, arity=3)
        for i, shape in enumerate(["1p", "2p", "2in", "Or(P(), P(), P())"] * 5)
    ]
    runner = MatrixRunner(torch.randn(20, 60, generator=random))
    return Report.of(evaluate(runner, table_of(questions)), split="valid")

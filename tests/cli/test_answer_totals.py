"""The line that says how many answers a RUN has."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nqe.answering.answers import Answer, Answers
from nqe.answering.request import Request
from nqe.cli.answer_totals import describe_totals
from nqe.graph import Fact, Graph
from nqe.query import execute

RESULT = execute("?x: road(?x, b)", Graph.of([Fact("a", "road", "b")]))
TEN = tuple(Answer(number, str(number), None, 0.9, known=True) for number in range(10))


def describe(stated: int, likely: int | None, listed: int = 10, **options: Any) -> str:
    counts = {"stated_count": stated, "likely_count": likely}
    answers = Answers(RESULT.plan, "hybrid", TEN[:listed], **counts, result=RESULT)
    return describe_totals(answers, replace(Request(""), **options))


@pytest.mark.parametrize(
    ("line", "counts", "options"),
    [
        ("10 in all: 8 stated, 2 predicted above 0.5", (8, 2), {}),
        (
            "1,100 in all: 1,088 stated, 12 predicted above 0.5; 10 shown (--top)",
            (1_088, 12),
            {},
        ),
        ("9 stated, none predicted above 0.5", (9, 0), {}),
        ("none stated, 1 predicted above 0.5", (0, 1), {}),
        ("none stated, none predicted above 0.5", (0, 0), {}),
        ("", (0, 0, 0), {}),
        ("9 in all: 8 stated, 1 predicted at 0.3 or above", (8, 1), {"threshold": 0.3}),
        ("2 predicted above 0.5 (8 stated left out)", (8, 2), {"predicted_only": True}),
        ("2 predicted above 0.5", (0, 2), {"predicted_only": True}),
        (
            "none predicted at 1 or above (8 stated left out)",
            (8, 0, 0),
            {"predicted_only": True, "threshold": 1.0},
        ),
        ("8 stated (2 predicted above 0.5 left out)", (8, 2), {"stated_only": True}),
        ("8 stated; 3 shown (--top)", (8, 0, 3), {"stated_only": True}),
        ("8 stated", (8, None), {}),
        ("", (8, None), {"predicted_only": True}),
    ],
)
def test_the_line_names_the_total_and_both_kinds(
    line: str, counts: tuple[Any, ...], options: dict[str, Any]
) -> None:
    assert describe(*counts, **options) == line

"""Describe how many answers a RUN has: stated ones and predicted ones, listed or not."""

from __future__ import annotations

from dataclasses import dataclass

from nqe.answering.answers import LIKELY, Answers
from nqe.answering.request import Request
from nqe.answering.row_answers import RowAnswers


@dataclass(frozen=True)
class _Kind:
    """The answers of one kind; a mode that gives no probabilities has no count of predictions."""

    count: int | None
    name: str

    def __str__(self) -> str:
        return f"{self.count:,} {self.name}" if self.count else f"none {self.name}"


def describe_totals(answers: Answers | RowAnswers, request: Request) -> str:
    """Describe the totals in one line, such as '100 in all: 88 stated, 12 predicted above 0.5'.

    It is empty if there is nothing to count.
    """
    kept, left_out = _choose_kinds(answers, request)
    total = sum(kind.count or 0 for kind in kept)
    if not kept or not (total or len(answers) or any(kind.count for kind in left_out)):
        return ""
    prefix = f"{total:,} in all: " if len(kept) > 1 and all(kind.count for kind in kept) else ""
    others = "".join(f" ({kind} left out)" for kind in left_out if kind.count)
    shown = f"; {len(answers):,} shown (--top)" if len(answers) < total else ""
    return prefix + ", ".join(map(str, kept)) + others + shown


def _choose_kinds(
    answers: Answers | RowAnswers, request: Request
) -> tuple[list[_Kind], list[_Kind]]:
    """The kinds that the request lists, and those that it leaves out."""
    bar = f"above {LIKELY:g}"
    if request.threshold is not None:
        bar = f"at {request.threshold:g} or above"
    stated = [_Kind(answers.stated_count, "stated")]
    predicted = [_Kind(answers.likely_count, f"predicted {bar}")]
    if answers.likely_count is None:
        predicted = []
    if request.predicted_only:
        return predicted, stated
    if request.stated_only:
        return stated, predicted
    return stated + predicted, []

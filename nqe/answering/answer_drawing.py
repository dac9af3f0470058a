"""Pictures of answers: a plan with the best members of every step's set, by any of the modes."""

from __future__ import annotations

from torch import Tensor

from nqe.answering.answerer import Answerer
from nqe.answering.explanation import SHOWN
from nqe.answering.top_k import select_likeliest
from nqe.query.binder import Question, bind
from nqe.query.plan import Plan
from nqe.query.svg import draw_svg

_LONGEST = 30


def picture(answerer: Answerer, query: Question, mode: str | None = None, top: int = 3) -> str:
    """The plan of a query as SVG, with what the mode finds at each step."""
    plan = bind(query, answerer.graph)
    steps = [number for number, step in enumerate(plan.steps) if step.op in SHOWN]
    # A plan cut off after a step has that step as its target.
    rows = answerer.rows([Plan(plan.steps[: number + 1]) for number in steps], mode)
    notes = {number: _lines(answerer, row, top) for number, row in zip(steps, rows, strict=True)}
    return draw_svg(plan, answerer.graph.vocabulary, notes)


def _lines(answerer: Answerer, row: Tensor, top: int) -> list[str]:
    names = answerer.graph.vocabulary.entities
    found = [
        f"{_short(names.name(entity))}: {'stated' if chance == 1 else f'{chance:.3f}'}"
        for entity, chance in select_likeliest(row, top)
    ]
    more = int((row == 1).sum()) - len(found)
    return [*found, *([f"and {more:,} more stated"] if more > 0 else [])] or ["nothing"]


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

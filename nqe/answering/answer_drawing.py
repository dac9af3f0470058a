"""Draw a plan as SVG with the best entities of every step, in any mode."""

from __future__ import annotations

from nqe.answering.answerer import Answerer
from nqe.answering.explanation import SHOWN
from nqe.answering.fuzzy_set import FuzzySet
from nqe.answering.top_k import select_likeliest
from nqe.query.binder import Question, bind_tree
from nqe.query.plan import Plan
from nqe.query.svg import draw_svg
from nqe.shown_text import make_visible

_MAX_LENGTH = 30


def draw_answers(answerer: Answerer, query: Question, mode: str | None = None, top: int = 3) -> str:
    """Draw the plan of a query as SVG, with the `top` best entities of each step."""
    plan = bind_tree(query, answerer.graph)
    steps = [number for number, step in enumerate(plan.steps) if step.op in SHOWN]
    # A plan that ends at a step has that step as its target.
    rows = answerer.compute_sets([Plan(plan.steps[: number + 1]) for number in steps], mode)
    notes = {
        number: _describe_row(answerer, row, top) for number, row in zip(steps, rows, strict=True)
    }
    return draw_svg(plan, answerer.graph.vocabulary, notes)


def _describe_row(answerer: Answerer, row: FuzzySet, top: int) -> list[str]:
    names = answerer.graph.vocabulary.entities
    found = [
        f"{_shorten(make_visible(names.name(entity)))}: {'stated' if p == 1 else f'{p:.3f}'}"
        for entity, p in select_likeliest(row, top, order=names.id_order)
    ]
    more = int((row.values == 1).sum()) - len(found)
    return [*found, *([f"and {more:,} more stated"] if more > 0 else [])] or ["nothing"]


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"

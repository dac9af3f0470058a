"""How answers are printed: tables, steps, proofs and JSON, from facts alone or with a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nqe.answering.answers import Answer, Answers
from nqe.answering.request import EXACT, TOP, Request
from nqe.cli import printing
from nqe.errors import NqeError
from nqe.query.step_text import step_to_cells

if TYPE_CHECKING:
    from nqe.answering.answerer import Answerer, Outcome

SHOWN = 50
"""Exact answers to show, unless --top says how many."""
STEP_NAMES = 6
"""Entities of a step to show in a table."""
BATCH = 256
"""Queries of a file that a model answers together."""


class AnswerPrinter:
    """Asks an answerer with the options of a command, and prints what it answers."""

    def __init__(
        self,
        answerer: Answerer,
        request: Request,
        *,
        steps: bool = False,
        proof: bool = False,
        as_json: bool = False,
    ) -> None:
        self.answerer, self.has_steps = answerer, steps
        self.proof, self.as_json = proof, as_json
        self.mode = request.check(answerer.has_model)
        self.request = replace(request, steps=self._members_per_step(request) if steps else None)
        self.request.check(answerer.has_model)

    @property
    def batch_size(self) -> int:
        """How many queries of a file are answered together; exact answers come one by one."""
        return BATCH if self.answerer.has_model else 1

    def answer(self, queries: Sequence[str]) -> list[Outcome]:
        """The answers of each query, or the error it caused."""
        return self.answerer.answer_many([replace(self.request, query=one) for one in queries])

    def print(self, query: str, outcome: Outcome) -> None:
        """Print the answers of a query; raises the error if there is one."""
        if isinstance(outcome, NqeError):
            raise outcome
        if self.as_json:
            printing.json_line(self.to_json(query, outcome))
        else:
            self._print(outcome)

    def to_json(self, query: str, answers: Answers) -> dict[str, Any]:
        """The answers as one JSON object."""
        return {"query": query, **answers.to_json(proofs=self.proof)}

    def _members_per_step(self, request: Request) -> int:
        """JSON has as many as there may be answers, a table only a few."""
        if not self.as_json:
            return STEP_NAMES
        every = self.answerer.graph.entity_count
        return request.top or (every if self.mode == EXACT else TOP)

    def _print(self, answers: Answers) -> None:
        for warning in answers.warnings:
            printing.note(f"nqe: note: {warning}")
        if self.has_steps:
            _print_steps(answers)
        if answers.is_exact and not self.answerer.has_model:
            self._print_exact(answers)
        elif len(answers):
            columns = ("id", "label", answers.measure, "known by")
            printing.table(columns, [answer_row(one) for one in answers])
        else:
            printing.note(self._why_nothing(answers.measure))
        note_unseen(answers)
        note_unseen_names(answers.unseen)
        if self.proof:
            _print_proofs(answers, self.request.top or SHOWN)

    def _print_exact(self, answers: Answers) -> None:
        limit = self.request.top or SHOWN
        descriptions = self.answerer.graph.vocabulary.entities.descriptions
        rows = [(one.id, one.label, descriptions[one.entity]) for one in answers.answers[:limit]]
        if rows:
            printing.table(("id", "label", "description"), rows)
        count = answers.count or 0
        if count > limit:
            printing.note(f"… and {count - limit:,} more (--top)")
        printing.note(f"{count:,} answer(s)")

    def _why_nothing(self, measure: str) -> str:
        whose = "no entity" if self.request.among is None else "no entity that --among gives"
        if self.request.threshold is not None:
            return f"no answer: {whose} has a {measure} of {self.request.threshold:g} or more"
        if self.mode == EXACT:
            return f"no answer: by the known facts {whose} fits; --mode hybrid predicts"
        return f"no answer: {whose} is possible"


def answer_row(answer: Answer) -> tuple[str, str | None, str, str]:
    """An answer as a row of a table."""
    return answer.id, answer.label, printing.chance(answer.probability), answer.source


def note_unseen(answers: Sequence[Answer] | Answers) -> None:
    """Tell the user which answers the model was not trained with."""
    unseen = [one.name for one in answers if not one.seen]
    if unseen:
        more = ", …" if len(unseen) > STEP_NAMES else ""
        printing.note(
            f"nqe: note: not seen in training, so here by facts alone: "
            f"{', '.join(unseen[:STEP_NAMES])}{more}"
        )


def note_unseen_names(names: Sequence[str]) -> None:
    """Tell the user which names of a query the model was not trained with."""
    if names:
        printing.note(
            "nqe: note: not seen in training, so nothing is predicted of: " + ", ".join(names)
        )


def _print_steps(answers: Answers) -> None:
    vocabulary = answers.result.graph.vocabulary
    size, rows = ("entities" if answers.is_exact else "likely"), []
    for step in answers.steps:
        some = step.members[:STEP_NAMES]
        shown = ", ".join(_member(one, answers.is_exact) for one in some)
        more = ", …" if answers.is_exact and step.size > STEP_NAMES else ""
        cells = step_to_cells(answers.plan, step.number, vocabulary)
        rows.append((*cells, step.size, shown + more))
    printing.table(("step", "variable", "says", "of", size, "such as"), rows)


def _member(answer: Answer, is_exact: bool) -> str:
    return answer.name if is_exact else f"{answer.name} {printing.chance(answer.probability)}"


def _print_proofs(answers: Answers, limit: int) -> None:
    for one in answers.answers[:limit]:
        printing.say()
        printing.say(str(answers.result.proof(one.entity)))

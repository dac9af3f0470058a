"""Print answers: tables, steps, proofs and JSON, of a graph or a RUN."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nqe.answering.answers import Answer, Answers
from nqe.answering.request import EXACT, TOP, Request
from nqe.answering.row_answers import RowAnswers
from nqe.answering.unseen_names import describe_unseen
from nqe.cli import printing
from nqe.cli.answer_totals import describe_totals
from nqe.errors import NqeError
from nqe.query.join_plan import COUNT
from nqe.query.step_text import step_to_cells

if TYPE_CHECKING:
    from nqe.answering.answerer import Answerer, Outcome

SHOWN = 50
"""The number of exact answers to show by default."""
STEP_NAMES = 6
"""The number of entities of a step to show in a table."""
BATCH = 256
"""The number of queries of a file that a model answers in one batch."""


class AnswerPrinter:
    """Asks an answerer with the options of a command, and prints the answers."""

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
        """The number of queries of a file per batch; a graph answers them one by one."""
        return BATCH if self.answerer.has_model else 1

    def answer(self, queries: Sequence[str]) -> list[Outcome]:
        """Answer some queries; returns the answers or the error of each."""
        return self.answerer.answer_many([replace(self.request, query=query) for query in queries])

    def print(self, query: str, outcome: Outcome) -> None:
        """Print the answers of a query; raise the error if it caused one."""
        if isinstance(outcome, NqeError):
            raise outcome
        if self.as_json:
            printing.json_line(self.to_json(query, outcome))
        elif isinstance(outcome, RowAnswers):
            self._print_rows(outcome)
        else:
            self._print(outcome)

    def to_json(self, query: str, answers: Answers | RowAnswers) -> dict[str, Any]:
        """Return the answers as one JSON object."""
        return {"query": query, **answers.to_json(proofs=self.proof)}

    def _members_per_step(self, request: Request) -> int:
        """A table shows a few entities of each step; JSON as many as there may be answers."""
        if not self.as_json:
            return STEP_NAMES
        every = self.answerer.graph.entity_count
        return request.top or (every if self.mode == EXACT else TOP)

    def _print(self, answers: Answers) -> None:
        printing.note_warnings(answers.warnings)
        if self.has_steps:
            _print_steps(answers)
        if answers.is_exact and not self.answerer.has_model:
            self._print_exact(answers)
        elif len(answers):
            columns = ("id", "label", answers.measure, "known by")
            printing.table(columns, [to_table_row(answer) for answer in answers])
        else:
            printing.note(self._explain_nothing(answers.measure))
        if self.answerer.has_model:
            self._note_totals(answers)
        note_unseen(answers, answers.has_rules)
        note_unseen_names(answers.unseen, answers.has_rules)
        if self.proof:
            _print_proofs(answers, self.request.top or SHOWN)

    def _print_exact(self, answers: Answers) -> None:
        limit = self.request.top or SHOWN
        descriptions = self.answerer.graph.vocabulary.entities.descriptions
        rows = [(a.id, a.label, descriptions[a.entity]) for a in answers.answers[:limit]]
        if rows:
            printing.table(("id", "label", "description"), rows)
        count = answers.count or 0
        if count > limit:
            printing.note(f"… and {count - limit:,} more (--top)")
        printing.note(f"{count:,} answer(s)")

    def _print_rows(self, answers: RowAnswers) -> None:
        """Print rows in labels, with one column per target; a count alone is a single number."""
        printing.note_warnings(answers.warnings)
        limit = self.request.top or SHOWN
        columns = [f"?{name}" for name in answers.targets]
        count = [COUNT] if answers.counted is not None else []
        shown = answers.answers[:limit]
        if answers.count is None:
            self._print_predicted_rows(answers, columns)
        else:
            if shown:
                printing.table((*columns, *count), [one.cells for one in shown])
            if answers.count > limit:
                printing.note(f"… and {answers.count - limit:,} more (--top)")
            if columns:
                printing.note(f"{answers.count:,} row(s)")
        if self.proof:
            for place in range(len(shown)):
                printing.say()
                printing.say_lines(str(answers.prove(place)))

    def _print_predicted_rows(self, answers: RowAnswers, columns: Sequence[str]) -> None:
        """Print rows with their probabilities."""
        rows = [
            (*one.names, printing.chance(one.probability), one.source) for one in answers.answers
        ]
        if rows:
            printing.table((*columns, "probability", "known by"), rows)
        else:
            printing.note("no answer: no row is possible")
        text = describe_totals(answers, self.request)
        if text:
            printing.note(text)
        note_unseen_names(answers.unseen, self.answerer.rules is not None)

    def _note_totals(self, answers: Answers) -> None:
        """Tell how many answers there are in all, of either kind, and what their numbers mean."""
        text = describe_totals(answers, self.request)
        if text:
            printing.note(text)
        if answers.unless:
            printing.note(
                "nqe: note: stated answers below 1 hold unless a missing fact says "
                + ", or ".join(answers.unless)
            )

    def _explain_nothing(self, measure: str) -> str:
        nobody = "no entity" if self.request.among is None else "no answer of --among"
        if self.request.stated_only and self.request.threshold is None:
            return f"no answer: {nobody} follows from the known facts"
        if self.request.predicted_only:
            nobody += " that is not stated"
        if self.request.threshold is not None:
            return f"no answer: {nobody} has a {measure} of {self.request.threshold:g} or more"
        if self.mode == EXACT:
            return f"no answer: {nobody} follows from the known facts; --mode hybrid also predicts"
        return f"no answer: {nobody} is possible"


def to_table_row(answer: Answer) -> tuple[str, str | None, str, str]:
    """Return an answer as a row of a table."""
    source = f"{answer.source}, never seen here" if answer.elsewhere else answer.source
    return answer.id, answer.label, printing.chance(answer.probability), source


def note_unseen(answers: Sequence[Answer] | Answers, has_rules: bool) -> None:
    """Tell the user which answers the model was not trained with."""
    unseen = [answer.name for answer in answers if not answer.seen]
    if unseen:
        more = ", …" if len(unseen) > STEP_NAMES else ""
        why = "facts or rules" if has_rules else "facts"
        printing.note(
            f"nqe: note: not seen in training, so listed because of {why} alone: "
            f"{', '.join(unseen[:STEP_NAMES])}{more}"
        )


def note_unseen_names(names: Sequence[str], has_rules: bool) -> None:
    """Tell the user which names of a query the model was not trained with."""
    if names:
        printing.note(f"nqe: note: {describe_unseen(names, has_rules)}")


def _print_steps(answers: Answers) -> None:
    vocabulary = answers.result.graph.vocabulary
    size, rows = ("entities" if answers.is_exact else "likely"), []
    for step in answers.steps:
        members = step.members[:STEP_NAMES]
        shown = ", ".join(_describe_member(one, answers.is_exact) for one in members)
        more = ", …" if answers.is_exact and step.size > STEP_NAMES else ""
        cells = step_to_cells(answers.tree, step.number, vocabulary)
        rows.append((*cells, step.size, shown + more))
    printing.table(("step", "variable", "says", "of", size, "such as"), rows)


def _describe_member(answer: Answer, is_exact: bool) -> str:
    return answer.name if is_exact else f"{answer.name} {printing.chance(answer.probability)}"


def _print_proofs(answers: Answers, limit: int) -> None:
    for answer in answers.answers[:limit]:
        printing.say()
        printing.say_lines(str(answers.result.proof(answer.entity)))

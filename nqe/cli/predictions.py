"""How a model's answers are shown: with probabilities, stated told from predicted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nqe.cli import printing
from nqe.cli.answers import STEP_COLUMNS, STEP_NAMES, show_steps, steps_json
from nqe.cli.choices import EMBEDDING, EXACT, HYBRID
from nqe.errors import NqeError
from nqe.graph.graph import Graph
from nqe.query.binder import bind
from nqe.query.exact import execute
from nqe.query.plan import Plan
from nqe.query.step_text import step_to_cells, step_to_json

if TYPE_CHECKING:
    from nqe.answering import Answer, Answerer, Answers
    from nqe.graph.entity_set import EntitySet

TOP = 10
LIKELY = 0.5


class Predictor:
    """Asks a model and the facts it may use, and shows what they say."""

    at_once = 256
    """So many queries of a file are worked on together."""

    def __init__(
        self,
        answerer: Answerer,
        mode: str = HYBRID,
        among: str | None = None,
        top: int | None = None,
        threshold: float | None = None,
        *,
        steps: bool = False,
    ) -> None:
        if steps and mode == EMBEDDING:
            raise NqeError(
                "--steps shows sets, and a step of the mode embedding is a vector; "
                "ask in the mode hybrid or exact"
            )
        self.answerer, self.mode, self.steps = answerer, mode, steps
        self.top, self.threshold = top, threshold
        self._among = among_of(answerer.graph, among)

    def answer(self, queries: Sequence[str]) -> list[Answers | NqeError]:
        """The answers of each query, all worked on together; a query in error gives its error."""
        bound = [self._plan(query) for query in queries]
        found = iter(self._together([one for one in bound if isinstance(one, Plan)]))
        return [next(found) if isinstance(one, Plan) else one for one in bound]

    def print(self, answers: Answers) -> None:
        """Print answers for a person."""
        for warning in answers.plan.warnings:
            printing.note(f"nqe: note: {warning}")
        if self.steps:
            self._show_steps(answers.plan)
        columns = ("id", "label", answers.measure, "known by")
        if len(answers):
            printing.table(columns, [answer_row(one) for one in answers])
        else:
            printing.note(self._nothing(answers.measure))
        note_unseen(answers)
        note_unseen_names(answers.unseen)

    def to_json(self, query: str, answers: Answers) -> dict[str, Any]:
        """Answers as one JSON object."""
        data = {"query": query, **answers.to_json()}
        if self.steps:
            data["steps"] = self._steps_json(answers.plan)
        if answers.plan.warnings:
            data["warnings"] = list(answers.plan.warnings)
        return data

    def _plan(self, query: str) -> Plan | NqeError:
        try:
            return bind(query, self.answerer.graph)
        except NqeError as error:
            return error

    def _together(self, plans: Sequence[Plan]) -> list[Answers | NqeError]:
        """All in one go; if that fails, one by one, to tell which of them are to blame."""
        try:
            return [*self._answers(plans)]
        except NqeError as error:
            if len(plans) == 1:
                return [error]
            return [one for plan in plans for one in self._together([plan])]

    def _answers(self, plans: Sequence[Plan]) -> list[Answers]:
        found = self.answerer.answer_many(
            plans, self.mode, self.top or TOP, threshold=self.threshold, among=self._among
        )
        # With a threshold all that are likely enough come, however many.
        return [replace(one, answers=one.answers[: self.top]) for one in found]

    def _nothing(self, measure: str) -> str:
        """Why there is no answer."""
        whose = "no entity" if self._among is None else "no entity that --among gives"
        if self.threshold is not None:
            return f"no answer: {whose} has a {measure} of {self.threshold:g} or more"
        if self.mode == EXACT:
            return f"no answer: by the known facts {whose} fits; --mode hybrid predicts"
        return f"no answer: {whose} is possible"

    def _show_steps(self, plan: Plan) -> None:
        if self.mode == EXACT:
            show_steps(execute(plan, self.answerer.graph))
            return
        names = self.answerer.graph.vocabulary
        rows = []
        for number, (likely, best) in enumerate(self._sets(plan, STEP_NAMES)):
            some = ", ".join(
                f"{names.entities.name(entity)} {printing.chance(chance)}"
                for entity, chance in best
            )
            rows.append((*step_to_cells(plan, number, names), likely, some))
        printing.table((*STEP_COLUMNS, "likely", "such as"), rows)

    def _steps_json(self, plan: Plan) -> list[dict[str, Any]]:
        if self.mode == EXACT:
            return steps_json(execute(plan, self.answerer.graph), self.top or TOP)
        names = self.answerer.graph.vocabulary
        return [
            {
                **step_to_json(plan, number, names),
                "likely": likely,
                "entities": [
                    {"entity": names.entities.ids[entity], "probability": chance}
                    for entity, chance in best
                ],
            }
            for number, (likely, best) in enumerate(self._sets(plan, self.top or TOP))
        ]

    def _sets(self, plan: Plan, top: int) -> Iterator[tuple[int, list[tuple[int, float]]]]:
        """Of every step how many entities are likelier than not, and the likeliest."""
        from nqe.answering.top_k import likeliest

        for row in self.answerer.run([plan]).rows:
            yield int((row > LIKELY).sum()), likeliest(row, top)


def answer_row(answer: Answer) -> tuple[str, str | None, str, str]:
    """An answer as a row of a table."""
    source = "stated" if answer.known else "predicted"
    return answer.id, answer.label, printing.chance(answer.probability), source


def note_unseen(answers: Sequence[Answer] | Answers) -> None:
    """Tell which entities the model knows nothing of."""
    unseen = [one.name for one in answers if not one.seen]
    if unseen:
        more = ", …" if len(unseen) > STEP_NAMES else ""
        printing.note(
            f"nqe: note: not seen in training, so here by facts alone: "
            f"{', '.join(unseen[:STEP_NAMES])}{more}"
        )


def note_unseen_names(names: Sequence[str]) -> None:
    """Tell what of a query the model knows nothing of."""
    if names:
        printing.note(
            "nqe: note: not seen in training, so nothing is predicted of: " + ", ".join(names)
        )


def among_of(graph: Graph, query: str | None) -> EntitySet | None:
    """The exact answers of a query that others are to be among."""
    if query is None:
        return None
    found = execute(query, graph)
    if not len(found):
        printing.note("nqe: note: by the known facts, nothing answers the query of --among")
    return found.sets[-1]

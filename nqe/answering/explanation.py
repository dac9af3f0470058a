"""Explanations: what every variable may be, why an entity is an answer, what negations took away.

As objects, text, Markdown and JSON, in the manner of the paper's case study.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nqe.answering.answerer import Answerer
from nqe.answering.hybrid import HybridRun
from nqe.answering.reason_search import Explainer
from nqe.answering.top_k import select_likeliest
from nqe.errors import NqeError
from nqe.graph.graph import Graph
from nqe.graph.vocabulary import Names
from nqe.query.binder import Question
from nqe.query.exact import execute
from nqe.query.plan import Op, Plan
from nqe.query.reason import Reason, Support
from nqe.query.step_text import describe_step

TOP = 5
SHOWN = (Op.PROJECTION, Op.AND, Op.OR)
"""Of a negation or Any there is nothing to see: nearly every entity."""
EASY, HARD, WRONG = "easy", "hard", "wrong"


@dataclass(frozen=True)
class Candidate:
    """An entity that a variable may be."""

    rank: int
    id: str
    name: str
    probability: float
    known: bool
    """Whether the known facts alone give it."""
    truth: str | None
    """Easy (the known facts give it), hard (only all facts do) or wrong; None if unknown."""


@dataclass(frozen=True)
class StepView:
    """The fuzzy set of a step: its likeliest members."""

    step: int
    variable: str
    says: str
    inputs: tuple[int, ...]
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Removed:
    """What a negation took from a conjunction: entities that all else speaks for."""

    says: str
    entities: tuple[tuple[int, float], ...]
    """And how likely what is negated is of each."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """How a query was answered, and why an entity stands where it does."""

    query: str
    entity: int
    rank: int
    probability: float
    known: bool
    reason: Reason
    steps: tuple[StepView, ...]
    removed: tuple[Removed, ...]
    unseen: tuple[str, ...]
    """Names in the query, and the entity's, that the model was not trained with."""
    warnings: tuple[str, ...] = ()
    """What is odd about the query."""

    @property
    def weakest(self) -> Support | None:
        """The atom that keeps the entity from ranking higher; None if all is certain."""
        return self.reason.weakest()

    @property
    def _names(self) -> Names:
        return self.reason.graph.vocabulary.entities

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def markdown(self) -> str:
        """The explanation as Markdown, the steps as one table."""
        head = [
            "| variable | step | rank | answer | probability | known by | truth |",
            "|---" * 7 + "|",
        ]
        rows = [
            f"| ?{view.variable} | {_escaped(view.says)} | {one.rank} | {_escaped(one.name)} "
            f"| {one.probability:.4f} | {_source(one)} | {one.truth or ''} |"
            for view in self.steps
            for one in view.candidates
        ]
        why = ["```", *self._why(), "```"]
        return "\n".join([f"`{self.query}`", "", *head, *rows, "", *why, ""])

    def to_json(self) -> dict[str, Any]:
        """The explanation as JSON data, in ids."""
        names = self._names
        return {
            "query": self.query,
            "entity": names.ids[self.entity],
            "rank": self.rank,
            "probability": self.probability,
            "known": self.known,
            "reason": self.reason.to_json(),
            "weakest": None if self.weakest is None else self.weakest.to_json(),
            "steps": [_step_json(view) for view in self.steps],
            "removed": [
                {
                    "says": one.says,
                    "entities": [
                        {"entity": names.ids[entity], "probability": chance}
                        for entity, chance in one.entities
                    ],
                }
                for one in self.removed
            ],
            "unseen": list(self.unseen),
        }

    def _lines(self) -> Iterator[str]:
        for view in self.steps:
            yield f"step {view.step}, ?{view.variable}: {view.says}"
            for one in view.candidates:
                truth = "" if one.truth is None else f", {one.truth}"
                yield f"  {one.rank}. {one.name}  {one.probability:.4f}  {_source(one)}{truth}"
            yield ""
        yield from self._why()

    def _why(self) -> Iterator[str]:
        name = self._names.name(self.entity)
        yield f"Why {name} is number {self.rank}, with probability {self.probability:.4f}:"
        yield from self.reason.lines("  ")
        if self.weakest is not None:
            yield f"The weakest part is {self.weakest}"
        for one in self.removed:
            names = ", ".join(
                f"{self._names.name(entity)} ({chance:.2f})" for entity, chance in one.entities
            )
            yield f"{one.says} took away: {names}"
        if self.unseen:
            yield f"Not seen in training, so nothing is predicted of: {', '.join(self.unseen)}"


def explain(
    answerer: Answerer,
    query: Question,
    entity: int | str | None = None,
    *,
    top: int = TOP,
    truth: Graph | None = None,
) -> Explanation:
    """Why an entity (the best answer, if none is named) stands where it does.

    `truth` is the graph with all facts, those included that the answerer must not know.
    """
    graph = answerer.graph
    result = execute(query, graph)
    plan, run = result.plan, answerer.neural.run([result])
    row = run.rows[-1]
    if entity is None:
        entity = int(row.argmax())
        if not float(row[entity]):
            raise NqeError("the query has no possible answer, so there is nothing to explain")
    number = graph.vocabulary.entities.to_number(entity)
    explainer = Explainer(result, run)
    views = _Views(plan, run, explainer, truth, top)
    return Explanation(
        query=str(plan.query(graph.vocabulary)),
        entity=number,
        rank=int((row > row[number]).sum()) + 1,
        probability=float(row[number]),
        known=number in explainer.result.sets[-1],
        reason=explainer.reason(number),
        steps=tuple(views.step(one) for one, step in enumerate(plan.steps) if step.op in SHOWN),
        removed=tuple(one for one in views.removals() if one.entities),
        unseen=_unseen(answerer, plan, number),
        warnings=plan.warnings,
    )


def _unseen(answerer: Answerer, plan: Plan, entity: int) -> tuple[str, ...]:
    predictor = answerer.neural.predictor
    own = () if predictor.knows(entity) else (answerer.graph.vocabulary.entities.name(entity),)
    return tuple(dict.fromkeys((*predictor.unseen(plan), *own)))


class _Views:
    """What is shown of the steps of a run of one plan."""

    def __init__(
        self, plan: Plan, run: HybridRun, explainer: Explainer, truth: Graph | None, top: int
    ) -> None:
        self.plan, self.run, self.top = plan, run, top
        self.names = run.predictor.graph.vocabulary.entities
        self.known = explainer.result.sets
        self.true = None if truth is None else execute(plan, truth).sets

    def step(self, number: int) -> StepView:
        """The best members of a step's set."""
        step, row = self.plan.steps[number], self.run.rows[number]
        candidates = tuple(
            Candidate(
                rank,
                self.names.ids[entity],
                self.names.name(entity),
                chance,
                entity in self.known[number],
                self._truth(number, entity),
            )
            for rank, (entity, chance) in enumerate(select_likeliest(row, self.top), start=1)
        )
        return StepView(number + 1, step.variable, self._says(number), step.inputs, candidates)

    def removals(self) -> Iterator[Removed]:
        """For each negation in a conjunction, the entities that would be likeliest without it."""
        for number, step in enumerate(self.plan.steps):
            if step.op != Op.AND:
                continue
            for one in step.inputs:
                if self.plan.steps[one].op == Op.NOT:
                    yield self._removed(number, one)

    def _removed(self, conjunction: int, negation: int) -> Removed:
        negated = self.plan.steps[negation].inputs[0]
        others = [one for one in self.plan.steps[conjunction].inputs if one != negation]
        without = self.run.rows[others].amin(0)
        lost = without * self.run.rows[negated]
        entities = tuple(
            (entity, float(self.run.rows[negated, entity]))
            for entity, chance in select_likeliest(lost, self.top)
            if chance > 0.01
        )
        return Removed(f"not {self._says(negated)}", entities)

    def _says(self, number: int) -> str:
        return describe_step(self.plan, number, self.run.predictor.graph.vocabulary)

    def _truth(self, number: int, entity: int) -> str | None:
        if self.true is None:
            return None
        if entity not in self.true[number]:
            return WRONG
        return EASY if entity in self.known[number] else HARD


def _step_json(view: StepView) -> dict[str, Any]:
    return {
        "step": view.step,
        "variable": view.variable,
        "says": view.says,
        "inputs": [one + 1 for one in view.inputs],
        "candidates": [
            {
                "rank": one.rank,
                "entity": one.id,
                "probability": one.probability,
                "known": one.known,
                "truth": one.truth,
            }
            for one in view.candidates
        ],
    }


def _source(candidate: Candidate) -> str:
    return "stated" if candidate.known else "predicted"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")

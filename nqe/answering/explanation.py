"""Explanations: the candidates of every variable, and why an entity is an answer.

An explanation can be printed as text, Markdown (like the paper's case study) or JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from nqe.answering.fuzzy_set import FuzzySet
from nqe.answering.hybrid import HybridRun
from nqe.answering.reason_search import ReasonSearch
from nqe.answering.row_explanation import RowExplanation, explain_row
from nqe.answering.top_k import find_rank, select_likeliest
from nqe.answering.unseen_names import describe_unseen
from nqe.errors import NqeError
from nqe.graph.entity_set import EntitySet
from nqe.graph.graph import Graph
from nqe.graph.vocabulary import Names
from nqe.notebook import render_text
from nqe.query.binder import Question, bind
from nqe.query.exact import execute
from nqe.query.plan import Op, Plan
from nqe.query.readings import describe_reading
from nqe.query.reason import Reason, Support, show_probability
from nqe.query.result import Result
from nqe.query.rows import Name
from nqe.query.step_text import describe_part, describe_step
from nqe.query.svg import draw_svg
from nqe.shown_text import escape_markdown, join_visible, to_code_span

if TYPE_CHECKING:
    from nqe.answering.answerer import Answerer

TOP = 5
SHOWN = (Op.PROJECTION, Op.AND, Op.OR)
"""The steps to show; a negation or Any holds nearly every entity."""
EASY, HARD, WRONG = "easy", "hard", "wrong"


@dataclass(frozen=True)
class Candidate:
    """An entity that a variable may stand for."""

    rank: int
    id: str
    name: str
    probability: float
    known: bool
    """Whether it follows from the known facts alone."""
    truth: str | None
    """easy (follows from the known facts), hard (only from all facts) or wrong.

    None if the truth was not given.
    """


@dataclass(frozen=True)
class StepView:
    """The most likely members of a step's fuzzy set."""

    step: int
    variable: str
    operator: str
    says: str
    inputs: tuple[int, ...]
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True)
class Removed:
    """The entities that a negation removed from a conjunction, though all other parts hold."""

    says: str
    entities: tuple[tuple[int, float], ...]
    """Each entity with the probability of what is negated."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """How a query was answered, and why an entity has its rank."""

    query: str
    entity: int
    rank: int
    probability: float
    known: bool
    reason: Reason
    steps: tuple[StepView, ...]
    removed: tuple[Removed, ...]
    plan: Plan
    unseen: tuple[str, ...]
    """Names of the query and of the entity that the model was not trained with."""
    has_rules: bool = False
    """Whether there are rules, which predict about unseen names."""
    warnings: tuple[str, ...] = ()
    """Notes about the query and the entity's name, such as a part that has no effect."""

    @property
    def weakest(self) -> Support | None:
        """The atom that lowers the entity's probability most; None if all atoms are certain."""
        return self.reason.weakest()

    @property
    def _names(self) -> Names:
        return self.reason.graph.vocabulary.entities

    def __str__(self) -> str:
        return join_visible(self._lines())

    def to_markdown(self) -> str:
        """Return the explanation as Markdown, with one table for all steps.

        It has a column for the truth if that was given.
        """
        columns = ["variable", "step", "rank", "answer", "probability", "known by", "truth"]
        candidates = [(view, one) for view in self.steps for one in view.candidates]
        if all(one.truth is None for _, one in candidates):
            columns.remove("truth")
        head = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
        rows = [
            f"| ?{view.variable} | {escape_markdown(view.says)} | {one.rank} "
            f"| {escape_markdown(one.name)} | {one.probability:.4f} | {_source(one)} |"
            + ("" if one.truth is None else f" {one.truth} |")
            for view, one in candidates
        ]
        why = ["```", *self._why(), "```"]
        return join_visible([to_code_span(self.query), "", *head, *rows, "", *why, ""])

    def _repr_html_(self) -> str:
        """How a notebook shows the explanation: the plan, and why."""
        notes = {
            view.step - 1: [f"{one.name} {one.probability:.2f}" for one in view.candidates[:3]]
            for view in self.steps
        }
        picture = draw_svg(self.plan, self.reason.graph.vocabulary, notes)
        return picture + render_text(join_visible(self._why()))

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as JSON data; entities are given by id."""
        names = self._names
        return {
            "query": self.query,
            "entity": names.ids[self.entity],
            "rank": self.rank,
            "probability": self.probability,
            "known": self.known,
            "reason": self.reason.to_json(),
            "weakest": None if self.weakest is None else self.weakest.to_json(),
            "steps": [_step_to_json(view) for view in self.steps],
            "removed": [
                {
                    "says": removed.says,
                    "entities": [
                        {"entity": names.ids[entity], "probability": probability}
                        for entity, probability in removed.entities
                    ],
                }
                for removed in self.removed
            ],
            "unseen": list(self.unseen),
            **({"warnings": list(self.warnings)} if self.warnings else {}),
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
        if self.probability:
            yield f"Why {name} is number {self.rank}, with probability {self.probability:.4f}:"
        else:
            yield f"Why {name} is no answer:"
        yield from self.reason.lines("  ")
        # Of a single atom, the reason has said it already.
        if self.weakest is not None and not self.reason.is_one_line:
            yield f"The weakest part is {self.weakest}"
        yield from dict.fromkeys(map(self._describe_removed, self.removed))
        if self.unseen:
            told = describe_unseen(self.unseen, self.has_rules)
            yield told[0].upper() + told[1:]

    def _describe_removed(self, removed: Removed) -> str:
        names = ", ".join(
            f"{self._names.name(entity)} "
            f"({'stated' if probability == 1 else show_probability(probability)})"
            for entity, probability in removed.entities
        )
        return f"Removed by {removed.says}: {names}"


def explain(
    answerer: Answerer,
    query: Question,
    entity: Name | Sequence[Name] | None = None,
    *,
    top: int = TOP,
    truth: Graph | None = None,
) -> Explanation | RowExplanation:
    """Explain the rank of an entity, or of a row of several, by default of the best answer.

    A question that is no tree has a `RowExplanation`. `truth` is a graph with all facts,
    including those that the answerer does not know; it says which candidates are true.
    """
    plan = bind(query, answerer.graph)
    if isinstance(plan, Plan):
        return _explain_tree(answerer, plan, _take_single(entity), top, truth)
    if truth is not None:
        raise plan.refuse("so its steps have no truth to show", "leave out --truth")
    return explain_row(answerer, plan, entity)


def _take_single(entity: Name | Sequence[Name] | None) -> Name | None:
    """The only entity of a list of one."""
    if entity is None or isinstance(entity, int | np.integer | str):
        return entity
    if len(entity) != 1:
        raise NqeError(f"the question asks for one entity, not for {len(entity)}; name one")
    return entity[0]


def _explain_tree(
    answerer: Answerer, plan: Plan, entity: Name | None, top: int, truth: Graph | None
) -> Explanation:
    """Explain the rank of an entity in the answers of a tree."""
    graph = answerer.graph
    names = graph.vocabulary.entities
    result = execute(plan, graph, max_bindings=answerer.max_bindings)
    run = answerer.neural.run([result])
    row, order, stated = run.targets[0], names.id_order, result.sets[-1]
    reading = describe_reading(names, entity) if isinstance(entity, str) else ()
    if entity is None:
        best = select_likeliest(row, 1, order=order, stated=stated)
        if not best:
            why = "".join(f"; {note}" for note in result.warnings)
            raise NqeError(f"the query has no possible answer, so there is nothing to explain{why}")
        entity = best[0][0]
    number = names.to_number(entity)
    views = _Views(result, run, truth, top)
    return Explanation(
        query=str(plan.query(graph.vocabulary)),
        entity=number,
        rank=find_rank(row, number, order=order, stated=stated),
        probability=row[number],
        known=number in result.sets[-1],
        reason=ReasonSearch(result, run).find(number),
        steps=tuple(views.view(n) for n, step in enumerate(plan.steps) if step.op in SHOWN),
        plan=plan,
        removed=tuple(removed for removed in views.find_removed() if removed.entities),
        unseen=_find_unseen(answerer, plan, number),
        has_rules=answerer.rules is not None,
        warnings=(*result.warnings, *reading),
    )


def _find_unseen(answerer: Answerer, plan: Plan, entity: int) -> tuple[str, ...]:
    predictor = answerer.neural.predictor
    own = () if predictor.has_seen(entity) else (answerer.graph.vocabulary.entities.name(entity),)
    return tuple(dict.fromkeys((*predictor.find_unseen_names(plan), *own)))


class _Views:
    """Builds the views of the steps of one plan."""

    def __init__(self, result: Result, run: HybridRun, truth: Graph | None, top: int) -> None:
        self.plan, self.run, self.top = result.plan, run, top
        self.names = run.predictor.graph.vocabulary.entities
        self.known = result.sets
        self.true = None if truth is None else _find_sets(result, truth)

    def view(self, number: int) -> StepView:
        """View the best members of a step's set."""
        step, row = self.plan.steps[number], self.run.sets[number]
        candidates = tuple(
            Candidate(
                rank,
                self.names.ids[entity],
                self.names.name(entity),
                probability,
                entity in self.known[number],
                self._truth(number, entity),
            )
            for rank, (entity, probability) in enumerate(self._select(row), 1)
        )
        says = self._describe(number)
        return StepView(number + 1, step.variable, step.op.word, says, step.inputs, candidates)

    def find_removed(self) -> Iterator[Removed]:
        """Find, for each negation in a conjunction, the likeliest entities that it removed."""
        for number, step in enumerate(self.plan.steps):
            if step.op != Op.AND:
                continue
            for negation in step.inputs:
                if self.plan.steps[negation].op == Op.NOT:
                    yield self._find_removed_by(number, negation)

    def _find_removed_by(self, conjunction: int, negation: int) -> Removed:
        [negated] = self.plan.steps[negation].inputs
        others = [one for one in self.plan.steps[conjunction].inputs if one != negation]
        sets = self.run.sets
        listed = sets[negated]
        chances = [sets[one].look_up(listed.entities) for one in others]
        lost = np.minimum.reduce(chances, initial=1.0) * listed.values
        entities = tuple(
            (entity, listed[entity])
            for entity, probability in self._select(FuzzySet(listed.entities, lost))
            if probability > 0.01
        )
        return Removed(self._describe(negation), entities)

    def _select(self, row: FuzzySet) -> list[tuple[int, float]]:
        return select_likeliest(row, self.top, order=self.names.id_order)

    def _describe(self, number: int) -> str:
        """A step with all below it; a projection's own atom, as its inputs are shown as steps."""
        if self.plan.steps[number].op == Op.PROJECTION:
            return describe_step(self.plan, number, self.run.predictor.graph.vocabulary)
        return describe_part(self.plan, number, self.run.predictor.graph.vocabulary)

    def _truth(self, number: int, entity: int) -> str | None:
        if self.true is None:
            return None
        if entity not in self.true[number]:
            return WRONG
        return EASY if entity in self.known[number] else HARD


def _find_sets(result: Result, graph: Graph) -> tuple[EntitySet, ...]:
    """The sets of a result's steps over other facts, with the same limit."""
    return execute(result.plan, graph, max_bindings=result.max_bindings).sets


def _step_to_json(view: StepView) -> dict[str, Any]:
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
                **({} if one.truth is None else {"truth": one.truth}),
            }
            for one in view.candidates
        ],
    }


def _source(candidate: Candidate) -> str:
    return "stated" if candidate.known else "predicted"

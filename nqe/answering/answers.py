"""Answers: ranked entities with probabilities, each stated by facts or predicted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nqe.answering.request import EMBEDDING, HYBRID, RULES
from nqe.notebook import render_table, to_frame
from nqe.query.binder import BoundPlan
from nqe.query.join_plan import JoinPlan, list_negated
from nqe.query.join_text import JoinText
from nqe.query.plan import Op, Plan
from nqe.query.result import Result
from nqe.query.rows import Rows
from nqe.query.step_text import describe_part, step_to_json

if TYPE_CHECKING:
    from pandas import DataFrame

LIKELY = 0.5
"""Above this probability, an entity counts as a member of a fuzzy set."""


@dataclass(frozen=True)
class Answer:
    """An entity that may answer a query."""

    entity: int
    id: str
    label: str | None
    probability: float
    """Calibrated; 1 if facts make it certain. In the mode embedding, the softmax score."""
    known: bool
    """Whether it follows from the known facts alone."""
    seen: bool = True
    """Whether the model was trained with the entity; others are stated, or predicted by rules."""
    elsewhere: bool = False
    """Whether it is predicted though no known fact has it in the slot that the query asks for."""

    @property
    def name(self) -> str:
        """The label, or the id if there is none."""
        return self.label or self.id

    @property
    def source(self) -> str:
        """Where the answer comes from: 'stated' or 'predicted'."""
        return "stated" if self.known else "predicted"

    def to_json(self, measure: str = "probability") -> dict[str, Any]:
        """Return the answer as JSON data; `measure` is the key of its probability or score."""
        return {
            "entity": self.id,
            "label": self.label,
            measure: self.probability,
            "known": self.known,
            "seen": self.seen,
            "elsewhere": self.elsewhere,
        }


@dataclass(frozen=True)
class StepSummary:
    """The set of one step: its size, and some members with their probabilities."""

    number: int
    size: int
    """The number of members; in the mode hybrid, those with a probability above 0.5."""
    members: tuple[Answer, ...]

    def to_json(self, plan: Plan, answers: Answers) -> dict[str, Any]:
        """Return the summary as JSON data."""
        head = step_to_json(plan, self.number, answers.result.graph.vocabulary)
        if answers.is_exact:
            return {**head, "count": self.size, "entities": [member.id for member in self.members]}
        entities = [{"entity": m.id, "probability": m.probability} for m in self.members]
        return {**head, "likely": self.size, "entities": entities}


@dataclass(frozen=True)
class Answers:
    """The answers of a query, the most likely first."""

    plan: BoundPlan
    mode: str
    answers: tuple[Answer, ...]
    unseen: tuple[str, ...] = ()
    """Names in the query that the model was not trained with; rules alone predict from them."""
    has_rules: bool = False
    """Whether there are rules; without any, nothing is predicted from unseen names."""
    count: int | None = None
    """In the mode exact, the number of all answers, including those that are not listed."""
    stated_count: int = 0
    """The number of stated answers, listed or not; with a threshold, of those that reach it."""
    likely_count: int | None = None
    """The number of predictions above 0.5, listed or not; with a threshold, of those that reach it.

    None in the modes exact, which predicts nothing, and embedding, whose scores are no
    probabilities."""
    steps: tuple[StepSummary, ...] = ()
    """Summaries of the steps, if the request asked for them."""
    among_warnings: tuple[str, ...] = ()
    """Notes about the query that restricts the answers, if the request has one."""
    result: Result | Rows = field(compare=False, repr=False, kw_only=True)
    """The exact answers over the known facts; of a tree, with the set of each step."""

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __getitem__(self, place: int) -> Answer:
        return self.answers[place]

    @property
    def tree(self) -> Plan:
        """The plan of a query that is a tree."""
        if not isinstance(self.plan, Plan):
            raise ValueError(f"{self.plan.text} is no tree, so it has no steps")
        return self.plan

    @property
    def is_exact(self) -> bool:
        """Whether the answers come from facts alone."""
        return self.count is not None

    @property
    def measure(self) -> str:
        """What `Answer.probability` holds: a probability, or in the mode embedding a score."""
        return "score" if self.mode == EMBEDDING else "probability"

    @property
    def ids(self) -> list[str]:
        """The ids of the answers."""
        return [answer.id for answer in self.answers]

    @property
    def unless(self) -> tuple[str, ...]:
        """What missing facts may say against stated answers whose probability is below 1.

        These are the negated parts of the query; empty if there is no such answer in the list.
        """
        certain = all(one.probability == 1 for one in self.answers if one.known)
        if certain or self.mode not in (HYBRID, RULES):
            return ()
        names = self.result.graph.vocabulary
        if isinstance(self.plan, JoinPlan):
            text = JoinText(self.plan, names, {})
            return tuple(dict.fromkeys(map(text.describe_scope, list_negated(self.plan.scope))))
        negations = [step for step in self.tree.steps if step.op == Op.NOT]
        texts = (describe_part(self.tree, step.inputs[0], names) for step in negations)
        return tuple(dict.fromkeys(texts))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Notes about the query: how names were read, and what can have no effect or no answer."""
        return (*self.result.warnings, *self.among_warnings)

    def to_pandas(self) -> DataFrame:
        """Return the answers as a data frame; raises NqeError if pandas is not installed."""
        return to_frame(*self._table())

    def _repr_html_(self) -> str:
        """How a notebook shows the answers."""
        return render_table(*self._table(), caption=self._text)

    def _table(self) -> tuple[Sequence[str], list[tuple[Any, ...]]]:
        columns = ("id", "label", self.measure, "source")
        return columns, [(one.id, one.label, one.probability, one.source) for one in self]

    @property
    def _text(self) -> str:
        if isinstance(self.plan, Plan):
            return self.plan.query(self.result.graph.vocabulary).text
        return self.plan.text

    def to_json(self, *, proofs: bool = False) -> dict[str, Any]:
        """Return the answers as JSON data, optionally with a proof of each exact answer."""
        data: dict[str, Any] = {"mode": self.mode}
        if self.count is not None:
            data["count"] = self.count
        data["listed"] = len(self.answers)
        data["stated_count"] = self.stated_count
        if self.likely_count is not None:
            data["likely_count"] = self.likely_count
        data["answers"] = [self._answer_to_json(answer, proofs) for answer in self.answers]
        if self.unless:
            data["unless"] = list(self.unless)
        if self.unseen:
            data["unseen"] = list(self.unseen)
        if self.steps:
            data["steps"] = [step.to_json(self.tree, self) for step in self.steps]
        if self.warnings:
            data["warnings"] = list(self.warnings)
        return data

    def _answer_to_json(self, answer: Answer, proofs: bool) -> dict[str, Any]:
        proof = {"proof": self.result.proof(answer.entity).to_json()} if proofs else {}
        return answer.to_json(self.measure) | proof

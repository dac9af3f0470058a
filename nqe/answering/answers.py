"""Answers: ranked entities with probabilities, each stated by facts or predicted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from nqe.answering.request import EMBEDDING
from nqe.query.plan import Plan
from nqe.query.result import Result
from nqe.query.step_text import step_to_json


@dataclass(frozen=True)
class Answer:
    """An entity that may answer a query."""

    entity: int
    id: str
    label: str | None
    probability: float
    """Calibrated; 1 if facts make it certain. In the mode embedding, the paper's score."""
    known: bool
    """Whether the known facts alone give it."""
    seen: bool = True
    """Whether the model was trained with the entity; others can be stated, but not predicted."""

    @property
    def name(self) -> str:
        """The label, or the id if there is none."""
        return self.label or self.id

    @property
    def source(self) -> str:
        """Where the answer comes from: 'stated' or 'predicted'."""
        return "stated" if self.known else "predicted"

    def to_json(self, measure: str = "probability") -> dict[str, Any]:
        """The answer as JSON data; `measure` is the name of its number."""
        return {
            "entity": self.id,
            "label": self.label,
            measure: self.probability,
            "known": self.known,
            "seen": self.seen,
        }


@dataclass(frozen=True)
class StepSummary:
    """The set of one step: its size, and some of its members with their probabilities."""

    number: int
    size: int
    """The number of members; in the mode hybrid, of those that are likelier than not."""
    members: tuple[Answer, ...]

    def to_json(self, plan: Plan, answers: Answers) -> dict[str, Any]:
        """The summary as JSON data."""
        head = step_to_json(plan, self.number, answers.result.graph.vocabulary)
        if answers.is_exact:
            return {**head, "count": self.size, "entities": [one.id for one in self.members]}
        entities = [{"entity": one.id, "probability": one.probability} for one in self.members]
        return {**head, "likely": self.size, "entities": entities}


@dataclass(frozen=True)
class Answers:
    """The answers of a query, the likeliest first."""

    plan: Plan
    mode: str
    answers: tuple[Answer, ...]
    unseen: tuple[str, ...] = ()
    """Names in the query that the model was not trained with; nothing is predicted from them."""
    count: int | None = None
    """In the mode exact, the number of all answers, also of those that are not listed."""
    steps: tuple[StepSummary, ...] = ()
    """Summaries of the steps, if the request asked for them."""
    result: Result = field(compare=False, repr=False, kw_only=True)
    """The sets that the known facts alone give."""

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __getitem__(self, place: int) -> Answer:
        return self.answers[place]

    @property
    def is_exact(self) -> bool:
        """Whether facts alone were asked."""
        return self.count is not None

    @property
    def measure(self) -> str:
        """The name of the answers' numbers: the paper's softmax is a score, not a probability."""
        return "score" if self.mode == EMBEDDING else "probability"

    @property
    def ids(self) -> list[str]:
        """The ids of the answers."""
        return [one.id for one in self.answers]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd about the query."""
        return self.plan.warnings

    def to_json(self, *, proofs: bool = False) -> dict[str, Any]:
        """The answers as JSON data; with proofs, why facts give each of them."""
        data: dict[str, Any] = {"mode": self.mode}
        if self.count is not None:
            data["count"] = self.count
        data["answers"] = [self._answer_json(one, proofs) for one in self.answers]
        if self.unseen:
            data["unseen"] = list(self.unseen)
        if self.steps:
            data["steps"] = [one.to_json(self.plan, self) for one in self.steps]
        if self.warnings:
            data["warnings"] = list(self.warnings)
        return data

    def _answer_json(self, answer: Answer, proofs: bool) -> dict[str, Any]:
        proof = {"proof": self.result.proof(answer.entity).to_json()} if proofs else {}
        return answer.to_json(self.measure) | proof

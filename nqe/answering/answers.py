"""Answers: ranked entities with probabilities, stated told from predicted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from nqe.query.plan import Plan


@dataclass(frozen=True)
class Answer:
    """An entity that may answer a query."""

    entity: int
    id: str
    label: str | None
    probability: float
    """Calibrated; 1 when facts make it certain. In the mode `embedding`, the paper's score."""
    known: bool
    """Whether the known facts alone give it."""
    seen: bool = True
    """Whether the model has learnt of the entity; one it has not can be known, not predicted."""

    @property
    def name(self) -> str:
        """The label, or the id."""
        return self.label or self.id

    def to_json(self, measure: str = "probability") -> dict[str, Any]:
        """The answer as JSON data, with what its number is called."""
        return {
            "entity": self.id,
            "label": self.label,
            measure: self.probability,
            "known": self.known,
            "seen": self.seen,
        }


@dataclass(frozen=True)
class Answers:
    """The answers of a query, the likeliest first."""

    plan: Plan
    mode: str
    answers: tuple[Answer, ...]
    unseen: tuple[str, ...] = ()
    """What the query names that the model has not learnt of; of that nothing is predicted."""

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __getitem__(self, place: int) -> Answer:
        return self.answers[place]

    @property
    def measure(self) -> str:
        """What the answers' numbers are: the paper's softmax is a score, no probability."""
        return "score" if self.mode == "embedding" else "probability"

    @property
    def ids(self) -> list[str]:
        """The ids of the answers."""
        return [one.id for one in self.answers]

    def to_json(self) -> dict[str, Any]:
        """The answers as JSON data."""
        answers = [one.to_json(self.measure) for one in self.answers]
        unseen = {"unseen": list(self.unseen)} if self.unseen else {}
        return {"mode": self.mode, "answers": answers, **unseen}

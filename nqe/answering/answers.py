"""Answers: ranked entities with probabilities, stated told from predicted."""

from __future__ import annotations

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
    """Calibrated; 1 when facts state it. In the mode `embedding`, the paper's softmax."""
    known: bool
    """Whether the known facts alone give it."""
    seen: bool = True
    """Whether the model has learnt of the entity; one it has not can be known, not predicted."""

    @property
    def name(self) -> str:
        """The label, or the id."""
        return self.label or self.id

    def to_json(self) -> dict[str, Any]:
        """The answer as JSON data."""
        return {
            "id": self.id,
            "label": self.label,
            "probability": self.probability,
            "known": self.known,
            "seen": self.seen,
        }


@dataclass(frozen=True)
class Answers:
    """The answers of a query, the likeliest first."""

    plan: Plan
    mode: str
    answers: tuple[Answer, ...]

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Any:
        return iter(self.answers)

    def to_json(self) -> dict[str, Any]:
        """The answers as JSON data."""
        return {"mode": self.mode, "answers": [one.to_json() for one in self.answers]}

"""Settings, frozen; the only home of defaults."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from nqe.errors import NqeError

SLOTS = ("subject", "object", "value")
MATCHES = ("closed", "open", "any")
DRAWS = ("fact", "relation")
BALANCES = ("none", "missing")


@dataclass(frozen=True)
class SamplingSettings:
    """How queries are sampled."""

    shapes: tuple[str, ...] = ()
    """Names of shapes or trees; none means all 16 of the paper."""
    train: int | None = None
    """Training queries a shape; None: as many as suit the graph's size."""
    valid: int | None = None
    """Validation queries a shape."""
    test: int | None = None
    """Test queries a shape."""
    match: str = "closed"
    """Closed atoms as in the paper, open ones, or any of both."""
    slots: tuple[str, ...] = SLOTS
    """The slots that may be asked for or hold a variable."""
    qualifiers: int | None = None
    """How many qualifiers every atom has; None: as it comes."""
    draw: str = "fact"
    """What is drawn evenly to begin a walk: facts, or relations and then their facts."""
    balance: str = "none"
    """`missing`: as many queries for each number of missing links, as far as the graph allows."""
    max_answers: int = 1_000
    """A query with more answers is left out."""
    train_answers: int = 100
    """A training query keeps so many of its answers, drawn at random when it has more."""
    seed: int = 0
    """Same seed, same files."""

    def __post_init__(self) -> None:
        _among("match", self.match, MATCHES)
        _among("draw", self.draw, DRAWS)
        _among("balance", self.balance, BALANCES)
        for slot in self.slots:
            _among("slots", slot, SLOTS)
        for name in ("train", "valid", "test", "qualifiers"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise NqeError(f"setting {name} is {value}; it cannot be negative")
        for name in ("max_answers", "train_answers"):
            if getattr(self, name) < 1:
                raise NqeError(f"setting {name} is {getattr(self, name)}; it must be 1 or more")

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON data."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


def _among(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise NqeError(f"setting {name} is '{value}'; choose one of {', '.join(allowed)}")

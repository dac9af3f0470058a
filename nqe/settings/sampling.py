"""Settings of sampling, with their defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nqe.settings.values import check_at_least, check_choice, to_json

SLOTS = ("subject", "object", "value")
MATCHES = ("closed", "open", "any")
DRAWS = ("fact", "relation")
BALANCES = ("none", "missing")


@dataclass(frozen=True)
class SamplingSettings:
    """How queries are sampled."""

    shapes: tuple[str, ...] = ()
    """Shapes to sample, by name (2p) or as trees (P(P())); empty means the paper's 16.

    Names of patterns beyond trees (triangle) make a query set of another kind.
    """
    train: int | None = None
    """Training queries per shape; None chooses a number by the size of the graph."""
    valid: int | None = None
    """Validation queries per shape; None chooses a number by the size of the graph."""
    test: int | None = None
    """Test queries per shape; None chooses a number by the size of the graph."""
    match: str = "closed"
    """The kind of atoms: closed as in the paper, open, or any (a mixture of both)."""
    slots: tuple[str, ...] = SLOTS
    """The slots that may be asked for or hold a variable."""
    qualifiers: int | None = None
    """The number of qualifiers of every atom; None means any number."""
    draw: str = "fact"
    """How a walk begins: at a fact drawn uniformly, or at a fact of a relation drawn uniformly."""
    balance: str = "none"
    """With `missing`, equally many queries per number of missing links, if the graph allows it."""
    max_answers: int = 1_000
    """A query with more answers is left out."""
    train_answers: int = 100
    """A training query keeps at most this many of its answers, drawn at random."""
    seed: int = 0
    """The same seed gives the same files."""

    def __post_init__(self) -> None:
        check_choice("match", self.match, MATCHES)
        check_choice("draw", self.draw, DRAWS)
        check_choice("balance", self.balance, BALANCES)
        for slot in self.slots:
            check_choice("slots", slot, SLOTS)
        for name in ("train", "valid", "test", "qualifiers"):
            if getattr(self, name) is not None:
                check_at_least(name, getattr(self, name), 0)
        for name in ("max_answers", "train_answers"):
            check_at_least(name, getattr(self, name), 1)
        check_at_least("seed", self.seed, 0)

    def to_json(self) -> dict[str, Any]:
        """The settings as JSON data."""
        return to_json(self)

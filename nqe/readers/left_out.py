"""Counts what readers leave out on purpose, so that an import can tell it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass
class LeftOut:
    """How many things of each kind were left out."""

    counts: Counter[str] = field(default_factory=Counter)

    def describe(self) -> str | None:
        """A sentence about all of it; None if nothing was left out."""
        if not self.counts:
            return None
        return "left out: " + ", ".join(
            f"{what} ({count:,})" for what, count in sorted(self.counts.items())
        )

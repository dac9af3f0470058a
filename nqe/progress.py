"""Progress of long work: what reading, sampling, evaluating and answering report while they run."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives the progress of one or several tasks, for example to draw a bar."""

    def start(self, task: str, total: int | None) -> None:
        """A task begins; `total` is its amount of work, None if that is unknown."""

    def update(self, done: int, items: int, detail: str = "") -> None:
        """`done` of the total is finished; `items` facts or queries were processed so far."""


class NoProgress:
    """Ignores all progress."""

    def start(self, task: str, total: int | None) -> None:
        """Ignore it."""

    def update(self, done: int, items: int, detail: str = "") -> None:
        """Ignore it."""

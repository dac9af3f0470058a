"""What watches an experiment: notes between the rows, and the progress of each."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from nqe.progress import NoProgress, Progress
from nqe.training.status import Listeners


class Watcher(Protocol):
    """Is told what an experiment does, for example to print it."""

    def note(self, text: str) -> None:
        """Something is about to happen, or has happened."""

    def watch_training(self) -> AbstractContextManager[Listeners]:
        """What listens to a training within a block."""

    def watch_work(self, items: str) -> AbstractContextManager[Progress]:
        """What follows other long work on some items within a block."""


class NoWatcher:
    """Ignores everything."""

    def note(self, text: str) -> None:
        """Ignore it."""

    def watch_training(self) -> AbstractContextManager[Listeners]:
        """Listen to nothing."""
        return nullcontext(Listeners())

    def watch_work(self, items: str) -> AbstractContextManager[Progress]:  # noqa: ARG002
        """Follow nothing."""
        return nullcontext(NoProgress())

"""A progress line for reading: bar, facts, rate and time left, on standard error."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)


class ReadingProgress:
    """Watches a reader; shows nothing when standard error is not a terminal."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[facts]:,} facts, {task.fields[rate]:,.0f}/s"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> ReadingProgress:
        if self._progress.console.is_terminal:
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # A progress that was never started would print an empty line.
        if self._progress.live.is_started:
            self._progress.stop()

    def start(self, name: str, size: int | None) -> None:
        """A source of so many bytes is being read."""
        self._task = self._progress.add_task(Path(name).name, total=size, facts=0, rate=0.0)

    def update(self, position: int, facts: int) -> None:
        """So many of its bytes and facts are read."""
        if self._task is None:
            return
        elapsed = self._progress.tasks[self._task].elapsed or 0.0
        rate = facts / elapsed if elapsed else 0.0
        self._progress.update(self._task, completed=position, facts=facts, rate=rate)


class SamplingProgress:
    """Watches the sampler; shows nothing when standard error is not a terminal."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.completed:,.0f} queries, {task.speed:,.0f}/s"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> SamplingProgress:
        if self._progress.console.is_terminal:
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def start(self, total: int) -> None:
        """So many queries are wanted."""
        self._task = self._progress.add_task("sampling", total=total)

    def update(self, done: int, what: str) -> None:
        """So many are there."""
        if self._task is not None:
            self._progress.update(self._task, completed=done, description=what)

"""Progress lines for long work: bar, count, rate and time left, on standard error."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from nqe.training import Report


COUNT_AND_RATE = "{{task.fields[count]:,}} {}, {{task.fields[rate]:,.0f}}/s"


class _ProgressLine:
    """A line that goes away when the work is done; nothing when nobody is looking."""

    def __init__(self, told: str, bar: int = 40) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=bar),
            TaskProgressColumn(),
            TextColumn(told),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
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

    def _begin(self, what: str, total: int | None) -> None:
        self._task = self._progress.add_task(what, total=total, count=0, rate=0.0)

    def _move(self, completed: int, count: int, what: str | None = None) -> None:
        if self._task is None:
            return
        elapsed = self._progress.tasks[self._task].elapsed or 0.0
        self._show(completed, count, count / elapsed if elapsed else 0.0, what)

    def _show(self, completed: int, count: int, rate: float, what: str | None) -> None:
        if self._task is not None:
            self._progress.update(
                self._task, completed=completed, count=count, rate=rate, description=what
            )


class ReadingProgress(_ProgressLine):
    """Watches a reader."""

    def __init__(self) -> None:
        super().__init__(COUNT_AND_RATE.format("facts"))

    def start(self, name: str, size: int | None) -> None:
        """A source of so many bytes is being read."""
        self._begin(Path(name).name, size)

    def update(self, position: int, facts: int) -> None:
        """So many of its bytes and facts are read."""
        self._move(position, facts)


class SamplingProgress(_ProgressLine):
    """Watches the sampler."""

    def __init__(self) -> None:
        super().__init__(COUNT_AND_RATE.format("queries"))

    def start(self, total: int) -> None:
        """So many queries are wanted."""
        self._begin("sampling", total)

    def update(self, done: int, what: str) -> None:
        """So many are there; this split and shape grew last."""
        self._move(done, done, what)


class _QueryProgress(_ProgressLine):
    """Watches what is done with queries, one after another."""

    what: str

    def __init__(self) -> None:
        super().__init__(COUNT_AND_RATE.format("queries"))

    def start(self, total: int) -> None:
        """So many queries there are."""
        self._begin(self.what, total)

    def update(self, done: int) -> None:
        """So many are done."""
        self._move(done, done, self.what)


class EvaluationProgress(_QueryProgress):
    """Watches an evaluation."""

    what = "ranking"


class AnsweringProgress(_QueryProgress):
    """Watches the answering of a file of queries."""

    what = "answering"


class TrainingProgress(_ProgressLine):
    """Watches a training."""

    _PARTS = 1_000_000

    def __init__(self) -> None:
        # A short bar, as there is more to tell than elsewhere in 80 columns.
        super().__init__("{task.fields[rate]:,.0f} queries/s", bar=8)

    def update(self, report: Report) -> None:
        """So far it is."""
        if self._task is None:
            self._begin("training", self._PARTS)
        best = "" if report.best is None else f", best MRR {report.best:.3f}"
        self._show(
            int(report.progress * self._PARTS),
            report.step,
            report.rate,
            f"epoch {report.epoch + 1}, loss {report.loss:.3f}{best}",
        )

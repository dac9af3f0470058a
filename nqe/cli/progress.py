"""Progress on standard error, with count, rate and remaining time: a bar, or lines in a log."""

from __future__ import annotations

import sys
import time
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    Task,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from nqe.cli.printing import note
from nqe.shown_text import make_visible

if TYPE_CHECKING:
    from nqe.training import TrainingStatus, Validation


LINE_SECONDS = 30.0
"""Where there is no terminal, a plain line is printed this often; short work prints none."""
COUNT_AND_RATE = "{{task.fields[count]:,}} {}, {{task.fields[rate]:,.0f}}/s"


class _ProgressLine:
    """A progress line that disappears when the work is done, or plain lines in a log."""

    def __init__(self, text: str, bar: int = 40, in_log: str = "{task.description}") -> None:
        """`text` stands after the bar; `in_log` is how a plain line begins."""
        self._text = TextColumn(text)
        self._began = self._printed = time.monotonic()
        self._in_log = TextColumn(in_log, markup=False)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=bar),
            TaskProgressColumn(),
            self._text,
            TimeRemainingColumn(),
            # FORCE_COLOR and the like would make rich draw the bar into a log as well.
            console=Console(stderr=True, force_terminal=sys.stderr.isatty()),
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
        # Stopping a progress line that was never started would print an empty line.
        if self._progress.live.is_started:
            self._progress.stop()

    def _begin(self, what: str, total: int | None) -> None:
        self._task = self._progress.add_task(make_visible(what), total=total, count=0, rate=0.0)

    def _move(self, completed: int, count: int, what: str | None = None) -> None:
        if self._task is None:
            return
        elapsed = self._progress.tasks[self._task].elapsed or 0.0
        self._show(completed, count, count / elapsed if elapsed else 0.0, what)

    def _show(self, completed: int, count: int, rate: float, what: str | None) -> None:
        if self._task is not None:
            shown = None if what is None else make_visible(what)
            self._progress.update(
                self._task, completed=completed, count=count, rate=rate, description=shown
            )
            self._print_line(self._progress.tasks[self._task])

    def _print_line(self, task: Task) -> None:
        """Print a plain line if there is no terminal and the last one was long ago."""
        now = time.monotonic()
        if self._progress.console.is_terminal or now < self._printed + LINE_SECONDS:
            return
        self._printed = now
        left = task.time_remaining
        parts = (
            f"{task.percentage:.0f}%" if task.total else "",
            self._text.render(task).plain,
            f"{timedelta(seconds=round(left))} left" if left is not None else "",
        )
        note(f"{self._in_log.render(task).plain}: {', '.join(filter(None, parts))}")


class ProgressBar(_ProgressLine):
    """A bar for work that processes items, such as facts or queries."""

    def __init__(self, items: str) -> None:
        super().__init__(COUNT_AND_RATE.format(items))

    def start(self, task: str, total: int | None) -> None:
        """Start the bar of a task."""
        self._begin(task, total)

    def update(self, done: int, items: int, detail: str = "") -> None:
        """Move the bar; `detail`, if given, replaces the task's name."""
        self._move(done, items, detail or None)


class TrainingBar(_ProgressLine):
    """A progress bar of a training run."""

    _PARTS = 1_000_000

    def __init__(self) -> None:
        # The bar is short because epoch, loss and rate must fit into 80 columns too.
        super().__init__(
            "{task.fields[rate]:,.0f} queries/s",
            bar=8,
            in_log="step {task.fields[count]:,}, {task.description}",
        )

    def update(self, status: TrainingStatus) -> None:
        """Move the bar to the status after a step."""
        if self._task is None:
            self._begin("training", self._PARTS)
        best = "" if status.best is None else f", best MRR {status.best:.3f}"
        self._show(
            int(status.progress * self._PARTS),
            status.step,
            status.rate,
            f"epoch {status.epoch + 1}, loss {status.loss:.3f}{best}",
        )

    def note_validation(self, validation: Validation) -> None:
        """Write the scores of a validation into a log; the bar shows the best one."""
        is_short = time.monotonic() < self._began + LINE_SECONDS
        if self._progress.console.is_terminal or is_short:
            return
        shapes = ", ".join(f"{name} {mrr:.3f}" for name, mrr in validation.by_shape.items())
        by_shape = f" ({shapes})" if len(validation.by_shape) > 1 else ""
        note(f"step {validation.step:,}: validation MRR {validation.mrr:.4f}{by_shape}")

"""The clock of training: how far it is, how fast, and when to report, validate and save."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from nqe.settings import TrainSettings
from nqe.training.forecast import Forecast, Pace
from nqe.training.run_folder import State

REPORT_SECONDS = 10.0
"""The metrics file gets a line with the loss after this many seconds."""


class Clock:
    """Measures the time of training and the rate of queries since the last report."""

    def __init__(
        self, began: float, steps: int, epoch_steps: int, settings: TrainSettings, state: State
    ) -> None:
        # The time before a resume counts as well.
        self._start = began - state.seconds
        self._steps, self._epoch_steps, self._settings = steps, epoch_steps, settings
        self._pace = Pace()
        self._validated = self._window = time.monotonic()
        self._saved_step = state.step
        self._queries = 0
        self._losses: list[float] = []
        self._validation_seconds = 0.0

    @property
    def seconds(self) -> float:
        """The duration of the whole training so far."""
        return time.monotonic() - self._start

    @property
    def rate(self) -> float:
        """Queries per second since the last report, without the time of validating and saving."""
        return self._queries / max(time.monotonic() - self._window, 1e-9)

    def progress(self, step: int) -> float:
        """Return how much of the training is done, from 0 to 1.

        Of a time budget, the time that the last validation will need is reserved.
        """
        budget = self._budget
        return step / self._steps if budget is None else self.seconds / max(budget, 1e-9)

    @property
    def _budget(self) -> float | None:
        """The seconds for everything but the last validation; None if the time is not limited."""
        if self._settings.minutes is None:
            return None
        return self._settings.minutes * 60 - self._validation_seconds

    def forecast(self, step: int) -> Forecast | None:
        """Return what the training will come to by its pace; None until that is known."""
        pace, budget = self._pace.compute(), self._budget
        if pace is None:
            return None
        if budget is None:
            steps, seconds = self._steps, self.seconds + (self._steps - step) / pace
        else:
            steps = step + int(max(budget - self.seconds, 0.0) * pace)
            seconds = budget + self._validation_seconds
        return Forecast(steps, steps / self._epoch_steps, seconds, budget is not None)

    def count_step(self, queries: int, loss: float) -> None:
        """Count a finished step."""
        self._pace.count_step()
        self._queries += queries
        self._losses.append(loss)

    def report_is_due(self) -> bool:
        """Whether the loss should be reported now."""
        return bool(self._losses) and time.monotonic() - self._window >= REPORT_SECONDS

    def take_report(self) -> dict[str, float] | None:
        """Return mean loss and rate since the last report and reset them; None without steps."""
        if not self._losses:
            return None
        values = {
            "loss": sum(self._losses) / len(self._losses),
            "queries_per_second": round(self.rate, 1),
        }
        self._losses, self._queries, self._window = [], 0, time.monotonic()
        return values

    def validation_is_due(self, state: State) -> bool:
        """Whether the model should be validated now."""
        if not state.step or state.validated == state.step:
            return False
        if self._settings.evaluate_steps is not None:
            return state.step % self._settings.evaluate_steps == 0
        return time.monotonic() - self._validated >= self._settings.evaluate_minutes * 60

    def saving_is_due(self, state: State) -> bool:
        """Whether the run should be saved now, with or without a validation."""
        every = self._settings.save_steps
        return every is not None and state.step % every == 0 and state.step != self._saved_step

    @contextmanager
    def pause(self, step: int, *, validates: bool) -> Iterator[None]:
        """Leave the time of the block, which validates or saves, out of the rate of queries."""
        began = time.monotonic()
        yield
        now = time.monotonic()
        self._window += now - began
        self._pace.leave_out(now - began)
        self._saved_step = step
        if validates:
            self._validated, self._validation_seconds = now, now - began

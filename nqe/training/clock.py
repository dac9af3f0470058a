"""Time and counts of a training: how far it is, how quick, and what is due."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from nqe.settings import TrainSettings
from nqe.training.run_folder import State

TELL_SECONDS = 10.0
"""The metrics get a line after so long."""


class Pace:
    """The clock of a training, and the window since its last report."""

    def __init__(self, began: float, steps: int, settings: TrainSettings, state: State) -> None:
        # What came before a resume counts too.
        self._clock = began - state.seconds
        self._steps, self._settings = steps, settings
        self._validated = self._window = time.monotonic()
        self._saved = state.step
        self._queries = 0
        self._losses: list[float] = []
        self._keeping = 0.0

    @property
    def seconds(self) -> float:
        """Of the whole training."""
        return time.monotonic() - self._clock

    @property
    def rate(self) -> float:
        """Queries a second in this window; validating and saving are left out."""
        return self._queries / max(time.monotonic() - self._window, 1e-9)

    def progress(self, step: int) -> float:
        """From 0 to 1; of a time budget, what the last validation will need is kept back."""
        if self._settings.minutes is None:
            return step / self._steps
        return self.seconds / max(self._settings.minutes * 60 - self._keeping, 1e-9)

    def count(self, queries: int, loss: float) -> None:
        """A step is done."""
        self._queries += queries
        self._losses.append(loss)

    def telling_is_due(self) -> bool:
        """Whether the metrics want a line."""
        return bool(self._losses) and time.monotonic() - self._window >= TELL_SECONDS

    def window(self) -> dict[str, float] | None:
        """The mean loss and the rate of this window; a new one begins. None if it is empty."""
        if not self._losses:
            return None
        values = {
            "loss": sum(self._losses) / len(self._losses),
            "queries_per_second": round(self.rate, 1),
        }
        self._losses, self._queries, self._window = [], 0, time.monotonic()
        return values

    def validation_is_due(self, state: State) -> bool:
        """Whether to validate now."""
        if not state.step or state.validated == state.step:
            return False
        if self._settings.evaluate_steps is not None:
            return state.step % self._settings.evaluate_steps == 0
        return time.monotonic() - self._validated >= self._settings.evaluate_minutes * 60

    def saving_is_due(self, state: State) -> bool:
        """Whether to save now, validated or not."""
        every = self._settings.save_steps
        return every is not None and state.step % every == 0 and state.step != self._saved

    @contextmanager
    def keeping(self, step: int, validated: bool) -> Iterator[None]:
        """The time that a block of validating and saving takes is not the queries'."""
        began = time.monotonic()
        yield
        now = time.monotonic()
        self._window += now - began
        self._saved = step
        if validated:
            self._validated, self._keeping = now, now - began

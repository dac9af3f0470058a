"""What a training will come to by its pace so far: steps, epochs and time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta

PACE_SECONDS = 10.0
"""The pace is known after this many seconds of steps."""
SLOW_SECONDS = 30.0
"""If the first step takes this long, it counts too: the user should not wait for the second."""
_SHARES = ((0.1, "a tenth of an epoch"), (0.5, "half an epoch"), (1.0, "one epoch"))


@dataclass(frozen=True)
class Forecast:
    """What a run will come to at its end, with what it did before it was resumed."""

    steps: int
    epochs: float
    seconds: float
    has_budget: bool
    """Whether the time is fixed and the steps are estimated; otherwise it is the reverse."""

    def __str__(self) -> str:
        duration = timedelta(seconds=round(self.seconds))
        if self.has_budget:
            return f"about {self._amount} in {duration}"
        return f"{self._amount} in about {duration}"

    @property
    def warning(self) -> str | None:
        """Why the time is too short to learn much, and what to do; None if it is not."""
        share = next((words for most, words in _SHARES if self.epochs < most), None)
        if share is None or not self.has_budget:
            return None
        return (
            f"about {self.steps:,} steps in this time: less than {share}, so little will be "
            "learnt; give it more time, or end other programs that keep the machine busy"
        )

    @property
    def _amount(self) -> str:
        epochs = f"{self.epochs:,.1f}" if self.epochs >= 1 else f"{self.epochs:.2g}"
        return f"{self.steps:,} steps ({epochs} epochs)"


class Pace:
    """Measures steps per second, without pauses, and without the first step if it can.

    The first step also starts threads, and the processes that sample queries.
    """

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._steps: int | None = None

    def count_step(self) -> None:
        """Count a finished step."""
        now = time.monotonic()
        if self._steps is None and now - self._began < SLOW_SECONDS:
            self._steps, self._began = 0, now
        else:
            self._steps = (self._steps or 0) + 1

    def leave_out(self, seconds: float) -> None:
        """Do not count a pause."""
        self._began += seconds

    def compute(self) -> float | None:
        """Return the steps per second so far; None as long as it is not known."""
        seconds = time.monotonic() - self._began
        return self._steps / seconds if self._steps and seconds >= PACE_SECONDS else None

"""What the command line shows of an experiment: a note per row, and the progress of each step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nqe.cli import printing
from nqe.cli.progress import ProgressBar, TrainingBar
from nqe.cli.train import watch_forecast
from nqe.progress import Progress
from nqe.training.status import Listeners


class TerminalWatcher:
    """Prints notes on standard error, and progress as a bar or as plain lines."""

    def note(self, text: str) -> None:
        """Print a line."""
        printing.note(text)

    @contextmanager
    def watch_training(self) -> Iterator[Listeners]:
        """A bar of a training, with what it will come to as soon as that is known."""
        with TrainingBar() as bar:
            yield Listeners(watch_forecast(bar.update), bar.note_validation)

    @contextmanager
    def watch_work(self, items: str) -> Iterator[Progress]:
        """A bar of other work."""
        with ProgressBar(items) as bar:
            yield bar

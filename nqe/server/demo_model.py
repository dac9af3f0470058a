"""The demo's model: trained on atlas when it is first served."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from nqe.demo import NAME, demo_dataset, make_demo_settings
from nqe.run_folders import is_run
from nqe.training.status import TrainingStatus

SECONDS = 60.0


def train_demo(run: Path, tell: Callable[[str, float], None]) -> Path:
    """The run of the demo's model, trained if it is not there; `tell` receives how far it is."""
    if is_run(run):
        return run
    from nqe.answering import train

    def note(status: TrainingStatus) -> None:
        tell("training a model of the world, a minute", status.progress)

    tell("training a model of the world, a minute", 0.0)
    train(demo_dataset(), run, settings=make_demo_settings(SECONDS), name=NAME, on_step=note)
    return run

"""The runs of an experiment: trained once, continued where they were interrupted."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from nqe.errors import NqeError, StorageError, choose
from nqe.graph.dataset import Dataset
from nqe.model.model_kinds import MODELS
from nqe.reproduction.results import Training, list_differences
from nqe.reproduction.watching import Watcher
from nqe.run_folders import RUN
from nqe.sampling.storage import digest_of
from nqe.settings import RunSettings
from nqe.training.run_folder import RunFolder
from nqe.training.status import FitResult, Listeners
from nqe.training.trainer import fit_weights


@dataclass(frozen=True)
class PlannedRun:
    """A run: where it is, what it learns from, and with which settings."""

    folder: Path
    settings: RunSettings
    queries: Path | None
    """The query set that it learns from; None for the facts of the graph."""

    @property
    def is_begun(self) -> bool:
        """Whether its folder exists."""
        return self.folder.exists()

    @property
    def is_complete(self) -> bool:
        """Whether it was trained to the end."""
        if not self.is_begun:
            return False
        state = RunFolder.open(self.folder).state
        return bool(state.step) and state.end == self.settings.train.end

    def check(self, dataset: Dataset) -> None:
        """Refuse a run that cannot be trained or continued, before any work is done."""
        choose(MODELS, self.settings.model.kind, "kind of model")
        if not self.is_begun:
            return
        if not RUN.recognises(self.folder):
            raise StorageError(
                f"{self.folder}: no run any more, as its {RUN.manifest_file} is missing; restore "
                "it, or delete the folder so that the row is trained again"
            )
        run = RunFolder.open(self.folder)
        run.check_can_continue()
        if run.card.fingerprint != dataset.fingerprint:
            raise NqeError(f"{self.folder}: trained on another graph; choose another folder")
        self._check_settings(run)
        self._check_queries(run)
        _ = run.state  # raises if it is damaged

    def _check_settings(self, run: RunFolder) -> None:
        different = list_differences(run.settings, self.settings)
        if different:
            raise NqeError(
                f"{self.folder}: begun with other settings ({different}); choose another folder "
                "with -o, or the same settings"
            )

    def _check_queries(self, run: RunFolder) -> None:
        own = None if run.queries is None else run.queries.digest
        wanted = None if self.queries is None else digest_of(self.queries)
        if own != wanted:
            raise NqeError(
                f"{self.folder}: learnt from another query set than {self.queries}; delete the run "
                "so that it is trained again, or choose another folder with -o"
            )


def train_run(planned: PlannedRun, dataset: Dataset, place: str | None, watcher: Watcher) -> None:
    """Train a run, or go on with it; one that is complete is left as it is."""
    if planned.is_complete:
        return
    try:
        with watcher.watch_training() as listeners:
            done = _fit(planned, dataset, place, listeners)
    except KeyboardInterrupt as interrupt:
        if not interrupt.args:  # before anything was trained
            raise
        raise KeyboardInterrupt(
            f"{planned.folder}: interrupted and saved; continue with the same command"
        ) from None
    if not done.steps:
        shutil.rmtree(planned.folder)  # so that a longer time is not refused as another setting
        raise NqeError(
            f"{planned.folder}: {describe_budget(planned.settings)} is too short for a single "
            "training step; give more time with --time-budget"
        )


def _fit(
    planned: PlannedRun, dataset: Dataset, place: str | None, listeners: Listeners
) -> FitResult:
    return fit_weights(
        dataset,
        planned.folder,
        planned.queries,
        None if planned.is_begun else planned.settings,
        name=place,
        resume=planned.is_begun,
        on_step=listeners.on_step,
        on_validation=listeners.on_validation,
    )


def announce_run(run: PlannedRun, run_of: str | None = None) -> str:
    """What is about to be done with a run, in words; `run_of` is the row that it is of."""
    if run.is_complete:
        return "ranking the test queries"
    what = "continuing its training" if run.is_begun else "training"
    of = "" if run_of is None else f" {run_of}, whose run is missing,"
    return f"{what}{of} for {describe_budget(run.settings)}"


def describe_budget(settings: RunSettings) -> str:
    """How long a run trains, in words."""
    train = settings.train
    if train.minutes is not None:
        seconds = train.minutes * 60
        return f"{train.minutes:g} minutes" if seconds >= 60 else f"{seconds:g} s"
    return f"{train.steps} steps" if train.steps else f"{train.epochs} epochs"


def describe_training(run: Path) -> Training:
    """How a run was trained, from its folder."""
    folder = RunFolder.open(run)
    state = folder.state
    curve = (
        (line["seconds"] / 60, line["step"], line["mrr"])
        for line in folder.read_metrics()
        if "mrr" in line
    )
    return Training(state.seconds / 60, state.step, tuple(curve))

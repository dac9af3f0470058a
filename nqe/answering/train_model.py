"""Train a model: fit its weights, then calibrate its probabilities on validation facts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nqe.answering.calibration_fitting import Calibrated, calibrate, has_learnt_from_valid
from nqe.answering.run_rules import use_run_rules
from nqe.errors import NqeError
from nqe.graph.dataset import Dataset
from nqe.progress import Progress
from nqe.run_folders import CALIBRATION_FILE, checkpoint_of
from nqe.settings import RunSettings
from nqe.training.distributed import is_first_process
from nqe.training.run_folder import RunFolder
from nqe.training.status import FitResult, OnStep, OnValidation
from nqe.training.trainer import fit_weights


@dataclass(frozen=True)
class TrainResult(FitResult):
    """The outcome of training: the fitted weights, and the calibration or why there is none."""

    calibrated: Calibrated | None = None
    """The outcome of calibrating; None if this call did not calibrate."""
    not_calibrated: str | None = None
    """Why the model is not calibrated; None if it is, by this call or an earlier one."""


def train(
    dataset: Dataset,
    output: str | Path,
    queries: str | Path | None = None,
    settings: RunSettings | None = None,
    *,
    name: str | None = None,
    resume: bool = False,
    start: str | Path | None = None,
    on_step: OnStep | None = None,
    on_validation: OnValidation | None = None,
    progress: Progress | None = None,
) -> TrainResult:
    """Train a model on a query set, or on a data set alone, mine rules, and calibrate both.

    `output` is the RUN folder to write. `name` is the place of the data set, usually its folder,
    which the RUN records. `resume` continues from the last save, on the run's own queries, and
    with its own settings unless others are given. `start` is a RUN or checkpoint whose weights
    the new run begins with, instead of random ones. `on_step` is called after every step; its
    status soon has a forecast of the steps and epochs that the run will come to. `on_validation`
    is called after every validation. `progress` shows how rules are mined.

    The model is calibrated on the validation split, unless there is none or the model has
    learnt from it. With several processes, the first one calibrates.

    On Ctrl-C or SIGTERM the run is saved, and KeyboardInterrupt is raised.
    """
    fitted = fit_weights(
        dataset,
        output,
        queries,
        settings,
        name=name,
        resume=resume,
        start=start,
        on_step=on_step,
        on_validation=on_validation,
    )
    if not is_first_process():
        return TrainResult(**vars(fitted), not_calibrated="the first process calibrates")
    reason = _find_obstacle(fitted.folder, dataset)
    if reason is not None:
        if RunFolder.open(fitted.folder).settings.train.rules:
            use_run_rules(fitted.folder, dataset, progress)
        return TrainResult(**vars(fitted), not_calibrated=reason)
    if not fitted.new_steps and (checkpoint_of(fitted.folder) / CALIBRATION_FILE).is_file():
        return TrainResult(**vars(fitted))
    own = RunFolder.open(fitted.folder).settings.train
    try:
        calibrated = calibrate(
            fitted.folder,
            dataset,
            own.device,
            with_rules=own.rules,
            progress=progress,
        )
        return TrainResult(**vars(fitted), calibrated=calibrated)
    except NqeError as error:
        return TrainResult(**vars(fitted), not_calibrated=str(error))


def _find_obstacle(run: Path, dataset: Dataset) -> str | None:
    """Find why a model cannot be calibrated on the validation split; None if it can."""
    if not len(dataset.splits.get("valid", ())):
        return "the data set has no validation facts; see `nqe split`"
    if has_learnt_from_valid(checkpoint_of(run)):
        return "the model has learnt from the validation split, which calibrating needs unseen"
    return None

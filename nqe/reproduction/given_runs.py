"""Runs that were trained elsewhere, such as by a benchmark: used for the rows that they fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from nqe.errors import NqeError
from nqe.reproduction.results import Result, check_result, list_differences
from nqe.reproduction.runs import PlannedRun
from nqe.run_folders import RUN
from nqe.settings import RunSettings, TrainSettings, build_run_settings
from nqe.training.run_folder import RunFolder

FREE = (
    *("epochs", "steps", "minutes", "patience", "evaluate_steps", "evaluate_minutes"),
    *("valid_queries", "save_steps", "rules", "device", "autocast", "workers"),
    *("rate", "warm_up", "decay"),
)
"""Settings in which a given run may differ: how long and how fast it learnt, how it was watched."""
GIVEN = "given"
"""The entry of a result that was computed with a given run."""


@dataclass(frozen=True)
class GivenRuns:
    """Runs by the row that each fits."""

    by_row: Mapping[str, Path]

    @classmethod
    def match(cls, folders: Sequence[Path], wanted: Mapping[str, RunSettings]) -> GivenRuns:
        """Find the row that each run fits; refuse a run that fits none.

        `wanted` are the settings of the rows by name.
        """
        return cls({_find_row(folder, wanted): folder for folder in folders})

    def has(self, row: str) -> bool:
        """Whether a run is given for a row."""
        return row in self.by_row

    def plan(self, row: str, planned: PlannedRun) -> PlannedRun:
        """The run of a row: the given one with its own settings, or the planned one."""
        if row not in self.by_row:
            return planned
        folder = self.by_row[row]
        return PlannedRun(folder, _open(folder).settings, None)


def divide_runs(folders: Sequence[Path], fingerprints: Sequence[str]) -> dict[str, list[Path]]:
    """The runs of each graph, by fingerprint; refuse a run of another graph."""
    found: dict[str, list[Path]] = {fingerprint: [] for fingerprint in fingerprints}
    for folder in folders:
        own = _open(folder).card.fingerprint
        if own not in found:
            raise NqeError(f"{folder}: trained on another graph than the given ones; leave it out")
        found[own].append(folder)
    return found


def check_same(folder: Path, found: Result, settings: RunSettings, queries: str | None) -> None:
    """Refuse a result that was computed otherwise; how a given run was trained does not count."""
    if GIVEN in found.extra:
        found, settings = (
            replace(found, settings=ignore_training(found.settings)),
            ignore_training(settings),
        )
    check_result(folder, found, settings, queries)


def ignore_training(settings: RunSettings) -> RunSettings:
    """The settings with the defaults of all that a given run may differ in."""
    plain = TrainSettings()
    values = {one.name: getattr(plain, one.name) for one in fields(plain) if one.name in FREE}
    return build_run_settings({"train": values}, base=settings)


def _open(folder: Path) -> RunFolder:
    if not RUN.recognises(folder):
        raise NqeError(f"{folder}: not a RUN; give folders made by `nqe train`")
    return RunFolder.open(folder)


def _find_row(folder: Path, wanted: Mapping[str, RunSettings]) -> str:
    own = ignore_training(_open(folder).settings)
    different = {
        row: list_differences(own, ignore_training(settings)) for row, settings in wanted.items()
    }
    row = min(different, key=lambda name: different[name].count(","), default=None)
    for name, differences in different.items():
        if not differences:
            return name
    raise NqeError(
        f"{folder}: fits no row; it differs from {row} in its settings ({different[row or '']}); "
        "leave out this --run"
    )

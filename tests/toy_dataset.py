"""A toy data set with a rule that can be learnt, and settings and helpers for tiny runs on it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from nqe.graph import Dataset, Fact
from nqe.model.checkpoint import WEIGHTS
from nqe.query.step_table import SLOT_COLUMNS, STEP_COLUMNS
from nqe.run_folders import BEST, LAST
from nqe.sampling import QueryTable, sample, save_queries
from nqe.settings import RunSettings, SamplingSettings, build_run_settings
from nqe.training import TrainingStatus
from nqe.training.run_folder import RunFolder

TOWNS, PEOPLE = 6, 60
MODEL = {"width": 16, "layers": 1, "heads": 2, "feed_forward": 16}
TRAIN = {
    "batch": 32,
    "steps": 12,
    "evaluate_steps": 6,
    "valid_queries": 40,
    "shapes": ["1p"],
    "rate": 1e-2,
}


def towns() -> Dataset:
    """Build facts about people and towns; all people of a town speak the same language.

    The language of some people is held out, and follows from their town.
    """
    train, valid, test = [], [], []
    for number in range(PEOPLE):
        person, town = f"person{number}", number % TOWNS
        friend = f"person{(number + TOWNS) % PEOPLE}"
        pairs = (("since", f"year{number % 4}"), ("with", friend))
        train.append(Fact(person, "lives_in", f"town{town}", pairs))
        train.append(Fact(person, "knows", f"person{(number * 7 + 1) % PEOPLE}"))
        train.append(Fact(f"town{town}", "borders", f"town{(number * 5 + 1) % TOWNS}"))
        speaks = Fact(person, "speaks", f"language{town}", (("since", f"year{number % 4}"),))
        (valid if number % 6 == number // 6 else test if number % 7 == 3 else train).append(speaks)
    return Dataset.of({"train": train, "valid": valid, "test": test})


def town_queries(dataset: Dataset, folder: Path, *shapes: str, train: int = 60) -> Path:
    """Sample a small query set and save it to a folder."""
    few = SamplingSettings(shapes=shapes, train=train, valid=10, test=0)
    save_queries(sample(dataset, few, workers=1), folder)
    return folder


def settings(model: dict[str, Any] | None = None, **train: Any) -> RunSettings:
    """Return settings of a tiny model trained for a few small steps, with the given changes."""
    return build_run_settings({"model": MODEL | (model or {}), "train": TRAIN | train})


def weights(run: Path, name: str = LAST) -> dict[str, torch.Tensor]:
    """Return the tensors of a run's checkpoint."""
    return load_file(run / name / WEIGHTS)


def same_weights(one: Path, other: Path) -> bool:
    """Whether the best and the last weights of two runs are identical."""
    pairs = [(weights(one, name), weights(other, name)) for name in (BEST, LAST)]
    return all(
        first.keys() == second.keys() and all(torch.equal(first[key], second[key]) for key in first)
        for first, second in pairs
    )


class StatusRecorder:
    """Keeps the status after every step."""

    def __init__(self) -> None:
        self.statuses: list[TrainingStatus] = []

    def update(self, status: TrainingStatus) -> None:
        self.statuses.append(status)

    @property
    def losses(self) -> list[float]:
        return [status.loss for status in self.statuses]


def read_values(run: Path, name: str) -> list[tuple[int, float]]:
    """Return the steps and values of one name in a run's metrics."""
    lines = RunFolder.open(run).read_metrics()
    return [(line["step"], line[name]) for line in lines if name in line]


def read_scalars(run: Path) -> dict[str, list[tuple[int, float]]]:
    """Return the steps and values that TensorBoard shows, by name."""
    events = EventAccumulator(str(run / "tensorboard"))
    events.Reload()
    return {
        name: [(one.step, one.value) for one in events.Scalars(name)]
        for name in events.Tags()["scalars"]
    }


def keys(table: QueryTable) -> list[tuple[bytes, ...]]:
    """Return for each query something that differs if the plan or the easy answers differ."""
    plans = table.plans.to_local()
    slots = plans.slot_start[plans.plan_start]
    return [
        (
            *(getattr(plans, name)[first:last].tobytes() for name in STEP_COLUMNS),
            *(getattr(plans, name)[slots[row] : slots[row + 1]].tobytes() for name in SLOT_COLUMNS),
            table.easy[row].tobytes(),
        )
        for row, (first, last) in enumerate(pairwise(plans.plan_start.tolist()))
    ]

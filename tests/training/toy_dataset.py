"""A small world with a rule that can be learnt, and the smallest runs over it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file

from nqe.graph import Dataset, Fact
from nqe.model.checkpoint import BEST, LAST, WEIGHTS
from nqe.sampling import sample, save_queries
from nqe.settings import RunSettings, SamplingSettings, build_run_settings
from nqe.training import TrainingStatus

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
    """Who lives where, with whom and since when; all of a town speak its language.

    Of some people the language is held out: it follows from the town.
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
    """A small query set of the towns."""
    few = SamplingSettings(shapes=shapes, train=train, valid=10, test=0)
    save_queries(sample(dataset, few, workers=1), folder)
    return folder


def settings(model: dict[str, Any] | None = None, **train: Any) -> RunSettings:
    """The smallest model, trained in a few small steps; others as named."""
    return build_run_settings({"model": MODEL | (model or {}), "train": TRAIN | train})


def weights(run: Path, name: str = LAST) -> dict[str, torch.Tensor]:
    """The tensors of a run's checkpoint."""
    return load_file(run / name / WEIGHTS)


def same_weights(one: Path, other: Path) -> bool:
    """Whether two runs have the same best and last weights, to the bit."""
    pairs = [(weights(one, name), weights(other, name)) for name in (BEST, LAST)]
    return all(
        first.keys() == second.keys() and all(torch.equal(first[key], second[key]) for key in first)
        for first, second in pairs
    )


class Losses:
    """Keeps the loss of every step."""

    def __init__(self) -> None:
        self.statuses: list[TrainingStatus] = []

    def update(self, status: TrainingStatus) -> None:
        self.statuses.append(status)

    @property
    def losses(self) -> list[float]:
        return [status.loss for status in self.statuses]

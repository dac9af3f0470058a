"""Runs of small models, and helpers, for tests of the commands that answer questions."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Protocol

import torch
from helpers import Run, files, told, well

from nqe import demo_dataset
from nqe.graph import Dataset, Fact
from nqe.model import new_model, save_pretrained
from nqe.model.checkpoint import Card
from nqe.run_folders import BEST, RUN
from nqe.settings import ModelSettings, RunSettings

ATLAS = demo_dataset()
FRANCE = "?x: borders(?x, France)"
NOT_GERMAN = "?x: borders(?x, France) and not speaks(?x, German)"
CHAIN = "?x: borders(?x, ?y) and speaks(?y, German)"


class RunNqe(Protocol):
    """Runs `nqe` with some arguments in this process."""

    def __call__(self, *words: str) -> Run: ...


def write_run(folder: Path, dataset: Dataset, name: str, *, trained_on: str = "train") -> None:
    """Write a RUN of a small model with its initial weights."""
    torch.manual_seed(0)
    names = dataset.vocabulary
    small = ModelSettings(width=16, layers=1, heads=2, feed_forward=16)
    model = new_model(small, len(names.entities), len(names.relations), names)
    card = Card(name, dataset.fingerprint, trained_on, step=0)
    manifest = {"dataset": name, "fingerprint": dataset.fingerprint}
    with RUN.create(
        folder, manifest | {"settings": RunSettings(model=small).to_json()}
    ) as temporary:
        save_pretrained(model, temporary / BEST, card)


def small_towns(*more: Fact) -> Dataset:
    """A small graph of towns along a road, optionally with more facts."""
    road = [Fact(f"town{i}", "road", f"town{i + 1}") for i in range(8)]
    return Dataset.of({"train": [*road[:5], *more], "valid": road[5:7], "test": road[7:]})


def read_table(text: str) -> list[list[str]]:
    """The cells of tab-separated lines."""
    return [line.split("\t") for line in text.splitlines()]


def check_refused(run_nqe: RunNqe, folder: Path, words: tuple[str, ...], sentence: str) -> None:
    """Check that a command fails with one sentence and changes no file."""
    before = files(folder)
    assert told(run_nqe(*words)).startswith(sentence)
    assert files(folder) == before


def check_help_example(run_nqe: RunNqe, command: str) -> None:
    """Check that the example in the help of a command works as it is printed."""
    [line] = [one for one in well(run_nqe(command, "--help")).splitlines() if "Example:" in one]
    words = shlex.split(line.partition("Example: nqe ")[2])
    assert words[0] == command
    assert well(run_nqe(*words))

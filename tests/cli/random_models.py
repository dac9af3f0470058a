"""Models with random scores, and commands called in this process, for tests of evaluation."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor
from typer.testing import CliRunner

import nqe
from nqe.answering import OpenedRun
from nqe.cli.app import app
from nqe.errors import NqeError
from nqe.query.step_table import StepTable

ATLAS = nqe.demo_dataset()
SHAPES = ("1p", "2p", "2in", "And(P(P()), P(), Not(P()))")
# Nothing else of the model is needed.
_MODEL: Any = SimpleNamespace(vocabulary=ATLAS.vocabulary, needs_facts=False)


class RandomRunner:
    """Scores that depend only on the seed and on the relation of the target's step."""

    def __init__(self, seed: int, entity_count: int) -> None:
        random = torch.Generator().manual_seed(seed)
        self.scores = torch.randn(997, entity_count, generator=random)
        self.entity_count = entity_count

    def run(self, plans: StepTable) -> RandomScores:
        relation = plans.relation[plans.targets]
        return RandomScores(self.scores[torch.from_numpy(relation) % len(self.scores)])


class RandomScores:
    def __init__(self, scores: Tensor) -> None:
        self.scores = scores

    def block(self, first: int, last: int) -> Tensor:
        return self.scores[:, first:last]


class RandomModel(OpenedRun):
    """A run whose seed is the last letter of its folder's name."""

    def open_runner(self, dataset: Any = None) -> Any:
        return RandomRunner(ord(self.place[-1]), len(ATLAS.vocabulary.entities))


def load_random_model(run: str, device: str) -> RandomModel:
    """A random model for any folder; a name with `bare` is a checkpoint that knows no graph."""
    assert device == "auto"
    bare = "bare" in run
    return RandomModel(
        place=run,
        model=_MODEL,
        dataset_name="atlas",
        fingerprint=None if bare else ATLAS.fingerprint,
        trained_on="train",
        keeps_reports=not bare,
    )


def run_command(*words: str | Path) -> str:
    """The output of a command that succeeds."""
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def refuse_command(*words: str | Path) -> str:
    """The error message of a command that fails: what is wrong, and after `;` what to do."""
    with pytest.raises(NqeError) as error:
        run_command(*words)
    assert "; " in str(error.value)
    return str(error.value)


def new_run(folder: Path, name: str = "run_a") -> Path:
    """An empty folder that counts as a run."""
    (folder / name).mkdir(parents=True)
    return folder / name

"""Training in two processes under torchrun gives the same weights as in one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from helpers import ENVIRONMENT
from toy_dataset import read_values, settings, town_queries, towns, weights

from nqe.run_folders import BEST, LAST
from nqe.settings import RunSettings
from nqe.training import fit_weights
from nqe.training.run_folder import RunFolder

DATASET = towns()
TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
# One stands for all; starting two processes takes several seconds.
QUICK = "sampled softmax from a graph"
VARIANTS: dict[str, dict[str, Any]] = {
    "full softmax over queries": {"loss": "full", "average": 0.5},
    "relations of facts as well": {"relation_share": 0.1, "batch": 31, "candidates": 30},
    QUICK: {
        "shapes": ["1p", "2i"],
        "candidates": 30,
        "full_from": 0.6,
        "targets": "one",
    },
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a graph and a query set whose last batch of an epoch is a single query."""
    place = tmp_path_factory.mktemp("processes")
    DATASET.save(place / "towns.graph")
    town_queries(DATASET, place / "q", "1p", train=65)
    return place


def torchrun(place: Path, run: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Train in two processes."""
    command = [*TORCHRUN, "-m", "nqe", "train", "towns.graph", *arguments, "-o", run]
    environment = ENVIRONMENT | {"OMP_NUM_THREADS": "1"}
    return subprocess.run(
        command,
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


def write_settings(chosen: RunSettings, path: Path) -> str:
    path.write_text(chosen.to_toml())
    return path.name


@pytest.mark.xdist_group("processes")
@pytest.mark.parametrize(
    "variant",
    [pytest.param(one, marks=[] if one == QUICK else [pytest.mark.long]) for one in VARIANTS],
)
def test_two_processes_train_as_one_does(place: Path, variant: str) -> None:
    given = ["q"] if "queries" in variant else []
    chosen = settings({"dropout": 0.0}, steps=9, evaluate_steps=1, **VARIANTS[variant])
    file = write_settings(chosen, place / f"{variant[:4]}.toml")
    done = torchrun(place, f"two {variant}", *given, "-c", file)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("9 steps in") == 1
    fit_weights(DATASET, place / "one" / variant, *(place / one for one in given), settings=chosen)
    one, two = place / "one" / variant, place / f"two {variant}"
    for name in ("loss", "mrr"):
        expected = np.array(read_values(one, name))
        np.testing.assert_allclose(read_values(two, name), expected, atol=1e-5)
        assert len(expected) == 9
    for name in (BEST, LAST):
        torch.testing.assert_close(weights(two, name), weights(one, name), rtol=0, atol=1e-5)


@pytest.mark.xdist_group("processes")
def test_two_processes_continue_a_run_of_one_process(place: Path) -> None:
    half = settings(steps=4)
    whole = settings(steps=8)
    fit_weights(DATASET, place / "began", place / "q", half)
    done = torchrun(place, "began", "--resume", "-c", write_settings(whole, place / "whole.toml"))
    assert done.returncode == 0, done.stderr
    assert RunFolder.open(place / "began").state.step == 8
    assert len(read_values(place / "began", "mrr")) == 3


@pytest.mark.xdist_group("processes")
def test_an_error_is_one_sentence_from_each_process(place: Path) -> None:
    (place / "taken").mkdir()
    (place / "taken" / "file").touch()
    done = torchrun(place, "taken")
    assert done.returncode != 0
    errors = [line for line in done.stderr.splitlines() if "nqe: " in line]
    # torchrun ends the other process when one has failed, perhaps before it came to the same.
    sentence = "taken: the folder holds other files; choose another"
    assert all(sentence in line or "nqe: terminated;" in line for line in errors)
    assert any(sentence in line for line in errors)
    assert 1 <= len(errors) <= 2

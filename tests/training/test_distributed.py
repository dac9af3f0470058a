"""Training in several processes under torchrun: the same as in one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from helpers import ENVIRONMENT
from toy_dataset import settings, town_queries, towns, weights

from nqe.model.checkpoint import BEST, LAST
from nqe.settings import RunSettings
from nqe.training import fit_weights
from nqe.training.run_folder import Run

DATASET = towns()
TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
WAYS: dict[str, dict[str, Any]] = {
    "full softmax over queries": {"loss": "full", "average": 0.5},
    "sampled softmax from a graph": {
        "shapes": ["1p", "2i"],
        "candidates": 30,
        "full_from": 0.6,
        "targets": "one",
    },
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a graph and a query set; an epoch ends with a batch of a single query."""
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


def written(chosen: RunSettings, path: Path) -> str:
    path.write_text(chosen.to_toml())
    return path.name


def values(run: Path, name: str) -> list[float]:
    return [one[name] for one in Run.old(run).metrics() if name in one]


@pytest.mark.xdist_group("processes")
@pytest.mark.parametrize("way", WAYS)
def test_two_processes_train_as_one_does(place: Path, way: str) -> None:
    given = ["q"] if "queries" in way else []
    chosen = settings({"dropout": 0.0}, steps=9, evaluate_steps=1, **WAYS[way])
    file = written(chosen, place / f"{way[:4]}.toml")
    done = torchrun(place, f"two {way}", *given, "-c", file)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("9 steps in") == 1
    fit_weights(DATASET, place / "one" / way, *(place / one for one in given), settings=chosen)
    one, two = place / "one" / way, place / f"two {way}"
    for name in ("loss", "mrr"):
        assert values(two, name) == pytest.approx(values(one, name), abs=1e-5)
        assert len(values(two, name)) == 9
    for name in (BEST, LAST):
        torch.testing.assert_close(weights(two, name), weights(one, name), rtol=0, atol=1e-5)


@pytest.mark.xdist_group("processes")
def test_two_processes_go_on_with_what_one_began(place: Path) -> None:
    half = settings(steps=4)
    whole = settings(steps=8)
    fit_weights(DATASET, place / "began", place / "q", half)
    done = torchrun(place, "began", "--resume", "-c", written(whole, place / "whole.toml"))
    assert done.returncode == 0, done.stderr
    assert Run.old(place / "began").state.step == 8
    assert len(values(place / "began", "mrr")) == 3


@pytest.mark.xdist_group("processes")
def test_what_is_wrong_is_told_in_sentences(place: Path) -> None:
    (place / "taken").mkdir()
    (place / "taken" / "file").touch()
    done = torchrun(place, "taken")
    assert done.returncode != 0
    told = [line for line in done.stderr.splitlines() if "nqe: " in line]
    assert all("taken: the folder holds other files; choose another" in line for line in told)
    assert len(told) == 2

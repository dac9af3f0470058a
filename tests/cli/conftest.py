"""Fixtures for tests of commands: RUN folders, a query set, and models with random scores."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from answering_commands import CHAIN, FRANCE, RunNqe, small_towns, write_run
from helpers import Run, nqe, well
from random_models import ATLAS, SHAPES, load_random_model

from nqe import cli
from nqe.answering import OpenedRun, calibrate
from nqe.graph import Fact
from nqe.sampling import sample, save_queries
from nqe.settings import SamplingSettings


@pytest.fixture(scope="session")
def random_queries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small query set of the atlas graph."""
    folder = tmp_path_factory.mktemp("evaluated") / "atlas.queries"
    settings = SamplingSettings(shapes=SHAPES, train=3, valid=4, test=6)
    save_queries(sample(ATLAS, settings, workers=1), folder, "atlas")
    return folder


@pytest.fixture
def random_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every folder be a run of a model with random scores."""
    monkeypatch.setattr(OpenedRun, "load", load_random_model)


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs, calibrated or not, with queries, and with graphs that changed or went."""
    folder = tmp_path_factory.mktemp("answering")
    write_run(folder / "atlas.run", ATLAS, "atlas")
    shutil.copytree(folder / "atlas.run", folder / "plain.run")
    calibrate(folder / "atlas.run", ATLAS, "cpu")
    write_run(folder / "learnt.run", ATLAS, "atlas", trained_on="train,valid")
    small_towns().save(folder / "towns.graph")
    small_towns(Fact("town0", "road", "newtown")).save(folder / "more.graph")
    write_run(folder / "towns.run", small_towns(), "towns.graph")
    write_run(folder / "changed.run", small_towns(), "more.graph")
    write_run(folder / "moved.run", small_towns(), "gone.graph")
    (folder / "folder.jsonl").mkdir()
    (folder / "queries.txt").write_text(f"# two that work\n{FRANCE}\n?x: p(?x\n\n{CHAIN}\n")
    counts = ("--train", "1", "--valid", "2", "--test", "2", "--workers", "1")
    shapes = ("--shape", "1p", "--shape", "2p")
    well(nqe("sample", "atlas", "-o", "atlas.queries", *shapes, *counts, cwd=folder))
    return folder


@pytest.fixture
def run_nqe(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> RunNqe:
    """Runs `nqe` in this process, which has loaded PyTorch already, in the folder of runs."""
    monkeypatch.chdir(runs)

    def run_nqe(*words: str) -> Run:
        monkeypatch.setattr(sys, "argv", ["nqe", *words])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        out, err = capsys.readouterr()
        code = stopped.value.code
        return Run(code if isinstance(code, int) else 0, out, err)

    return run_nqe

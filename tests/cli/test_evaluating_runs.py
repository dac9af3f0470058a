"""evaluate and compare in a process of their own, with a model that learnt nothing yet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from helpers import nqe, told, well

import nqe as package
from nqe.model import new_model, save_pretrained
from nqe.model.checkpoint import BEST, RUN, Card
from nqe.settings import ModelSettings, RunSettings

ATLAS = package.demo_dataset()


def write_run(folder: Path, seed: int) -> Path:
    """A RUN of a small model with its first weights."""
    torch.manual_seed(seed)
    names = ATLAS.vocabulary
    small = ModelSettings(width=16, layers=1, heads=2, feed_forward=16)
    model = new_model(small, len(names.entities), len(names.relations), names)
    settings = RunSettings(model=small).to_json()
    manifest = {"dataset": "atlas", "fingerprint": ATLAS.fingerprint, "settings": settings}
    with RUN.create(folder, manifest) as temporary:
        card = Card("atlas", ATLAS.fingerprint, "train", step=0)
        save_pretrained(model, temporary / BEST, card)
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs and a query set."""
    folder = tmp_path_factory.mktemp("runs")
    for seed, name in enumerate(("first", "second")):
        write_run(folder / name, seed)
    counts = ("--train", "2", "--valid", "2", "--test", "3", "--workers", "1")
    well(nqe("sample", "atlas", "-o", "atlas.queries", *counts, cwd=folder))
    return folder


def test_runs_are_evaluated_on_all_shapes_and_compared(home: Path) -> None:
    for run in ("first", "second"):
        report = json.loads(well(nqe("evaluate", run, "atlas.queries", "--json", cwd=home)))
        assert len(report["by_shape"]) == 16
        assert 0 < report["all"]["mrr"] < 0.2
        assert report["trained_on"] == "train"
    rows = well(nqe("compare", "first", "second", cwd=home)).splitlines()
    assert [row.split("\t")[0] for row in rows[2:]] == ["run", "first", "second"]
    best = nqe("evaluate", "first/best", "atlas.queries", "--json", cwd=home)
    again = nqe("evaluate", "first", "atlas.queries", "--json", cwd=home)
    assert json.loads(well(best))["by_shape"] == json.loads(well(again))["by_shape"]
    assert "written" in again.err
    assert best.err == ""


def test_link_prediction_prints_one_object(home: Path) -> None:
    run = nqe("evaluate", "first", "atlas", "--link-prediction", "--json", cwd=home)
    report = json.loads(well(run))
    for part in ("all", "subject_object", "value"):
        assert set(report[part]) == {"mrr", "hits@1", "hits@3", "hits@10", "count"}
    assert report["subject_object"]["count"] == 2 * len(ATLAS.splits["test"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("evaluate", "nowhere", "atlas.queries"), "not a run or checkpoint"),
        (("evaluate", "atlas.queries", "atlas.queries"), "not a run or checkpoint"),
        (("evaluate", "first", "first"), "not a query set"),
        (("evaluate", "first", "nowhere", "--link-prediction"), "not a graph"),
        (("evaluate", "first", "atlas", "--link-prediction", "--split", "dev"), "no dev split"),
        (("compare", "first", "nowhere"), "no such run"),
    ],
)
def test_what_is_not_there_is_told_in_one_sentence(
    words: tuple[str, ...], sentence: str, home: Path
) -> None:
    assert sentence in told(nqe(*words, cwd=home))

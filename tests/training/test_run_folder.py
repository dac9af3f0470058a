"""RUN folders: manifest, settings, metrics and checkpoints."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from toy_dataset import read_scalars, read_values, settings, town_queries, towns

from nqe.errors import StorageError
from nqe.model.checkpoint import load
from nqe.run_folders import BEST, LAST, RUN
from nqe.settings import read_settings
from nqe.training import fit_weights
from nqe.training.run_folder import RunFolder

DATASET = towns()
CHOSEN = settings({"dropout": 0.05}, shapes=["1p", "2i"], steps=12, rate=2.5e-3, save_steps=5)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a query set and a run."""
    place = tmp_path_factory.mktemp("runs")
    queries = town_queries(DATASET, place / "q", "1p", "2i")
    fit_weights(DATASET, place / "run", queries, CHOSEN, name="towns.graph")
    return place


def test_the_manifest_says_what_the_run_was_made_from(place: Path) -> None:
    manifest = json.loads((place / "run" / "manifest.json").read_text())
    assert manifest["format"] == "nqe-run"
    assert manifest["dataset"] == "towns.graph"
    assert manifest["fingerprint"] == DATASET.fingerprint
    assert manifest["queries"] == manifest["trained_on"] == str(place / "q")
    assert manifest["settings"] == CHOSEN.to_json()


def test_the_settings_file_can_be_used_for_another_run(place: Path) -> None:
    assert read_settings(place / "run" / "settings.toml") == CHOSEN
    assert RunFolder.open(place / "run").settings == CHOSEN


def test_the_metrics_have_a_line_with_the_loss_and_one_with_scores_per_validation(
    place: Path,
) -> None:
    lines = RunFolder.open(place / "run").read_metrics()
    assert [one["step"] for one in lines] == [6, 6, 12, 12]
    for losses, ranks in (lines[:2], lines[2:]):
        assert set(losses) == {"step", "seconds", "loss", "queries_per_second", "rate"}
        assert 0 < losses["loss"] < 10
        assert losses["queries_per_second"] > 0
        assert 0 <= losses["rate"] <= 2.5e-3
        assert set(ranks) == {"step", "seconds", "mrr", "by_shape"}
        assert set(ranks["by_shape"]) == {"1p", "2i"}
        assert ranks["mrr"] == pytest.approx(sum(ranks["by_shape"].values()) / 2)
    assert lines[0]["seconds"] <= lines[2]["seconds"]


def test_a_line_that_was_cut_off_by_a_kill_is_skipped(tmp_path: Path) -> None:
    fit_weights(DATASET, tmp_path / "run", settings=settings(steps=2))
    run = RunFolder.open(tmp_path / "run")
    whole = run.read_metrics()
    with (tmp_path / "run" / "metrics.jsonl").open("a") as file:
        file.write('{"step": 3')
    assert run.read_metrics() == whole
    fit_weights(DATASET, tmp_path / "run", settings=settings(steps=3), resume=True)
    assert [one["step"] for one in run.read_metrics()] == [2, 2, 3, 3]


def test_both_checkpoints_can_be_loaded_and_say_how_they_were_made(place: Path) -> None:
    lines = RunFolder.open(place / "run").read_metrics()
    best = max((one for one in lines if "mrr" in one), key=lambda one: one["mrr"])
    for name in (BEST, LAST):
        config = json.loads((place / "run" / name / "config.json").read_text())
        assert config["step"] == (best["step"] if name == BEST else 12)
        card = (place / "run" / name / "README.md").read_text()
        assert DATASET.fingerprint in card
        model = load(place / "run" / name)
        assert model.settings == CHOSEN.model
        assert model.vocabulary is not None
        assert model.vocabulary.same_ids(DATASET.vocabulary)
    assert (
        f"| 2i | {best['by_shape']['2i']:.4f} |" in (place / "run" / BEST / "README.md").read_text()
    )


class Stop(Exception):
    """Ends a training."""


class StopAt:
    """Ends training after a step."""

    def __init__(self, step: int) -> None:
        self.step = step

    def update(self, status: Any) -> None:
        if status.step == self.step:
            raise Stop


def test_after_a_resume_the_metrics_and_tensorboard_show_every_step_once(tmp_path: Path) -> None:
    run, chosen = tmp_path / "run", settings(steps=8, evaluate_steps=1, save_steps=3)
    for step in (1, 2, 5):
        given = None if run.exists() else chosen
        with pytest.raises(Stop):
            fit_weights(
                DATASET, run, settings=given, resume=run.exists(), on_step=StopAt(step).update
            )
    fit_weights(DATASET, run, resume=True)
    lines = RunFolder.open(run).read_metrics()
    assert [one["step"] for one in lines if "loss" in one] == list(range(1, 9))
    assert [one["step"] for one in lines if "mrr" in one] == list(range(1, 9))
    for name in ("train/loss", "valid/mrr"):
        assert [step for step, _ in read_scalars(run)[name]] == list(range(1, 9))


def test_the_rate_of_queries_does_not_include_the_time_of_validating(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    def take_a_second(_: Any) -> None:
        now[0] += 1

    def slow(*_: object) -> dict[str, float]:
        now[0] += 1_000
        return {"1p": 0.5}

    monkeypatch.setattr("nqe.training.checkpointer.measure_mrr", slow)
    fit_weights(
        DATASET,
        tmp_path / "run",
        settings=settings(steps=12, evaluate_steps=4),
        on_step=take_a_second,
    )
    rates = [rate for _, rate in read_values(tmp_path / "run", "queries_per_second")]
    assert rates == [32, 32, 32]


def test_a_mistake_found_before_training_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="no valid2 split"):
        fit_weights(DATASET, tmp_path / "run", settings=settings(facts="valid2"))
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_never_overwritten(place: Path) -> None:
    with pytest.raises(StorageError, match="a run exists already; continue it with --resume"):
        fit_weights(DATASET, place / "run", settings=CHOSEN)
    with pytest.raises(StorageError, match="the folder holds other files"):
        fit_weights(DATASET, place, settings=CHOSEN)


def test_the_duration_includes_the_time_before_a_resume(tmp_path: Path) -> None:
    run = tmp_path / "run"
    first = fit_weights(DATASET, run, settings=settings(steps=6))
    second = fit_weights(DATASET, run, settings=settings(steps=12), resume=True)
    assert second.seconds > first.seconds
    seconds = [one["seconds"] for one in RunFolder.open(run).read_metrics()]
    assert all(one <= other for one, other in pairwise(seconds))


def test_a_run_with_the_manifest_of_another_training_is_not_continued(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for run, seed in ((one, 1), (other, 2)):
        fit_weights(towns(), run, settings=settings(steps=2, seed=seed))
    (one / "manifest.json").write_bytes((other / "manifest.json").read_bytes())
    with pytest.raises(StorageError, match="one: its checkpoint is of another training"):
        RunFolder.open(one)
    with pytest.raises(StorageError, match="one: its checkpoint is of another training"):
        load(one)


def test_the_files_of_a_run_are_its_own_but_no_run_is_replaced(tmp_path: Path) -> None:
    fit_weights(towns(), tmp_path / "run", settings=settings(steps=6))
    RUN.check_output(tmp_path / "run")  # as `nqe demo` does before it deletes its earlier run
    with pytest.raises(StorageError, match="run: replacing the folder would delete"):
        create_again(tmp_path / "run")
    (tmp_path / "run" / "mynotes.txt").touch()
    with pytest.raises(StorageError, match=r"would delete mynotes\.txt, which nqe did not write"):
        RUN.check_output(tmp_path / "run")


def create_again(folder: Path) -> None:
    with RUN.create(folder, {}):
        pass

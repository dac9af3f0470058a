"""What a RUN folder holds."""

from __future__ import annotations

import builtins
import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from toy_dataset import settings, town_queries, towns

from nqe.errors import StorageError
from nqe.model.checkpoint import BEST, LAST, load
from nqe.settings import read_settings
from nqe.training import train
from nqe.training.run_folder import Run

DATASET = towns()
CHOSEN = settings({"dropout": 0.05}, shapes=["1p", "2i"], steps=12, rate=2.5e-3, save_steps=5)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a query set and a run."""
    place = tmp_path_factory.mktemp("runs")
    queries = town_queries(DATASET, place / "q", "1p", "2i")
    train(DATASET, place / "run", queries, CHOSEN, name="towns.graph")
    return place


def test_the_manifest_says_what_the_run_was_made_from(place: Path) -> None:
    manifest = json.loads((place / "run" / "manifest.json").read_text())
    assert manifest["format"] == "nqe-run"
    assert manifest["dataset"] == "towns.graph"
    assert manifest["fingerprint"] == DATASET.fingerprint
    assert manifest["queries"] == manifest["trained_on"] == str(place / "q")
    assert manifest["settings"] == CHOSEN.to_json()


def test_the_settings_can_be_given_to_another_run(place: Path) -> None:
    assert read_settings(place / "run" / "settings.toml") == CHOSEN
    assert Run.old(place / "run").settings == CHOSEN


def test_the_metrics_have_a_line_of_losses_and_one_of_ranks_for_each_validation(
    place: Path,
) -> None:
    lines = Run.old(place / "run").metrics()
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


def test_a_line_that_a_kill_cut_short_is_passed_over(tmp_path: Path) -> None:
    train(DATASET, tmp_path / "run", settings=settings(steps=2))
    run = Run.old(tmp_path / "run")
    whole = run.metrics()
    with (tmp_path / "run" / "metrics.jsonl").open("a") as file:
        file.write('{"step": 3')
    assert run.metrics() == whole
    train(DATASET, tmp_path / "run", settings=settings(steps=3), resume=True)
    assert [one["step"] for one in run.metrics()] == [2, 2, 3, 3]


def test_both_checkpoints_load_and_tell_of_themselves(place: Path) -> None:
    lines = Run.old(place / "run").metrics()
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


def shown(run: Path) -> dict[str, list[tuple[int, float]]]:
    """What TensorBoard shows of a run."""
    events = EventAccumulator(str(run / "tensorboard"))
    events.Reload()
    return {
        name: [(one.step, one.value) for one in events.Scalars(name)]
        for name in events.Tags()["scalars"]
    }


def test_tensorboard_shows_losses_ranks_by_shape_and_rates(place: Path) -> None:
    values = shown(place / "run")
    assert set(values) == {
        "train/loss",
        "train/rate",
        "train/queries_per_second",
        "valid/mrr",
        "valid/1p",
        "valid/2i",
    }
    lines = Run.old(place / "run").metrics()
    told = [(one["step"], one["loss"]) for one in lines if "loss" in one]
    assert [step for step, _ in told] == [step for step, _ in values["train/loss"]]
    for (_, one), (_, other) in zip(told, values["train/loss"], strict=True):
        assert math.isclose(one, other, rel_tol=1e-6)


def test_tensorboard_shows_the_entities_most_facts_hold(place: Path) -> None:
    folder = place / "run" / "tensorboard"
    config = (folder / "projector_config.pbtxt").read_text()
    assert 'tensor_path: "entities/tensors.tsv"' in config
    assert 'metadata_path: "entities/metadata.tsv"' in config
    vectors = np.loadtxt(folder / "entities" / "tensors.tsv", delimiter="\t")
    names = (folder / "entities" / "metadata.tsv").read_text().splitlines()
    entities = DATASET.vocabulary.entities
    assert vectors.shape == (len(names), 16) == (len(entities), 16)
    # As the centred score compares them: values in [0,1] minus a half.
    assert -0.5 <= vectors.min() < 0 < vectors.max() <= 0.5
    assert names[0].startswith("year")


class Stop(Exception):
    """Ends a training from within."""


class StopAt:
    """Ends training after a step."""

    def __init__(self, step: int) -> None:
        self.step = step

    def update(self, status: Any) -> None:
        if status.step == self.step:
            raise Stop


def test_after_a_resume_metrics_and_tensorboard_show_every_step_once(tmp_path: Path) -> None:
    run, chosen = tmp_path / "run", settings(steps=8, evaluate_steps=1, save_steps=3)
    for step in (1, 2, 5):
        given = None if run.exists() else chosen
        with pytest.raises(Stop):
            train(DATASET, run, settings=given, resume=run.exists(), on_step=StopAt(step).update)
    train(DATASET, run, resume=True)
    lines = Run.old(run).metrics()
    assert [one["step"] for one in lines if "loss" in one] == list(range(1, 9))
    assert [one["step"] for one in lines if "mrr" in one] == list(range(1, 9))
    for name in ("train/loss", "valid/mrr"):
        assert [step for step, _ in shown(run)[name]] == list(range(1, 9))


def test_the_time_of_validating_is_not_the_queries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    class Clock:
        """A step takes a second."""

        def update(self, _: Any) -> None:
            now[0] += 1

    def slow(*_: object) -> dict[str, float]:
        now[0] += 1_000
        return {"1p": 0.5}

    monkeypatch.setattr("nqe.training.loop.mean_reciprocal_ranks", slow)
    train(
        DATASET,
        tmp_path / "run",
        settings=settings(steps=12, evaluate_steps=4),
        on_step=Clock().update,
    )
    rates = [one["queries_per_second"] for one in Run.old(tmp_path / "run").metrics()[::2]]
    assert rates == [32, 32, 32]


def test_without_tensorboard_there_is_no_folder_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("tensorboard"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    train(DATASET, tmp_path / "run", settings=settings(steps=2))
    assert not (tmp_path / "run" / "tensorboard").exists()
    assert (tmp_path / "run" / BEST).is_dir()


def test_a_mistake_found_before_training_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="no valid2 split"):
        train(DATASET, tmp_path / "run", settings=settings(facts="valid2"))
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_never_written_over(place: Path) -> None:
    with pytest.raises(StorageError, match="a run is there already; go on with --resume"):
        train(DATASET, place / "run", settings=CHOSEN)
    with pytest.raises(StorageError, match="the folder holds other files"):
        train(DATASET, place, settings=CHOSEN)


def test_seconds_go_on_counting_over_a_resume(tmp_path: Path) -> None:
    run = tmp_path / "run"
    first = train(DATASET, run, settings=settings(steps=6))
    second = train(DATASET, run, settings=settings(steps=12), resume=True)
    assert second.seconds > first.seconds
    seconds = [one["seconds"] for one in Run.old(run).metrics()]
    assert all(one <= other for one, other in pairwise(seconds))

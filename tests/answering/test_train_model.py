"""Training: fits the weights, then calibrates on validation facts if that is possible."""

from __future__ import annotations

from pathlib import Path

import pytest
from toy_dataset import settings, town_queries, towns

import nqe
from nqe.answering import TrainResult, calibrate, train
from nqe.answering.calibration_storage import CALIBRATION_FILE
from nqe.errors import NqeError
from nqe.graph import Dataset

DATASET = towns()


def without_valid() -> Dataset:
    splits = {name: facts for name, facts in DATASET.splits.items() if name != "valid"}
    return Dataset(DATASET.vocabulary, splits)


def is_calibrated(result: TrainResult) -> bool:
    return (result.folder / "best" / CALIBRATION_FILE).is_file() or (
        result.folder / "last" / CALIBRATION_FILE
    ).is_file()


def test_the_public_function_calibrates_the_best_checkpoint(tmp_path: Path) -> None:
    result = nqe.train(DATASET, tmp_path / "run", settings=settings(steps=4))
    assert result.new_steps == 4
    assert result.not_calibrated is None
    assert result.calibrated is not None
    assert result.calibrated.folder == tmp_path / "run" / "best"
    assert result.calibrated.split == "test"
    written = (tmp_path / "run" / "best" / CALIBRATION_FILE).read_bytes()
    calibrate(tmp_path / "run", DATASET, "cpu")
    assert (tmp_path / "run" / "best" / CALIBRATION_FILE).read_bytes() == written


def test_a_complete_run_is_calibrated_once(tmp_path: Path) -> None:
    run = tmp_path / "run"
    first = train(DATASET, run, settings=settings(steps=2, evaluate_steps=2))
    again = train(DATASET, run, resume=True)
    assert (again.new_steps, again.calibrated, again.not_calibrated) == (0, None, None)
    (run / "best" / CALIBRATION_FILE).unlink()
    assert train(DATASET, run, resume=True).calibrated == first.calibrated
    more = train(DATASET, run, settings=settings(steps=4, evaluate_steps=2), resume=True)
    assert more.calibrated is not None


def test_without_validation_facts_there_is_no_calibration(tmp_path: Path) -> None:
    result = train(without_valid(), tmp_path / "run", settings=settings(steps=2))
    assert result.calibrated is None
    assert result.not_calibrated == "the data set has no validation facts; see `nqe split`"
    assert not is_calibrated(result)


def test_a_model_that_has_learnt_from_validation_facts_is_not_calibrated(tmp_path: Path) -> None:
    chosen = settings(steps=2, facts="train,valid")
    result = train(DATASET, tmp_path / "run", settings=chosen)
    assert result.not_calibrated is not None
    assert "has learnt from the validation split" in result.not_calibrated
    assert not is_calibrated(result)


def test_a_model_trained_on_queries_is_calibrated_too(tmp_path: Path) -> None:
    queries = town_queries(DATASET, tmp_path / "q", "1p")
    result = train(DATASET, tmp_path / "run", queries, settings(steps=2))
    assert result.calibrated is not None
    assert is_calibrated(result)


def test_an_error_of_the_calibration_does_not_fail_the_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise NqeError("nothing to fit; add facts")

    monkeypatch.setitem(train.__globals__, "calibrate", refuse)
    result = train(DATASET, tmp_path / "run", settings=settings(steps=2))
    assert result.steps == 2
    assert result.not_calibrated == "nothing to fit; add facts"


def test_only_the_first_of_several_processes_calibrates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "1")
    result = train(DATASET, tmp_path / "run", settings=settings(steps=2))
    assert result.not_calibrated == "the first process calibrates"
    assert not is_calibrated(result)

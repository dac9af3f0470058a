"""Rows that answer with known facts, and with rules, by the run of another row."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_experiments import SHAPES, small_experiment

from nqe.answering import OpenedRun
from nqe.reproduction.experiment import reproduce
from nqe.reproduction.results import HARD, Result

ROWS = ("NQE", "hybrid on NQE", "hybrid with rules on NQE")


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hybrid")


@pytest.fixture(scope="module")
def results(output: Path) -> dict[str, Result]:
    found = reproduce(small_experiment(output, *ROWS))
    return {one.row: one for one in found}


def test_they_share_the_run_of_their_row(output: Path, results: dict[str, Result]) -> None:
    assert list(results) == list(ROWS)
    assert [path.name for path in (output / "runs").iterdir()] == ["wd50k-nfol-nqe-seed-0"]
    assert len({one.training for one in results.values()}) == 1


def test_they_say_which_facts_they_know_and_rank_no_easy_answers(
    results: dict[str, Result],
) -> None:
    assert [results[row].facts for row in ROWS] == [None, "train,valid", "train,valid"]
    assert all(set(results[row].scores) == {HARD} for row in ROWS[1:])
    assert all(set(results[row].scores[HARD].values) == set(SHAPES) for row in ROWS)


def test_known_facts_and_rules_change_what_the_model_says(results: dict[str, Result]) -> None:
    values = [tuple(results[row].scores[HARD].values.values()) for row in ROWS]
    assert len(set(values)) == 3


def test_the_row_with_rules_calibrates_them_with_the_model(
    output: Path, results: dict[str, Result]
) -> None:
    assert list(results)[-1] == "hybrid with rules on NQE"
    run = OpenedRun.load(output / "runs" / "wd50k-nfol-nqe-seed-0")
    assert run.calibration is not None
    assert run.rules is not None

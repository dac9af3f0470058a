"""The experiment of link prediction: rows, filters, given runs, and the published figures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_experiments import TOWNS
from toy_dataset import MODEL

from nqe.errors import NqeError
from nqe.evaluation.published_results import LINK_PREDICTION
from nqe.graph import Dataset
from nqe.reproduction.field_tables import build_link_tables
from nqe.reproduction.given_runs import divide_runs
from nqe.reproduction.link_prediction import (
    LINK_ROWS,
    LinkExperiment,
    choose_link_rows,
    name_data,
    reproduce_links,
)
from nqe.reproduction.published_links import PUBLISHED, list_published
from nqe.reproduction.results import HARD, LOOSE, Result
from nqe.settings import ModelSettings, RunSettings, TrainSettings
from nqe.training import fit_weights

TINY = RunSettings(
    ModelSettings(**MODEL), TrainSettings(batch=32, steps=4, evaluate_steps=2, valid_queries=20)
)
ROWS = (
    "NQE on train",
    "NQE and rules on train",
    "NQE on train+valid",
    "NQE and rules on train+valid",
)


def small_links(output: Path, *names: str, **changes: Any) -> LinkExperiment:
    rows = choose_link_rows(names or ROWS)
    experiment = LinkExperiment(TOWNS, "towns", output, "tiny", TINY, rows)
    return replace(experiment, **changes)


@pytest.fixture(scope="module")
def output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("links")


@pytest.fixture(scope="module")
def results(output: Path) -> dict[str, Result]:
    return {one.row: one for one in reproduce_links(small_links(output))}


def test_each_model_learns_from_the_splits_that_its_row_names(results: dict[str, Result]) -> None:
    assert {row: one.settings.train.facts for row, one in results.items()} == {
        "NQE on train": "train",
        "NQE and rules on train": "train",
        "NQE on train+valid": "train,valid",
        "NQE and rules on train+valid": "train,valid",
    }


def test_every_row_is_ranked_with_both_filters_by_part_of_the_fact(
    results: dict[str, Result],
) -> None:
    for one in results.values():
        strict, loose = one.scores[HARD], one.scores[LOOSE]
        assert set(strict.values) == set(loose.values) == {"all", "subject_object", "value"}
        assert all(loose.values[part] >= strict.values[part] for part in strict.values)
        assert set(strict.intervals) == set(strict.values)


def test_rules_answer_beside_the_same_run(output: Path, results: dict[str, Result]) -> None:
    runs = {path.name for path in (output / "runs").iterdir()}
    assert runs == {
        "link-prediction-towns-nqe-on-train-seed-0",
        "link-prediction-towns-nqe-on-train-valid-seed-0",
    }
    alone, joined = (results[row].scores[HARD].values["all"] for row in ROWS[:2])
    assert joined > alone


def test_where_nothing_is_left_to_fit_on_the_weights_of_rules_come_from_train(
    results: dict[str, Result],
) -> None:
    on_train, on_both = (results[row].extra["weights"] for row in (ROWS[1], ROWS[3]))
    assert on_train == on_both


def test_without_the_row_that_fits_the_weights_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NqeError, match=r"NQE and rules on train\+valid needs the weights of rules"):
        reproduce_links(small_links(tmp_path, ROWS[3]))
    assert list(tmp_path.iterdir()) == []


def test_what_is_done_is_not_done_again(output: Path, results: dict[str, Result]) -> None:
    before = {path: path.stat().st_mtime_ns for path in (output / "results").iterdir()}
    again = reproduce_links(small_links(output))
    assert [one.to_json() for one in again] == [one.to_json() for one in results.values()]
    assert {path: path.stat().st_mtime_ns for path in (output / "results").iterdir()} == before


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with the settings of a row, which trained for another time."""
    folder = tmp_path_factory.mktemp("given") / "run"
    settings = replace(TINY, train=replace(TINY.train, shapes=("1p",), steps=2))
    fit_weights(TOWNS, folder, settings=settings, name="towns")
    return folder


class TestGivenRuns:
    def test_a_run_that_fits_is_used_and_its_own_time_is_told(
        self, run: Path, tmp_path: Path
    ) -> None:
        [result] = reproduce_links(small_links(tmp_path, "NQE on train", given=[run]))
        assert not (tmp_path / "runs").exists()
        assert result.training.steps == 2
        assert result.settings.train.steps == 2
        assert reproduce_links(small_links(tmp_path, "NQE on train"))[0] == result

    def test_a_run_that_fits_no_row_is_refused_with_what_differs(
        self, run: Path, tmp_path: Path
    ) -> None:
        rows = choose_link_rows(["NQE with context on train"])
        with pytest.raises(NqeError, match=r"run: fits no row; .*model.context was 0 and is 16"):
            reproduce_links(small_links(tmp_path, rows=rows, given=[run]))

    def test_a_run_of_another_graph_is_refused(self, run: Path) -> None:
        assert divide_runs([run], [TOWNS.fingerprint, "other"])["other"] == []
        with pytest.raises(NqeError, match="run: trained on another graph than the given ones"):
            divide_runs([run], ["other"])


class TestTable:
    def test_both_filters_stand_below_the_published_figures(
        self, results: dict[str, Result]
    ) -> None:
        [sheet, runs] = build_link_tables("link-prediction wd50k", list(results.values()))
        first = sheet.rows[0]
        assert first[:6] == ("StarE", "published", "", "strict", None, pytest.approx(34.9))
        ours = [row for row in sheet.rows if row[1] == "ours"]
        assert [row[3] for row in ours] == ["strict", "loose"] * 4
        assert len(runs.rows) == 4

    def test_only_the_strict_filter_competes_for_the_best(self, results: dict[str, Result]) -> None:
        [sheet, _] = build_link_tables("link-prediction towns", list(results.values()))
        assert {sheet.rows[row][3] for row, _ in sheet.best} == {"strict"}

    def test_a_row_that_was_not_run_says_so(self) -> None:
        [sheet] = build_link_tables("link-prediction jf17k", [])
        names = [row[0] for row in sheet.rows]
        assert names[:3] == ["StarE", "GRAN", "HAHE"]
        assert names[3:] == [f"{name}, not run yet" for name in LINK_ROWS]

    @pytest.mark.parametrize("data", LINK_PREDICTION)
    def test_published_figures_agree_with_those_of_compare(self, data: str) -> None:
        ours = {
            one.model: {"all": one.all, "subject_object": one.subject_object}
            for one in list_published(data)
            if one.source == PUBLISHED
        }
        for model, parts in LINK_PREDICTION[data].items():
            assert {part: ours[model][part] for part in parts} == parts


def test_a_data_set_is_known_by_the_name_of_its_folder() -> None:
    assert name_data("../data/wd50k") == name_data("wd50k.graph") == "wd50k"
    assert name_data("some/towns") == "towns"


def test_an_unknown_row_is_refused() -> None:
    with pytest.raises(NqeError, match="unknown row 'NQE'; choose some of NQE on train, NQE and r"):
        choose_link_rows(["NQE"])


def test_a_run_that_learnt_from_another_graph_is_refused(output: Path, tmp_path: Path) -> None:
    other = Dataset(TOWNS.vocabulary, {**TOWNS.splits, "valid": TOWNS.splits["test"]})
    with pytest.raises(NqeError, match="nqe-on-train-seed-0: trained on another graph; choose an"):
        reproduce_links(small_links(output, dataset=other, results=tmp_path))

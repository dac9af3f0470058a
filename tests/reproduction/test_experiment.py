"""Experiments on logical queries: each row is computed once, and nothing computed is lost."""

from __future__ import annotations

import json
import shutil
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from small_experiments import SHAPES, TINY, TOWNS, small_experiment, with_steps

from nqe.errors import NqeError
from nqe.graph import Dataset
from nqe.reproduction.experiment import reproduce
from nqe.reproduction.results import EASY, HARD, load_results
from nqe.reproduction.watching import NoWatcher
from nqe.training import TrainingStatus
from nqe.training.run_folder import RunFolder
from nqe.training.status import Listeners


class Recorder(NoWatcher):
    """Keeps the notes; ends the training at a step, as Ctrl-C does."""

    def __init__(self, last_step: int | None = None) -> None:
        self.notes: list[str] = []
        self.last_step = last_step

    def note(self, text: str) -> None:
        self.notes.append(text)

    def watch_training(self) -> AbstractContextManager[Listeners]:
        return nullcontext(Listeners(on_step=self._stop))

    def _stop(self, status: TrainingStatus) -> None:
        if status.step == self.last_step:
            raise KeyboardInterrupt


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of an experiment with two rows."""
    output = tmp_path_factory.mktemp("experiment") / "out"
    reproduce(small_experiment(output, "NQE-1p", "NQE"))
    return output


@pytest.fixture
def output(finished: Path, tmp_path: Path) -> Path:
    """A copy of that folder that a test may change."""
    return Path(shutil.copytree(finished, tmp_path / "out"))


def name(row: str, seed: int = 0) -> str:
    return f"wd50k-nfol-{row}-seed-{seed}"


def read_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_each_row_gets_a_result_with_its_scores_settings_and_origin(finished: Path) -> None:
    data = json.loads((finished / "results" / f"{name('nqe-1p')}.json").read_text())
    assert (data["row"], data["benchmark"], data["seed"]) == ("NQE-1p", "wd50k-nfol", 0)
    assert set(data["mrr"]) == set(SHAPES)
    assert all(0 < value <= 1 for value in data["mrr"].values())
    assert set(data["mrr_easy"]) <= set(SHAPES)
    assert set(data["intervals"]["mrr"]) == set(SHAPES)
    assert data["missing"]["values"]["1"] > 0
    assert data["settings"]["train"]["shapes"] == ["1p"]
    assert data["steps"] == 6
    assert [step for _, step, _ in data["curve"]] == [3, 6]
    assert data["machine"]["cores"] >= 1
    assert {"commit", "date", "minutes", "versions"} <= set(data)


def test_rows_share_all_settings_but_those_that_they_change(finished: Path) -> None:
    first, second = load_results(finished / "results")
    assert first.settings.model == second.settings.model
    assert replace(first.settings.train, shapes=()) == replace(second.settings.train, shapes=())


def test_what_is_done_is_not_done_again(output: Path) -> None:
    before, watcher = read_bytes(output / "results"), Recorder()
    results = reproduce(small_experiment(output, "NQE-1p", "NQE"), watcher)
    assert [one.row for one in results] == ["NQE-1p", "NQE"]
    assert read_bytes(output / "results") == before
    assert [note.rpartition(": ")[2] for note in watcher.notes] == ["done before"] * 2


def test_a_row_counts_as_done_if_only_its_result_is_left(output: Path) -> None:
    shutil.rmtree(output / "runs")
    shutil.rmtree(output / "queries")
    before, watcher = read_bytes(output / "results"), Recorder()
    reproduce(small_experiment(output, "NQE-1p", "NQE"), watcher)
    assert read_bytes(output / "results") == before
    assert not (output / "runs").exists()


def test_a_run_that_is_left_is_not_trained_again_for_its_result(output: Path) -> None:
    path = output / "results" / f"{name('nqe')}.json"
    before = json.loads(path.read_text())
    path.unlink()
    watcher = Recorder()
    reproduce(small_experiment(output, "NQE"), watcher)
    after = json.loads(path.read_text())
    assert watcher.notes[0].endswith("NQE, seed 0: ranking the test queries")
    assert {key: after[key] for key in ("mrr", "mrr_easy", "curve", "queries")} == {
        key: before[key] for key in ("mrr", "mrr_easy", "curve", "queries")
    }


def test_an_interrupted_row_is_continued_where_it_was(output: Path) -> None:
    experiment = small_experiment(output, "NQE-1p", "NQE", "Logic-blind")
    with pytest.raises(KeyboardInterrupt, match="logic-blind-seed-0: interrupted and saved; cont"):
        reproduce(experiment, Recorder(last_step=4))
    run = output / "runs" / name("logic-blind")
    assert RunFolder.open(run).state.step == 4
    watcher = Recorder()
    results = reproduce(experiment, watcher)
    assert f"{len(results)} of 3: NQE, seed 0: done before" in watcher.notes[-1]
    assert any("continuing its training for 6 steps" in note for note in watcher.notes)
    straight = reproduce(small_experiment(output.parent / "straight", "Logic-blind"))
    assert [one.scores for one in results if one.row == "Logic-blind"] == [straight[0].scores]


def test_seeds_repeat_rows_on_the_same_queries(output: Path) -> None:
    results = reproduce(small_experiment(output, "NQE", seeds=2))
    assert [(one.row, one.seed) for one in results] == [("NQE", 0), ("NQE", 1)]
    assert results[0].queries == results[1].queries
    assert results[0].scores[HARD] != results[1].scores[HARD]
    assert results[1].settings.train.seed == 1


def test_every_result_is_told_as_soon_as_it_is_there(tmp_path: Path) -> None:
    counts: list[int] = []
    experiment = small_experiment(tmp_path, "NQE-1p", "NQE")
    reproduce(experiment, on_result=lambda: counts.append(len(load_results(tmp_path / "results"))))
    assert counts == [1, 2]


class TestWhatIsRefused:
    """Each is refused in one sentence, before any work, and leaves the results as they are."""

    @pytest.fixture(autouse=True)
    def _loses_nothing(self, output: Path) -> None:
        self.before = read_bytes(output / "results")

    def refuse(self, output: Path, sentence: str, *names: str, **changes: object) -> None:
        watcher = Recorder()
        with pytest.raises(NqeError) as refused:
            reproduce(small_experiment(output, *names, **changes), watcher)
        assert sentence in str(refused.value)
        assert "\n" not in str(refused.value)
        assert watcher.notes == []
        assert read_bytes(output / "results") == self.before

    def test_other_settings_than_those_of_a_result(self, output: Path) -> None:
        sentence = "nqe-seed-0.json: computed with other settings (train.steps was 6 and is 9); ch"
        self.refuse(output, sentence, preset=with_steps(9))

    def test_other_settings_than_those_of_a_run(self, output: Path) -> None:
        (output / "results" / f"{name('nqe')}.json").unlink()
        self.before = read_bytes(output / "results")
        sentence = "nqe-seed-0: begun with other settings (train.steps was 6 and is 9); choose"
        self.refuse(output, sentence, preset=with_steps(9))

    def test_queries_of_another_graph(self, output: Path) -> None:
        splits = {**TOWNS.splits, "valid": TOWNS.splits["test"]}
        other = Dataset(TOWNS.vocabulary, splits)
        self.refuse(output, "wd50k-nfol-tiny: sampled from another graph", dataset=other)

    def test_queries_with_other_settings(self, output: Path) -> None:
        preset = replace(TINY, shapes=("1p",))
        self.refuse(
            output, "wd50k-nfol-tiny: sampled with other settings (shapes is", preset=preset
        )

    def test_a_run_without_its_manifest(self, output: Path) -> None:
        (output / "runs" / name("logic-blind")).mkdir()
        sentence = "logic-blind-seed-0: no run any more, as its manifest.json is missing; restore"
        self.refuse(output, sentence, "NQE", "Logic-blind")

    def test_a_run_without_its_last_checkpoint(self, output: Path) -> None:
        (output / "results" / f"{name('nqe')}.json").unlink()
        self.before = read_bytes(output / "results")
        shutil.rmtree(output / "runs" / name("nqe") / "last")
        self.refuse(output, "nqe-seed-0/last: is missing, so the training cannot be continued; r")

    def test_a_run_that_learnt_from_other_queries(self, output: Path) -> None:
        for folder in ("queries", "results"):
            shutil.rmtree(output / folder)
        (output / "results").mkdir()
        self.before = {}
        preset = replace(TINY, counts={"wd50k-nfol": replace(TINY.counts["wd50k-nfol"], test=3)})
        self.refuse(output, "nqe-seed-0: learnt from another query set than", preset=preset)

    def test_a_damaged_result(self, output: Path) -> None:
        path = output / "results" / f"{name('nqe')}.json"
        path.write_text(path.read_text().replace('"seed": 0', '"seed": 1'))
        self.before = read_bytes(output / "results")
        self.refuse(output, "nqe-seed-0.json: damaged (its content does not fit its digest")


def test_a_budget_without_a_single_step_is_refused_and_a_longer_one_then_works(
    tmp_path: Path,
) -> None:
    short = small_experiment(tmp_path, preset=TINY.with_minutes(1e-9))
    with pytest.raises(NqeError, match="is too short for a single training step; give more time"):
        reproduce(short)
    assert list((tmp_path / "runs").iterdir()) == []
    assert reproduce(small_experiment(tmp_path))[0].training.steps == 6


def test_easy_answers_are_ranked_by_the_model_alone(finished: Path) -> None:
    assert {EASY, HARD} == set(load_results(finished / "results")[0].scores)

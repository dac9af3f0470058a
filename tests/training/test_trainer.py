"""Fitting weights: training learns, repeats for a seed, and works with all settings."""

from __future__ import annotations

import multiprocessing
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from toy_dataset import (
    StatusRecorder,
    read_values,
    same_weights,
    settings,
    town_queries,
    towns,
    weights,
)

from nqe.errors import NqeError
from nqe.graph import Dataset
from nqe.graph.pattern import OBJECT
from nqe.model import Model, NQEModel, new_model
from nqe.model.checkpoint import load
from nqe.query import SHAPES
from nqe.run_folders import BEST, LAST
from nqe.sampling import load_queries
from nqe.training import TrainingStatus, fit_weights
from nqe.training.run_folder import RunFolder
from nqe.training.validation import average_shapes, choose_validation_queries, measure_mrr

DATASET = towns()


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return town_queries(DATASET, tmp_path_factory.mktemp("towns") / "q", "1p", "2i", "2in")


def test_a_rule_is_learnt(tmp_path: Path) -> None:
    recorder = StatusRecorder()
    chosen = settings({"width": 32}, steps=800, evaluate_steps=800, batch=64, loss="full")
    trained = fit_weights(DATASET, tmp_path / "run", settings=chosen, on_step=recorder.update)
    assert np.mean(recorder.losses[-20:]) < np.mean(recorder.losses[:20]) - 1
    queries = choose_validation_queries(DATASET, None, chosen.train)
    assert queries is not None
    names = DATASET.vocabulary
    torch.manual_seed(0)
    fresh = new_model(chosen.model, len(names.entities), len(names.relations), names).eval()
    untrained = average_shapes(measure_mrr(fresh, queries))
    learnt = average_shapes(measure_mrr(load(tmp_path / "run"), queries))
    assert trained.best == pytest.approx(learnt)
    assert untrained < 0.15
    assert learnt > 0.35
    # The rule gives the language, which is the object; other slots cannot be predicted.
    objects = queries.take(np.flatnonzero(queries.plans.asked_kinds == OBJECT))
    assert average_shapes(measure_mrr(load(tmp_path / "run"), objects)) > 0.6


def test_all_shapes_can_be_trained_from_a_small_graph(tmp_path: Path) -> None:
    recorder = StatusRecorder()
    bare = Dataset(DATASET.vocabulary, {"train": DATASET.splits["train"]})
    chosen = settings(shapes=[], steps=40, batch=64)
    fit_weights(bare, tmp_path / "run", settings=chosen, on_step=recorder.update)
    assert np.mean(recorder.losses[-5:]) < np.mean(recorder.losses[:5])
    streams = RunFolder.open(tmp_path / "run").state.position.streams
    assert streams is not None
    assert set(streams) == set(SHAPES) - {"1p"}
    assert all(block or used for block, used in streams.values())


def test_the_same_seed_gives_the_same_weights_and_another_does_not(
    tmp_path: Path, queries: Path
) -> None:
    for name, seed in (("one", 3), ("two", 3), ("other", 4)):
        chosen = settings({"dropout": 0.3}, shapes=[], seed=seed, candidates=30)
        torch.rand(len(name))  # Earlier random numbers make no difference.
        fit_weights(DATASET, tmp_path / name, queries, chosen)
    assert same_weights(tmp_path / "one", tmp_path / "two")
    assert not same_weights(tmp_path / "one", tmp_path / "other")


VARIANTS: dict[str, dict[str, Any]] = {
    "one target": {"targets": "one"},
    "adamw": {"optimizer": "adamw", "weight_decay": 0.01},
    "by shape": {"batching": "by-shape"},
    "full softmax": {"loss": "full"},
    "sampled softmax": {"candidates": 20, "full_from": 1.0},
    "sampled, then full": {"candidates": 20, "full_from": 0.5},
    "cosine": {"decay": "cosine", "warm_up": 0.2},
    "no decay, no clipping": {"decay": "none", "clip": 0.0},
    "average": {"average": 0.9},
    "epochs": {"steps": None, "epochs": 15},
}


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_the_loss_falls_with_all_variants_of_training(
    tmp_path: Path, queries: Path, variant: dict[str, Any]
) -> None:
    recorder = StatusRecorder()
    chosen = settings(**{"shapes": [], "steps": 90, "evaluate_steps": 90} | variant)
    fit_weights(DATASET, tmp_path / "run", queries, chosen, on_step=recorder.update)
    assert np.mean(recorder.losses[-10:]) < 0.9 * np.mean(recorder.losses[:10])


def test_batches_of_one_shape_can_be_trained_from_a_graph(tmp_path: Path) -> None:
    chosen = settings(shapes=["1p", "2u"], batching="by-shape", steps=8)
    assert fit_weights(DATASET, tmp_path / "run", settings=chosen).steps == 8


def test_the_average_of_the_weights_is_validated_and_kept_as_the_best(tmp_path: Path) -> None:
    chosen = settings(steps=10, evaluate_steps=10, average=0.9)
    trained = fit_weights(DATASET, tmp_path / "run", settings=chosen)
    best, last = weights(tmp_path / "run", BEST), weights(tmp_path / "run", LAST)
    assert not torch.equal(best["entities.weights"], last["entities.weights"])
    tensors = RunFolder.open(tmp_path / "run").load(load(tmp_path / "run"))
    assert all(torch.equal(best[name], tensors[f"average.{name}"]) for name in best)
    queries = choose_validation_queries(DATASET, None, chosen.train)
    assert queries is not None
    mrr = average_shapes(measure_mrr(load(tmp_path / "run" / BEST), queries))
    assert trained.best == pytest.approx(mrr)


def test_an_average_follows_the_weights_by_the_formula(tmp_path: Path) -> None:
    run, averages = tmp_path / "run", []
    for steps in range(1, 5):
        chosen = settings(steps=steps, evaluate_steps=100, average=0.15)
        fit_weights(DATASET, run, settings=chosen, resume=steps > 1)
        averages.append(RunFolder.open(run).load(load(run / LAST))["average.entities.weights"])
        if steps > 1:
            part = 1 - min(0.15, steps / (9 + steps))
            expected = averages[-2].lerp(weights(run)["entities.weights"], part)
            torch.testing.assert_close(averages[-1], expected)


def test_training_stops_when_nothing_gets_better(tmp_path: Path) -> None:
    chosen = settings(steps=500, evaluate_steps=2, patience=3, rate=1e-12, decay="none")
    trained = fit_weights(DATASET, tmp_path / "run", settings=chosen)
    ranks = [mrr for _, mrr in read_values(tmp_path / "run", "mrr")]
    assert trained.steps < 500
    assert max(ranks[-3:]) <= trained.best == max(ranks)  # type: ignore[operator]
    assert trained.steps == 2 * len(ranks)
    assert fit_weights(DATASET, tmp_path / "run", resume=True).new_steps == 0
    more = replace(chosen, train=replace(chosen.train, patience=5))
    assert fit_weights(DATASET, tmp_path / "run", settings=more, resume=True).new_steps == 4


def test_a_time_budget_is_used_up_and_has_room_for_the_last_validation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    class SlowRecorder(StatusRecorder):
        """Makes each step take a second."""

        def update(self, status: TrainingStatus) -> None:
            super().update(status)
            now[0] += 1

    def slow(*_: object) -> dict[str, float]:
        now[0] += 10
        return {"1p": now[0]}

    monkeypatch.setattr("nqe.training.checkpointer.measure_mrr", slow)
    chosen = settings(steps=None, minutes=2, evaluate_steps=None, evaluate_minutes=0.5)
    recorder = SlowRecorder()
    trained = fit_weights(DATASET, tmp_path / "run", settings=chosen, on_step=recorder.update)
    assert now[0] == 120
    assert [step for step, _ in read_values(tmp_path / "run", "mrr")] == [30, 60, 90]
    assert trained.best == 120
    progress = [status.progress for status in recorder.statuses]
    assert progress == sorted(progress)
    assert 0.97 < progress[-1] < 1
    assert fit_weights(DATASET, tmp_path / "run", resume=True).new_steps == 0
    longer = replace(chosen, train=replace(chosen.train, minutes=3.0))
    fit_weights(DATASET, tmp_path / "run", settings=longer, resume=True, on_step=recorder.update)
    assert now[0] == 180


def test_a_time_budget_too_short_for_a_step_still_leaves_a_model(tmp_path: Path) -> None:
    chosen = settings(steps=None, minutes=1e-9)
    trained = fit_weights(DATASET, tmp_path / "run", settings=chosen)
    assert trained.steps == 0
    assert trained.best is not None
    assert load(tmp_path / "run").entity_count == 76


def test_the_last_step_is_validated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(model: Model, queries: Any) -> dict[str, float]:
        calls.append(model)
        return measure_mrr(model, queries)

    monkeypatch.setattr("nqe.training.checkpointer.measure_mrr", counted)
    fit_weights(DATASET, tmp_path / "run", settings=settings(steps=6, evaluate_steps=3))
    assert len(calls) == 2


def test_without_validation_queries_the_last_weights_are_the_model(tmp_path: Path) -> None:
    bare = Dataset(DATASET.vocabulary, {"train": DATASET.splits["train"]})
    trained = fit_weights(bare, tmp_path / "run", settings=settings(steps=4, evaluate_steps=2))
    assert trained.best is None
    assert not (tmp_path / "run" / BEST).exists()
    assert load(tmp_path / "run").entity_count == 76


def test_without_validation_queries_the_averaged_weights_are_the_model(tmp_path: Path) -> None:
    given = settings(average=0.9, facts="train,valid")
    fit_weights(DATASET, tmp_path / "run", settings=given)
    saved = load_file(tmp_path / "run" / LAST / "training.safetensors")
    best = weights(tmp_path / "run", BEST)
    assert all(torch.equal(saved[f"average.{name}"], one) for name, one in best.items())
    assert not all(torch.equal(weights(tmp_path / "run")[name], one) for name, one in best.items())


def test_the_metrics_contain_the_learning_rate_of_the_last_step(tmp_path: Path) -> None:
    fit_weights(DATASET, tmp_path / "run", settings=settings(steps=4, decay="linear"))
    _, rate = read_values(tmp_path / "run", "rate")[-1]
    assert rate > 0


def test_a_learning_rate_that_is_far_too_high_leaves_a_checkpoint_to_continue_from(
    tmp_path: Path,
) -> None:
    run = tmp_path / "run"
    fit_weights(DATASET, run, settings=settings(steps=3))
    wild = settings(steps=200, rate=1e38, save_steps=1, clip=0.0, warm_up=0.0, decay="none")
    with pytest.raises(NqeError, match=r"continue from it with --resume --set train\.rate=1e\+37"):
        fit_weights(DATASET, run, settings=wild, resume=True)
    assert load(run / LAST).entity_count == 76
    step = RunFolder.open(run).state.step
    assert step == 3
    assert fit_weights(DATASET, run, settings=settings(steps=step + 5), resume=True).new_steps == 5


def test_a_loss_that_is_nan_stops_training_and_leaves_the_checkpoint_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    fit_weights(DATASET, run, settings=settings(steps=6, save_steps=2))
    before = weights(run)
    real = NQEModel.compare

    def spoilt(self: NQEModel, *arguments: Any) -> Any:
        comparison = real(self, *arguments)
        return replace(comparison, queries=comparison.queries * float("nan"))

    with monkeypatch.context() as patch:
        patch.setattr(NQEModel, "compare", spoilt)
        with pytest.raises(
            NqeError,
            match=r"run: after step 6 the loss is nan, .*; step 6 was saved and is kept: cont",
        ):
            fit_weights(DATASET, run, settings=settings(steps=9), resume=True)
        message = r"after step 0 the loss is nan, .*; nothing was saved: begin again with --resume"
        with pytest.raises(NqeError, match=message):
            fit_weights(DATASET, tmp_path / "other", settings=settings(steps=9))
    assert all(torch.equal(before[name], one) for name, one in weights(run).items())


def test_a_query_set_with_an_entity_that_the_graph_lacks_is_refused(
    tmp_path: Path, queries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(folder: str, split: str) -> Any:
        table = load_queries(folder, split)
        table.easy.values[0] = 1_000
        return table

    monkeypatch.setattr("nqe.training.query_sources.load_queries", damaged)
    with pytest.raises(NqeError, match=r"train\.parquet: entity number 1000 is not one of the"):
        fit_weights(DATASET, tmp_path / "run", queries, settings(shapes=[]))
    assert not (tmp_path / "run").exists()


def test_training_works_in_a_thread(tmp_path: Path) -> None:
    thread = threading.Thread(
        target=fit_weights, args=(DATASET, tmp_path / "run"), kwargs={"settings": settings(steps=2)}
    )
    thread.start()
    thread.join()
    assert (tmp_path / "run" / LAST).is_dir()


def test_a_worker_process_that_ends_is_reported_and_training_can_be_resumed(
    tmp_path: Path,
) -> None:
    def kill_workers(status: TrainingStatus) -> None:
        if status.step == 3:
            for child in multiprocessing.active_children():
                child.kill()

    chosen = settings(shapes=["1p", "2u"], batch=600, steps=9, save_steps=1, evaluate_steps=9)
    with pytest.raises(NqeError, match=r"a process that samples queries ended, .* with --resume"):
        fit_weights(DATASET, tmp_path / "run", settings=chosen, on_step=kill_workers)
    assert fit_weights(DATASET, tmp_path / "run", resume=True).steps == 9

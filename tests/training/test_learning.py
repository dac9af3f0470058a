"""Training really learns, the same for a seed, with every way to train."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from toy_dataset import Losses, same_weights, settings, town_queries, towns, weights

from nqe.errors import NqeError
from nqe.graph import Dataset
from nqe.model import Model, NQEModel, new_model
from nqe.model.checkpoint import BEST, LAST, load
from nqe.query import SHAPES
from nqe.sampling import load_queries
from nqe.training import TrainingStatus, train
from nqe.training.run_folder import Run
from nqe.training.validation import mean_reciprocal_ranks, plain_mean, validation_of

DATASET = towns()


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return town_queries(DATASET, tmp_path_factory.mktemp("towns") / "q", "1p", "2i", "2in")


def test_a_rule_is_learnt(tmp_path: Path) -> None:
    steps_seen = Losses()
    chosen = settings({"width": 32}, steps=400, evaluate_steps=200, batch=64, loss="full")
    trained = train(DATASET, tmp_path / "run", settings=chosen, on_step=steps_seen.update)
    assert np.mean(steps_seen.losses[-20:]) < np.mean(steps_seen.losses[:20]) - 1
    queries = validation_of(DATASET, None, chosen.train)
    assert queries is not None
    names = DATASET.vocabulary
    torch.manual_seed(0)
    fresh = new_model(chosen.model, len(names.entities), len(names.relations), names).eval()
    untrained = plain_mean(mean_reciprocal_ranks(fresh, queries))
    learnt = plain_mean(mean_reciprocal_ranks(load(tmp_path / "run"), queries))
    assert trained.best == pytest.approx(learnt)
    assert untrained < 0.15
    assert learnt > 0.35
    # The rule is about the language, the object; who else speaks one, and since when, is chance.
    objects = queries.take(np.flatnonzero(queries.asked() == 1))
    assert plain_mean(mean_reciprocal_ranks(load(tmp_path / "run"), objects)) > 0.6


def test_all_shapes_train_from_a_small_graph(tmp_path: Path) -> None:
    steps_seen = Losses()
    bare = Dataset(DATASET.vocabulary, {"train": DATASET.splits["train"]})
    chosen = settings(shapes=[], steps=40, batch=64)
    train(bare, tmp_path / "run", settings=chosen, on_step=steps_seen.update)
    assert np.mean(steps_seen.losses[-5:]) < np.mean(steps_seen.losses[:5])
    streams = Run.old(tmp_path / "run").state.place.streams
    assert streams is not None
    assert set(streams) == set(SHAPES) - {"1p"}
    assert all(block or used for block, used in streams.values())


def test_the_same_seed_gives_the_same_weights_and_another_does_not(
    tmp_path: Path, queries: Path
) -> None:
    for name, seed in (("one", 3), ("two", 3), ("other", 4)):
        chosen = settings({"dropout": 0.3}, shapes=[], seed=seed, candidates=30)
        torch.rand(len(name))  # What was drawn before makes no difference.
        train(DATASET, tmp_path / name, queries, chosen)
    assert same_weights(tmp_path / "one", tmp_path / "two")
    assert not same_weights(tmp_path / "one", tmp_path / "other")


WAYS: dict[str, dict[str, Any]] = {
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


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_loss_falls_whichever_way_it_is_trained(
    tmp_path: Path, queries: Path, way: dict[str, Any]
) -> None:
    steps_seen = Losses()
    chosen = settings(**{"shapes": [], "steps": 90, "evaluate_steps": 90} | way)
    train(DATASET, tmp_path / "run", queries, chosen, on_step=steps_seen.update)
    assert np.mean(steps_seen.losses[-10:]) < 0.9 * np.mean(steps_seen.losses[:10])


def test_by_shape_trains_from_a_graph(tmp_path: Path) -> None:
    chosen = settings(shapes=["1p", "2u"], batching="by-shape", steps=8)
    assert train(DATASET, tmp_path / "run", settings=chosen).steps == 8


def test_an_average_of_the_weights_is_what_is_validated_and_kept_as_best(tmp_path: Path) -> None:
    chosen = settings(steps=10, evaluate_steps=10, average=0.9)
    trained = train(DATASET, tmp_path / "run", settings=chosen)
    best, last = weights(tmp_path / "run", BEST), weights(tmp_path / "run", LAST)
    assert not torch.equal(best["entities.weights"], last["entities.weights"])
    tensors = Run.old(tmp_path / "run").load(load(tmp_path / "run"))
    assert all(torch.equal(best[name], tensors[f"average.{name}"]) for name in best)
    queries = validation_of(DATASET, None, chosen.train)
    assert queries is not None
    mrr = plain_mean(mean_reciprocal_ranks(load(tmp_path / "run" / BEST), queries))
    assert trained.best == pytest.approx(mrr)


def test_an_average_follows_the_weights_by_the_formula(tmp_path: Path) -> None:
    run, averages = tmp_path / "run", []
    for steps in range(1, 5):
        chosen = settings(steps=steps, evaluate_steps=100, average=0.15)
        train(DATASET, run, settings=chosen, resume=steps > 1)
        averages.append(Run.old(run).load(load(run / LAST))["average.entities.weights"])
        if steps > 1:
            part = 1 - min(0.15, steps / (9 + steps))
            expected = averages[-2].lerp(weights(run)["entities.weights"], part)
            torch.testing.assert_close(averages[-1], expected)


def test_training_stops_when_nothing_gets_better(tmp_path: Path) -> None:
    chosen = settings(steps=500, evaluate_steps=2, patience=3, rate=1e-12, decay="none")
    trained = train(DATASET, tmp_path / "run", settings=chosen)
    ranks = [one["mrr"] for one in Run.old(tmp_path / "run").metrics() if "mrr" in one]
    assert trained.steps < 500
    assert max(ranks[-3:]) <= trained.best == max(ranks)  # type: ignore[operator]
    assert trained.steps == 2 * len(ranks)
    assert train(DATASET, tmp_path / "run", resume=True).new_steps == 0
    more = replace(chosen, train=replace(chosen.train, patience=5))
    assert train(DATASET, tmp_path / "run", settings=more, resume=True).new_steps == 4


def test_a_time_budget_is_used_up_and_has_room_for_the_last_validation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])

    class Clock(Losses):
        """A step takes a second."""

        def update(self, status: TrainingStatus) -> None:
            super().update(status)
            now[0] += 1

    def slow(*_: object) -> dict[str, float]:
        now[0] += 10
        return {"1p": now[0]}

    monkeypatch.setattr("nqe.training.loop.mean_reciprocal_ranks", slow)
    chosen = settings(steps=None, minutes=2, evaluate_steps=None, evaluate_minutes=0.5)
    steps_seen = Clock()
    trained = train(DATASET, tmp_path / "run", settings=chosen, on_step=steps_seen.update)
    assert now[0] == 120
    assert [one["step"] for one in Run.old(tmp_path / "run").metrics() if "mrr" in one] == [
        30,
        60,
        90,
    ]
    assert trained.best == 120
    progress = [status.progress for status in steps_seen.statuses]
    assert progress == sorted(progress)
    assert 0.97 < progress[-1] < 1
    assert train(DATASET, tmp_path / "run", resume=True).new_steps == 0
    longer = replace(chosen, train=replace(chosen.train, minutes=3.0))
    train(DATASET, tmp_path / "run", settings=longer, resume=True, on_step=steps_seen.update)
    assert now[0] == 180


def test_no_time_at_all_still_leaves_a_model(tmp_path: Path) -> None:
    chosen = settings(steps=None, minutes=1e-9)
    trained = train(DATASET, tmp_path / "run", settings=chosen)
    assert trained.steps == 0
    assert trained.best is not None
    assert load(tmp_path / "run").entity_count == 76


def test_the_last_step_is_validated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(model: Model, queries: Any) -> dict[str, float]:
        calls.append(model)
        return mean_reciprocal_ranks(model, queries)

    monkeypatch.setattr("nqe.training.loop.mean_reciprocal_ranks", counted)
    train(DATASET, tmp_path / "run", settings=settings(steps=6, evaluate_steps=3))
    assert len(calls) == 2


def test_without_anything_to_validate_on_the_last_weights_are_the_model(tmp_path: Path) -> None:
    bare = Dataset(DATASET.vocabulary, {"train": DATASET.splits["train"]})
    trained = train(bare, tmp_path / "run", settings=settings(steps=4, evaluate_steps=2))
    assert trained.best is None
    assert not (tmp_path / "run" / BEST).exists()
    assert load(tmp_path / "run").entity_count == 76


def test_without_anything_to_validate_on_the_average_is_the_model(tmp_path: Path) -> None:
    given = settings(average=0.9, facts="train,valid")
    train(DATASET, tmp_path / "run", settings=given)
    saved = load_file(tmp_path / "run" / LAST / "training.safetensors")
    best = weights(tmp_path / "run", BEST)
    assert all(torch.equal(saved[f"average.{name}"], one) for name, one in best.items())
    assert not all(torch.equal(weights(tmp_path / "run")[name], one) for name, one in best.items())


def test_the_metrics_have_the_rate_of_the_last_step(tmp_path: Path) -> None:
    train(DATASET, tmp_path / "run", settings=settings(steps=4, decay="linear"))
    rates = [one["rate"] for one in Run.old(tmp_path / "run").metrics() if "rate" in one]
    assert rates[-1] > 0


def test_a_rate_that_is_far_too_high_leaves_a_checkpoint_to_go_on_from(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(DATASET, run, settings=settings(steps=3))
    wild = settings(steps=200, rate=1e38, save_steps=1, clip=0.0, warm_up=0.0, decay="none")
    with pytest.raises(NqeError, match=r"go on from there with --resume --set train\.rate=1e\+37"):
        train(DATASET, run, settings=wild, resume=True)
    assert load(run / LAST).entity_count == 76
    step = Run.old(run).state.step
    assert step == 3
    assert train(DATASET, run, settings=settings(steps=step + 5), resume=True).new_steps == 5


def test_a_loss_that_is_no_number_stops_before_it_spoils_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    train(DATASET, run, settings=settings(steps=6, save_steps=2))
    before = weights(run)
    real = NQEModel.compare

    def spoilt(self: NQEModel, *arguments: Any) -> Any:
        comparison = real(self, *arguments)
        return replace(comparison, queries=comparison.queries * float("nan"))

    with monkeypatch.context() as patch:
        patch.setattr(NQEModel, "compare", spoilt)
        with pytest.raises(
            NqeError,
            match=r"run: after step 6 the loss is nan, .*; step 6 was saved and is kept: go on",
        ):
            train(DATASET, run, settings=settings(steps=9), resume=True)
        complaint = (
            r"after step 0 the loss is nan, .*; nothing was saved: begin again with --resume"
        )
        with pytest.raises(NqeError, match=complaint):
            train(DATASET, tmp_path / "other", settings=settings(steps=9))
    assert all(torch.equal(before[name], one) for name, one in weights(run).items())


def test_a_query_set_with_a_number_too_high_is_refused(
    tmp_path: Path, queries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(folder: str, split: str) -> Any:
        table = load_queries(folder, split)
        table.easy.values[0] = 1_000
        return table

    monkeypatch.setattr("nqe.training.query_sources.load_queries", damaged)
    with pytest.raises(NqeError, match=r"train\.parquet: entity number 1000 is not one of the"):
        train(DATASET, tmp_path / "run", queries, settings(shapes=[]))
    assert not (tmp_path / "run").exists()

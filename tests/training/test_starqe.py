"""Training StarQE: it learns, repeats, and refuses at the start what it cannot express."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from toy_dataset import same_weights, town_queries, towns, weights

from nqe.errors import NqeError
from nqe.model import StarQEModel, load, new_model
from nqe.run_folders import BEST
from nqe.sampling import load_queries, sample, save_queries
from nqe.settings import RunSettings, SamplingSettings, build_run_settings
from nqe.training import TrainingStatus, fit_weights
from nqe.training.validation import measure_mrr

DATASET = towns()
SHAPES = ("1p", "2p", "2i", "pi")
MODEL = {"kind": "starqe", "width": 32, "dropout": 0.1}
TRAIN = {"batch": 64, "steps": 12, "evaluate_steps": 6, "rate": 1e-2}


class Crash(BaseException):
    """Ends a training abruptly, like a power cut."""


def crash_at_seven(status: TrainingStatus) -> None:
    if status.step == 7:
        raise Crash


def starqe_settings(**train: Any) -> RunSettings:
    return build_run_settings({"model": MODEL, "train": TRAIN | train})


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Conjunctive queries that ask for objects, as those of WD50K-QE."""
    folder = tmp_path_factory.mktemp("starqe") / "q"
    drawn = SamplingSettings(shapes=SHAPES, slots=("object",), train=100, valid=20, test=0)
    save_queries(sample(DATASET, drawn, workers=1), folder)
    return folder


def test_all_conjunctive_shapes_are_learnt_far_above_chance(tmp_path: Path, queries: Path) -> None:
    chosen = starqe_settings(steps=150, evaluate_steps=150)
    trained = fit_weights(DATASET, tmp_path / "run", queries, chosen)
    valid, names = load_queries(queries, "valid"), DATASET.vocabulary
    assert set(valid.shape) == set(SHAPES)
    torch.manual_seed(0)
    fresh = new_model(chosen.model, len(names.entities), len(names.relations), names)
    untrained, model = measure_mrr(fresh, valid), load(tmp_path / "run")
    assert isinstance(model, StarQEModel)
    learnt = measure_mrr(model, valid)
    assert trained.best == pytest.approx(sum(learnt.values()) / len(learnt))
    assert all(mrr < 0.25 for mrr in untrained.values())
    assert all(mrr > 0.5 for mrr in learnt.values()), learnt


def test_saving_and_validating_change_nothing(tmp_path: Path, queries: Path) -> None:
    for name, often in (("seldom", {}), ("often", {"save_steps": 1, "evaluate_steps": 2})):
        fit_weights(DATASET, tmp_path / name, queries, starqe_settings(**often))
    seldom, often_saved = weights(tmp_path / "seldom"), weights(tmp_path / "often")
    assert any("running_mean" in name for name in seldom)
    assert all(torch.equal(seldom[name], often_saved[name]) for name in seldom)


def test_a_resumed_run_ends_with_the_same_weights(tmp_path: Path, queries: Path) -> None:
    chosen = starqe_settings(average=0.9, save_steps=4)
    fit_weights(DATASET, tmp_path / "whole", queries, chosen)
    with pytest.raises(Crash):
        fit_weights(DATASET, tmp_path / "run", queries, chosen, on_step=crash_at_seven)
    fit_weights(DATASET, tmp_path / "run", resume=True)
    assert same_weights(tmp_path / "run", tmp_path / "whole")


def test_the_average_has_the_running_means_of_a_batch_norm_too(
    tmp_path: Path, queries: Path
) -> None:
    fit_weights(DATASET, tmp_path / "run", queries, starqe_settings(average=0.9))
    best, last = weights(tmp_path / "run", BEST), weights(tmp_path / "run")
    for name in ("layers.0.norm.running_mean", "layers.0.norm.running_var"):
        assert not torch.equal(best[name], last[name])
        torch.testing.assert_close(best[name], last[name], atol=0.2, rtol=0.2)
    assert best["layers.0.norm.num_batches_tracked"] > 0


def test_a_graph_alone_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(NqeError, match=r"graph alone asks for every slot.*; sample queries that"):
        fit_weights(DATASET, tmp_path / "run", settings=starqe_settings(shapes=["1p", "2i"]))
    assert not (tmp_path / "run").exists()


REFUSED = {
    "all shapes": ((), "an `or` (2u), or a `not` (2in)"),
    "values": (("1p",), "a qualifier whose value is a variable or asked for (1p)"),
}


@pytest.mark.parametrize(("shapes", "what"), REFUSED.values(), ids=REFUSED)
def test_queries_that_it_cannot_express_are_named_before_anything_is_written(
    tmp_path: Path, shapes: tuple[str, ...], what: str
) -> None:
    mixed = town_queries(DATASET, tmp_path / "q", *(shapes or ("2u", "2i", "2in")), train=30)
    with pytest.raises(NqeError) as caught:
        fit_weights(DATASET, tmp_path / "run", mixed, starqe_settings())
    assert what in str(caught.value)
    assert "; choose other shapes or queries, or train a model of the kind 'nqe'" in str(
        caught.value
    )
    assert not (tmp_path / "run").exists()


def test_some_shapes_of_a_query_set_are_enough(tmp_path: Path) -> None:
    folder = tmp_path / "q"
    drawn = SamplingSettings(shapes=("1p", "2u"), slots=("object",), train=20, valid=10, test=0)
    save_queries(sample(DATASET, drawn, workers=1), folder)
    chosen = starqe_settings(shapes=["1p"], steps=2)
    assert fit_weights(DATASET, tmp_path / "run", folder, chosen).steps == 2


def test_validation_queries_are_looked_at_before_training(tmp_path: Path, queries: Path) -> None:
    drawn = SamplingSettings(shapes=("1p", "2u"), train=0, valid=10, test=0)
    parts = sample(DATASET, drawn, workers=1)
    trainable = load_queries(queries, "train")
    splits = {**parts.splits, "train": trainable}
    save_queries(replace(parts, splits=splits), tmp_path / "q")
    with pytest.raises(NqeError, match="cannot express an `or`"):
        fit_weights(DATASET, tmp_path / "run", tmp_path / "q", starqe_settings())
    assert not (tmp_path / "run").exists()

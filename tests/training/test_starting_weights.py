"""Starting weights: a training that begins with those of an earlier model."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from toy_dataset import settings, towns, weights

from nqe.errors import NqeError
from nqe.graph import Dataset, Fact
from nqe.model.checkpoint import load
from nqe.run_folders import LAST, RUN
from nqe.training import fit_weights

DATASET = towns()
# So low that one step hardly changes a weight.
STILL = {"rate": 1e-9, "steps": 1, "evaluate_steps": 1}


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("earlier") / "run"
    fit_weights(DATASET, run, settings=settings())
    return run


def test_a_training_begins_with_the_best_weights_of_the_earlier_run(
    earlier: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    fit_weights(DATASET, run, settings=settings(**STILL), start=earlier)
    begun, best = weights(run), load(earlier, "cpu").state_dict()
    assert all(torch.allclose(begun[name], best[name], atol=1e-6) for name in best)
    other = tmp_path / "other"
    fit_weights(DATASET, other, settings=settings(**STILL))
    assert not all(torch.allclose(weights(other)[name], best[name], atol=1e-6) for name in best)


def test_facts_of_other_splits_and_another_dropout_are_allowed(
    earlier: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    changed = settings({"dropout": 0.5}, **STILL, facts="train,valid")
    fit_weights(DATASET, run, settings=changed, start=earlier / LAST)
    manifest = RUN.read_manifest(run)
    assert manifest["trained_on"] == "train,valid"
    assert manifest["started_from"] == str(earlier / LAST)


def test_a_run_that_began_with_earlier_weights_can_be_resumed(
    earlier: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    fit_weights(DATASET, run, settings=settings(**STILL), start=earlier)
    resumed = fit_weights(DATASET, run, settings=settings(), resume=True)
    assert resumed.steps == settings().train.steps


def test_a_model_of_other_sizes_is_refused(earlier: Path, tmp_path: Path) -> None:
    with pytest.raises(NqeError, match=r"run: its model has other sizes or parts .* leave out"):
        fit_weights(DATASET, tmp_path / "run", settings=settings({"width": 8}), start=earlier)
    assert not (tmp_path / "run").exists()


def test_a_model_of_other_names_is_refused(earlier: Path, tmp_path: Path) -> None:
    facts = [Fact("a", "p", f"b{number}") for number in range(4)]
    other = Dataset.of({"train": facts})
    with pytest.raises(NqeError, match="trained on other entities or relations"):
        fit_weights(other, tmp_path / "run", settings=settings(), start=earlier)
    assert not (tmp_path / "run").exists()


def test_a_resumed_run_takes_no_other_weights(earlier: Path) -> None:
    with pytest.raises(NqeError, match="leave out --start-from"):
        fit_weights(DATASET, earlier, settings=settings(), resume=True, start=earlier)


def test_a_start_that_is_not_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NqeError, match="nowhere"):
        fit_weights(DATASET, tmp_path / "run", settings=settings(), start=tmp_path / "nowhere")
    assert not (tmp_path / "run").exists()

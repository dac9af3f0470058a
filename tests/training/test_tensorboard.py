"""TensorBoard event files: losses, scores and entity vectors of a run."""

from __future__ import annotations

import builtins
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answering_cases import untrained
from toy_dataset import read_scalars, read_values, settings, town_queries, towns

from nqe.graph import Dataset, Description, Fact
from nqe.run_folders import BEST
from nqe.training import fit_weights
from nqe.training.tensorboard import TensorBoard

DATASET = towns()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tensorboard")
    queries = town_queries(DATASET, folder / "q", "1p", "2i")
    fit_weights(DATASET, folder / "run", queries, settings(shapes=["1p", "2i"]))
    return folder / "run"


def test_tensorboard_shows_losses_scores_by_shape_and_rates(run: Path) -> None:
    values = read_scalars(run)
    assert set(values) == {
        "train/loss",
        "train/rate",
        "train/queries_per_second",
        "valid/mrr",
        "valid/1p",
        "valid/2i",
    }
    written = read_values(run, "loss")
    assert [step for step, _ in written] == [step for step, _ in values["train/loss"]]
    for (_, loss), (_, shown) in zip(written, values["train/loss"], strict=True):
        assert math.isclose(loss, shown, rel_tol=1e-6)


def test_the_projector_shows_the_most_frequent_entities(run: Path) -> None:
    folder = run / "tensorboard"
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


def test_nothing_is_written_if_tensorboard_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def import_without_tensorboard(name: str, *rest: Any) -> Any:
        if name.startswith("tensorboard"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", import_without_tensorboard)
    fit_weights(DATASET, tmp_path / "run", settings=settings(steps=2))
    assert not (tmp_path / "run" / "tensorboard").exists()
    assert (tmp_path / "run" / BEST).is_dir()


def test_any_label_is_one_row_of_the_projector(tmp_path: Path) -> None:
    labels = {"a": "two\tcells\nor\x1b lines\u2028", "b": "\ud800"}
    described = {name: Description(label) for name, label in labels.items()}
    graph = Dataset.of({"train": [Fact("a", "r", "b")]}).describe(described).graph
    with TensorBoard(tmp_path) as board:
        board.add_entities(untrained(graph.vocabulary), graph)
    text = (tmp_path / "tensorboard" / "entities" / "metadata.tsv").read_text(encoding="utf-8")
    assert text == "two\\tcells\\nor\\x1b lines\\u2028\n\\ud800\n"

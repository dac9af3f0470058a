"""The table of model kinds: building a model by its kind, and using a kind of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from bag_model import BagModel
from small_models import small_settings

import nqe
from nqe.errors import NqeError
from nqe.graph import Dataset, Fact
from nqe.model import MODELS, EmbeddingRunner, NQEModel, load, new_model
from nqe.settings import ModelSettings, RunSettings, TrainSettings


def test_the_default_kind_is_nqe() -> None:
    assert ModelSettings().kind == "nqe"
    assert type(new_model(small_settings(), 3, 2)) is NQEModel


def test_the_vocabulary_is_passed_on() -> None:
    names = Dataset.of({"train": [Fact("a", "r", "b")]}).vocabulary
    model = new_model(small_settings(), len(names.entities), len(names.relations), names)
    assert model.vocabulary is names


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(NqeError, match="unknown kind of model 'bag'; choose one of nqe"):
        new_model(small_settings(kind="bag"), 3, 2)


def test_a_kind_of_ones_own_is_trained_saved_evaluated_and_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MODELS, "bag", BagModel)
    roads = [Fact(f"town{n}", "road", f"town{n + 1}", (("since", f"{n}"),)) for n in range(20)]
    dataset = Dataset.of({"train": roads[:16], "valid": roads[16:18], "test": roads[18:]})
    settings = RunSettings(
        small_settings(kind="bag"), TrainSettings(shapes=("1p", "2p"), batch=16, steps=4)
    )
    trained = nqe.train(dataset, tmp_path / "run", settings=settings)
    model = load(trained.folder)
    assert isinstance(model, BagModel)
    nqe.predict_links(EmbeddingRunner(model), dataset)
    answerer = nqe.Answerer(dataset, model)
    for mode in ("embedding", "hybrid"):
        assert len(answerer.answer("?x: road(?x, town3) and not road(town1, ?x)", mode, top=3)) == 3

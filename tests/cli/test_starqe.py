"""StarQE by the commands: it is sampled for, trained, evaluated and asked as any other model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import files, nqe_here, told, well
from toy_dataset import towns

import nqe
from nqe.model import StarQEModel

SMALL = ("--set", "model.width=16", "--set", "train.steps=30", "--set", "train.batch=64")
RELATIONS = ("--set", "train.relation_share=0.1")
STARQE = ("--set", "model.kind=starqe", *SMALL)
QUESTION = "?x: speaks(person3, ?x) and speaks(person9, ?x)"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a graph, queries for objects, queries of all sorts, and a run."""
    place = tmp_path_factory.mktemp("starqe")
    towns().save(place / "towns.graph")
    counts = ("--train", "60", "--valid", "10", "--test", "10", "--workers", "1")
    objects = ("--slots", "object", "--shape", "1p", "--shape", "2i")
    well(nqe_here("sample", "towns.graph", "-o", "objects", *objects, *counts, cwd=place))
    sorts = ("--shape", "1p", "--shape", "2u", "--shape", "2in")
    well(nqe_here("sample", "towns.graph", "-o", "sorts", *sorts, *counts, cwd=place))
    trained = nqe_here("train", "towns.graph", "objects", "-o", "run", *STARQE, cwd=place)
    assert "run: 30 steps in" in well(trained)
    assert "note: not calibrated: hybrid answers ask the model about every slot" in trained.err
    return place


def test_a_run_is_evaluated_loaded_and_checked(place: Path) -> None:
    out = well(nqe_here("evaluate", "run", "objects", "--json", cwd=place))
    assert set(json.loads(out)["by_shape"]) == {"1p", "2i"}
    assert "are as nqe wrote them" in well(nqe_here("check", "run", cwd=place))
    model = nqe.load(place / "run", "cpu")
    assert isinstance(model, StarQEModel)
    assert (
        model.settings.kind
        == json.loads((place / "run/best/config.json").read_text())["model"]["kind"]
    )


def test_it_answers_in_the_mode_embedding(place: Path) -> None:
    words = ("ask", "run", QUESTION, "--mode", "embedding", "--top", "3", "--json")
    answers = json.loads(well(nqe_here(*words, cwd=place)))["answers"]
    assert len(answers) == 3
    assert 0 < sum(one["score"] for one in answers) <= 1


REFUSED = {
    "a graph alone": (
        ("train", "towns.graph", "-o", "new", *STARQE),
        "training on a graph alone asks for every slot of facts, which a model of the kind",
    ),
    "queries of other shapes": (
        ("train", "towns.graph", "sorts", "-o", "new", *STARQE),
        "a model of the kind 'starqe' cannot express an `or` (2u), or a `not` (2in), or a",
    ),
    "a setting of another kind": (
        ("train", "towns.graph", "objects", "-o", "new", *STARQE, "--set", "model.heads=2"),
        "setting model.heads is 2, but a model of the kind 'starqe' has no",
    ),
    "relations": (
        ("train", "towns.graph", "objects", "-o", "new", *STARQE, *RELATIONS),
        "setting model.predict_relations is True, but a model of the kind 'starqe' has no such",
    ),
    "evaluating other shapes": (
        ("evaluate", "run", "sorts", "--shapes", "2u,2in"),
        "a model of the kind 'starqe' cannot express an `or` (2u), or a `not` (2in)",
    ),
    "predicting links in qualifiers": (
        ("evaluate", "run", "towns.graph", "--link-prediction"),
        "a model of the kind 'starqe' cannot express a qualifier whose value is a variable or",
    ),
    "a hybrid evaluation": (
        ("evaluate", "run", "objects", "--mode", "hybrid"),
        "hybrid answers ask the model about every slot of single facts, which one of the kind",
    ),
    "a hybrid answer": (
        ("ask", "run", QUESTION),
        "hybrid answers ask the model about every slot of single facts, which one of the kind",
    ),
    "an explanation": (
        ("explain", "run", QUESTION),
        "hybrid answers ask the model about every slot of single facts, which one of the kind",
    ),
    "a negation": (
        ("ask", "run", f"{QUESTION} and not speaks(person1, ?x)", "--mode", "embedding"),
        "a model of the kind 'starqe' cannot express a `not`; ask without it, or train",
    ),
    "a calibration": (
        ("calibrate", "run"),
        "hybrid answers ask the model about every slot of single facts, which one of the kind",
    ),
}


@pytest.mark.parametrize(("words", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_it_cannot_do_is_one_sentence(
    place: Path, words: tuple[str, ...], sentence: str
) -> None:
    before = files(place)
    assert told(nqe_here(*words, cwd=place)).startswith(sentence)
    assert files(place) == before


def test_a_question_it_cannot_express_does_not_spoil_others(place: Path) -> None:
    answerer = nqe.open(place / "run", graph=place / "towns.graph")
    request = nqe.Request(QUESTION, "embedding")
    refused = nqe.Request("?x: not speaks(person1, ?x)", "embedding")
    answers, error = answerer.answer_many([request, refused])
    assert len(answers) == 10
    assert "cannot express a `not`" in str(error)

"""Settings: files, assignments, defaults, and values that are refused."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nqe.errors import NqeError
from nqe.settings import (
    BATCHINGS,
    DECAYS,
    HETEROGENEITIES,
    ModelSettings,
    RunSettings,
    SamplingSettings,
    TrainSettings,
    build_run_settings,
    parse_assignment,
    read_settings,
    split_list,
)

FILE = """
[model]
width = 64
logic = "godel"

[train]
shapes = ["1p", "P(P(), P())"]
rate = 1
minutes = 2.5
autocast = true
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "run.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_sets_what_it_names_and_leaves_the_rest(tmp_path: Path) -> None:
    settings = read_settings(written(tmp_path, FILE))
    assert settings.model == ModelSettings(width=64, logic="godel")
    expected = TrainSettings(shapes=("1p", "P(P(), P())"), rate=1.0, minutes=2.5, autocast=True)
    assert settings.train == expected
    assert isinstance(settings.train.rate, float)


def test_a_file_changes_a_base_and_an_empty_one_changes_nothing(tmp_path: Path) -> None:
    base = RunSettings(ModelSettings(width=8, heads=2), TrainSettings(seed=5))
    assert read_settings(written(tmp_path, ""), base) == base
    settings = read_settings(written(tmp_path, "[train]\nrate = 0.5"), base)
    assert settings.model is base.model
    assert (settings.train.seed, settings.train.rate) == (5, 0.5)
    assert build_run_settings({}) == RunSettings()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[modle]\nwidth = 8", "unknown section 'modle'; choose one of model, train"),
        ("[model]\nwidht = 8", "unknown setting 'model.widht'; did you mean model.width?"),
        ("[train]\nlearning_speed = 8", "unknown setting 'train.learning_speed'; see `train` in"),
        ("model = 3", "model is a section, not a value; write [model] above it"),
        ("[model]\nwidth = '64'", "setting model.width is '64'; give a whole number"),
        ("[model]\nwidth = 64.0", "setting model.width is 64.0; give a whole number"),
        ("[model]\nwidth = true", "setting model.width is True; give a whole number"),
        ("[train]\nrate = 'fast'", "setting train.rate is 'fast'; give a number"),
        ("[train]\nrate = false", "setting train.rate is False; give a number"),
        ("[train]\nautocast = 1", "setting train.autocast is 1; give true or false"),
        ("[train]\nshapes = 1", "setting train.shapes is 1; give a list of names"),
        ("[train]\nfacts = ['train']", "setting train.facts is ['train']; give text"),
        ("[train]\nsteps = 'all'", "setting train.steps is 'all'; give a whole number"),
        ("[model\nwidth = 8", "not a TOML file"),
        ("[model]\nwidth = 7\nheads = 2", "setting model.width is 7, which 2 heads cannot share"),
    ],
)
def test_a_wrong_file_is_reported_in_one_sentence(text: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, text)
    with pytest.raises(NqeError) as caught:
        read_settings(path)
    (sentence,) = str(caught.value).splitlines()
    assert message in sentence
    assert "; " in sentence


@pytest.mark.parametrize("content", [b"\xff\xfe", None], ids=["not text", "a folder"])
def test_a_path_that_is_not_a_text_file_is_reported(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "thing"
    path.mkdir() if content is None else path.write_bytes(content)
    with pytest.raises(NqeError, match="thing: not a TOML file"):
        read_settings(path)
    with pytest.raises(NqeError, match="nothing: no such file; name a TOML file of settings"):
        read_settings(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("train.rate=1e-3", 1e-3),
        ("train.rate = 5", 5),
        ("train.steps=1_000", 1000),
        ("train.autocast=true", True),
        ("model.logic=godel", "godel"),
        ("model.logic='godel'", "godel"),
        ("train.facts=train,valid", "train,valid"),
        ("train.shapes=1p,2p", "1p,2p"),
        ('train.shapes=["1p", "2p"]', ["1p", "2p"]),
        ("train.shapes=P(P(),P()),1p", "P(P(),P()),1p"),
        ("train.device= cpu ", "cpu"),
        ("train.facts=a=b", "a=b"),
        ("train.facts=", ""),
    ],
)
def test_an_assignment_is_read_as_toml_or_else_as_text(text: str, value: object) -> None:
    ((section, given_values),) = parse_assignment(text).items()
    ((name, found),) = given_values.items()
    assert f"{section}.{name}" == text.partition("=")[0].strip()
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", ["", "train", "train.rate", "rate=1", "=1", ".rate=1", "train.=1"])
def test_a_text_that_is_not_an_assignment_is_reported(text: str) -> None:
    with pytest.raises(NqeError, match=r"write section\.name=value, as"):
        parse_assignment(text)


def test_assignments_reach_the_settings() -> None:
    settings = build_run_settings(parse_assignment("train.shapes=P(P(),P()),1p"), "--set")
    assert settings.train.shapes == ("P(P(),P())", "1p")
    settings = build_run_settings(parse_assignment("train.rate=1"), "--set", settings)
    assert settings.train == TrainSettings(shapes=("P(P(),P())", "1p"), rate=1.0)
    with pytest.raises(NqeError, match=r"--set: unknown setting 'train\.ratte'; did you mean"):
        build_run_settings(parse_assignment("train.ratte=1"), "--set")


STARQE = {"kind": "starqe"}


def test_starqe_needs_no_heads_to_share_its_width() -> None:
    settings = build_run_settings({"model": STARQE | {"width": 10, "layers": 2, "dropout": 0.3}})
    assert (settings.model.kind, settings.model.width) == ("starqe", 10)
    assert build_run_settings(settings.to_json()) == settings


@pytest.mark.parametrize(
    ("model", "train", "sentence"),
    [
        ({"heads": 2}, {}, "model.heads is 2, but a model of the kind 'starqe' has no such"),
        ({"logic": "mean"}, {}, "model.logic is 'mean', but a model of the kind 'starqe' has"),
        ({"context": 4}, {}, "model.context is 4, but a model of the kind 'starqe' has no such"),
        ({}, {"relation_share": 0.1}, "has no such setting; set train.relation_share to 0"),
        ({"width": 7}, {}, "model.width is 7, but vectors of the kind 'starqe' are of complex"),
    ],
)
def test_what_starqe_does_not_have_is_refused_rather_than_ignored(
    model: dict[str, Any], train: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(NqeError) as caught:
        build_run_settings({"model": STARQE | model, "train": train})
    assert sentence in str(caught.value)
    assert "; " in str(caught.value)


positive = st.floats(1e-9, 1e9)
part = st.floats(0, 1, exclude_max=True)
count = st.integers(1, 10**9)
run = st.builds(
    RunSettings,
    st.builds(
        ModelSettings,
        width=st.integers(1, 99).map(lambda n: 4 * n),
        dropout=part,
        heterogeneity=st.sampled_from(HETEROGENEITIES),
        score=st.sampled_from(["centred", "dot"]),
        temperature=positive,
    ),
    st.builds(
        TrainSettings,
        shapes=st.lists(st.sampled_from(["1p", "And(P(), Not(P()))", '"quoted"'])).map(tuple),
        batching=st.sampled_from(BATCHINGS),
        decay=st.sampled_from(DECAYS),
        rate=positive,
        smoothing=part,
        steps=st.none() | count,
        minutes=st.none() | positive,
        patience=st.none() | count,
        autocast=st.booleans(),
        seed=st.integers(0, 2**40),
    ),
)


@given(settings=run)
def test_settings_are_read_as_they_are_written(settings: RunSettings) -> None:
    assert build_run_settings(tomllib.loads(settings.to_toml())) == settings
    assert build_run_settings(settings.to_json()) == settings


def test_the_defaults_written_out_name_every_setting_that_has_one() -> None:
    written_out = tomllib.loads(RunSettings().to_toml())
    for section, of_section in (("model", ModelSettings()), ("train", TrainSettings())):
        named = {
            one.name for one in fields(of_section) if getattr(of_section, one.name) is not None
        }
        assert set(written_out[section]) == named


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ()),
        ("1p", ("1p",)),
        ("1p,2p", ("1p", "2p")),
        (" 1p , 2p ,, ", ("1p", "2p")),
        ("P(P(),P()),1p", ("P(P(),P())", "1p")),
        ("And(P(P(), P()), Not(P())), up", ("And(P(P(), P()), Not(P()))", "up")),
    ],
)
def test_a_list_is_split_at_commas_outside_brackets(text: str, parts: tuple[str, ...]) -> None:
    assert split_list(text) == parts


trees = st.recursive(
    st.sampled_from(["P()", "1p", "2in"]),
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(
        lambda some: f"And({','.join(some)})"
    ),
    max_leaves=6,
)


@given(parts=st.lists(trees, max_size=5))
def test_trees_joined_by_commas_come_apart_again(parts: list[str]) -> None:
    assert split_list(",".join(parts)) == tuple(parts)


NAN, INFINITY = float("nan"), float("inf")
WRONG: dict[type, list[tuple[str, Any]]] = {
    ModelSettings: [
        *((name, 0) for name in ("width", "layers", "heads", "feed_forward")),
        ("temperature", 0.0),
        ("steepness", -1.0),
        ("steepness", NAN),
        ("dropout", 1.5),
        ("dropout", -0.1),
        ("heterogeneity", "none"),
    ],
    TrainSettings: [
        *((name, 0) for name in ("batch", "candidates", "epochs", "valid_queries", "workers")),
        *((name, 0) for name in ("steps", "evaluate_steps", "patience", "save_steps")),
        *((name, 1.01) for name in ("open_share", "answers_power", "one_hop_share")),
        *((name, 1.01) for name in ("full_from", "warm_up")),
        ("smoothing", -0.1),
        ("average", NAN),
        ("rate", 0.0),
        ("rate", NAN),
        ("minutes", -1.0),
        ("evaluate_minutes", 0.0),
        ("clip", -1.0),
        ("weight_decay", -0.5),
        *((name, "?") for name in ("batching", "targets", "loss", "optimizer", "decay", "device")),
    ],
    SamplingSettings: [
        ("match", "some"),
        ("draw", "entity"),
        ("balance", "all"),
        ("slots", ("subject", "verb")),
        ("train", -1),
        ("qualifiers", -1),
        ("max_answers", 0),
        ("train_answers", 0),
    ],
}
CASES = [(kind, name, value) for kind, wrong in WRONG.items() for name, value in wrong]


@pytest.mark.parametrize(("kind", "name", "value"), CASES, ids=lambda one: str(one)[-40:])
def test_a_value_out_of_range_is_refused_by_name(kind: type, name: str, value: object) -> None:
    with pytest.raises(NqeError) as caught:
        kind(**{name: value})
    assert name in str(caught.value)
    assert "; " in str(caught.value)

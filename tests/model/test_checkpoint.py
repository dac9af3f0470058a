"""Checkpoints: loading gives back what was saved, damage is reported, writes are complete."""

from __future__ import annotations

import json
import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from helpers import files
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from small_models import HETEROGENEITIES, small_model, small_settings
from tampering import sign_again

from nqe.errors import NqeError, StorageError
from nqe.graph import Dataset, Description, Fact
from nqe.model import Model, checkpoint, from_pretrained, load, save_pretrained
from nqe.model.checkpoint import Card
from nqe.run_folders import RUN, checkpoint_of, run_manifest
from nqe.settings import RunSettings, to_json
from nqe.training.run_folder import RunFolder

FACTS = [Fact(f"e{n}", f"r{n % 5}", f"e{n + 1}", (("r0", "e3"),)) for n in range(11)]
DATASET = Dataset.of({"train": FACTS}).describe({"e1": Description("One", "a number", ("uno",))})


def model_with_names(**settings: Any) -> Model:
    """A small model with the vocabulary of the data set above, which has the right size."""
    model = small_model(**settings)
    model.vocabulary = DATASET.vocabulary
    return model


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    save_pretrained(model_with_names(), tmp_path / "model", Card(step=3))
    return tmp_path / "model"


@pytest.mark.parametrize("score", ["centred", "dot"])
@pytest.mark.parametrize("kind", HETEROGENEITIES)
def test_a_model_is_loaded_bit_for_bit_with_its_settings_and_vocabulary(
    kind: str, score: str, tmp_path: Path
) -> None:
    model = model_with_names(heterogeneity=kind, score=score, logic="godel", steepness=3.0)
    save_pretrained(model, tmp_path / "model")
    loaded = from_pretrained(tmp_path / "model", "cpu")
    assert loaded.settings == model.settings
    assert loaded.vocabulary == DATASET.vocabulary
    assert not loaded.training
    mine, theirs = model.state_dict(), loaded.state_dict()
    assert mine.keys() == theirs.keys()
    for name, weights in mine.items():
        assert torch.equal(weights, theirs[name]), name


@pytest.mark.parametrize("version", [1, 2, 3, 4, 6])
def test_a_checkpoint_of_another_version_is_refused(saved: Path, version: int) -> None:
    config_with(version=version)(saved)
    sentence = f"format version {version}, but this nqe reads 5; train the model again"
    with pytest.raises(StorageError, match=sentence):
        from_pretrained(saved, "cpu")


def test_roles_that_share_a_map_share_it_after_loading(tmp_path: Path) -> None:
    save_pretrained(small_model(heterogeneity="edge"), tmp_path / "model")
    layer = from_pretrained(tmp_path / "model", "cpu").encoder.layers[0]
    assert layer.relation_maps is layer.entity_maps


def test_a_model_without_a_vocabulary_is_loaded_without_one(tmp_path: Path) -> None:
    save_pretrained(small_model(), tmp_path / "model")
    assert from_pretrained(tmp_path / "model", "cpu").vocabulary is None
    assert files(tmp_path / "model") == ["README.md", "config.json", "model.safetensors"]


def test_the_config_holds_format_version_settings_and_the_origin_of_the_model(
    tmp_path: Path,
) -> None:
    card = Card("data/atlas", "f00d", "train", 7, {"1p": 0.25, "2i": 0.5}, "beef")
    save_pretrained(model_with_names(), tmp_path / "model", card)
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert (config["format"], config["version"]) == ("nqe-checkpoint", 5)
    assert config["written_by"].startswith("nqe ")
    assert config["model"] == to_json(small_settings())
    assert config["model"]["kind"] == "nqe"
    assert (config["entity_count"], config["relation_count"]) == (12, 5)
    assert {name: config[name] for name in vars(card)} == vars(card)
    readme = (tmp_path / "model" / "README.md").read_text()
    for part in ("train of data/atlas", "f00d", "step: 7", "| 1p | 0.2500 |", "- logic: product"):
        assert part in readme


def test_the_readme_shows_names_literally_and_the_config_holds_them(tmp_path: Path) -> None:
    card = Card("a\n# b\x1b[31m<i>", None, "train", scores={"1|p": 0.25})
    save_pretrained(small_model(), tmp_path / "model", card)
    readme = (tmp_path / "model" / "README.md").read_text()
    assert r"- trained on: train of a\\n# b\\x1b\[31m\<i\>" in readme.splitlines()
    assert r"| 1\|p | 0.2500 |" in readme.splitlines()
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    assert config["dataset"] == card.dataset


def test_a_checkpoint_can_hold_additional_files(tmp_path: Path) -> None:
    moments = {"a": torch.arange(6).view(2, 3).T, "b": torch.zeros(0)}
    save_pretrained(
        small_model(), tmp_path / "model", None, {"more.safetensors": moments}, {"state": "7\n"}
    )
    assert (tmp_path / "model" / "state").read_text() == "7\n"
    loaded = load_file(tmp_path / "model" / "more.safetensors")
    assert torch.equal(loaded["a"], moments["a"])
    assert loaded["b"].shape == (0,)


def test_a_checkpoint_replaces_an_older_one_but_no_other_files(saved: Path, tmp_path: Path) -> None:
    save_pretrained(small_model(seed=1), saved)
    assert from_pretrained(saved, "cpu").vocabulary is None
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.png").touch()
    with pytest.raises(StorageError, match="photos: the folder holds other files; choose another"):
        save_pretrained(small_model(), tmp_path / "photos")
    assert files(tmp_path / "photos") == ["cat.png"]


def truncate(name: str) -> Callable[[Path], None]:
    """Damage: remove the second half of a file."""

    def damage(folder: Path) -> None:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // 2])

    return damage


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def config_with(**values: Any) -> Callable[[Path], None]:
    """Damage: change values in the config, and its digest; None removes one."""

    def damage(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text()) | values
        config = {name: value for name, value in config.items() if value is not None}
        (folder / "config.json").write_text(json.dumps(config))
        sign_again(folder)

    return damage


def weights_of_another(folder: Path) -> None:
    save_pretrained(small_model(width=16, layers=1), folder.parent / "other")
    (folder.parent / "other" / "model.safetensors").replace(folder / "model.safetensors")


DAMAGES = {
    "truncated weights": truncate("model.safetensors"),
    "no weights": remove("model.safetensors"),
    "other weights": weights_of_another,
    "truncated config": truncate("config.json"),
    "no config": remove("config.json"),
    "no settings": config_with(model=None),
    "no entity count": config_with(entity_count=None),
    "a wrong entity count": config_with(entity_count=11),
    "a negative entity count": config_with(entity_count=-1),
    "an entity count as text": config_with(entity_count="twelve"),
    "a fractional relation count": config_with(relation_count=5.5),
    "another format": config_with(format="nqe-graph"),
    "a later version": config_with(version=6),
    "an unreadable version": config_with(version=1),
    "a truncated vocabulary": truncate("vocabulary/entities.parquet"),
    "an incomplete vocabulary": remove("vocabulary/relations.parquet"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_checkpoint_is_reported_in_one_sentence(
    damage: Callable[[Path], None], saved: Path
) -> None:
    damage(saved)
    with pytest.raises(StorageError) as caught:
        from_pretrained(saved, "cpu")
    (sentence,) = str(caught.value).splitlines()
    assert sentence.startswith(str(saved))
    assert "; " in sentence
    assert len(sentence) < 450


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ([], r"its entry 'model' is \[\]"),
        ({"widht": 8}, "unknown setting 'model.widht'; did you mean model.width"),
        ({"width": "8"}, "setting model.width is '8'; give a whole number"),
        ({"encoder": "mine"}, "unknown encoder 'mine'; choose one of transformer"),
        ({"kind": "mine"}, "unknown kind of model 'mine'; choose one of nqe"),
    ],
    ids=str,
)
def test_invalid_settings_in_a_config_are_named(model: object, message: str, saved: Path) -> None:
    config_with(model=model)(saved)
    with pytest.raises(NqeError, match=message):
        from_pretrained(saved, "cpu")


def reverse_vocabulary(folder: Path) -> None:
    """Put a vocabulary in the place of a checkpoint's own that is valid, but not its own."""
    model = model_with_names()
    renamed = [Fact(f"x{20 - n}", f"r{n % 5}", f"x{19 - n}", (("r0", "x17"),)) for n in range(11)]
    model.vocabulary = Dataset.of({"train": renamed}).vocabulary
    save_pretrained(model, folder.parent / "reversed")
    shutil.rmtree(folder / "vocabulary")
    (folder.parent / "reversed" / "vocabulary").rename(folder / "vocabulary")


def test_a_vocabulary_of_another_checkpoint_is_noticed(saved: Path) -> None:
    reverse_vocabulary(saved)
    with pytest.raises(StorageError, match=r"vocabulary/manifest\.json: damaged, or changed"):
        from_pretrained(saved, "cpu")


@pytest.mark.parametrize("layers", [1_000, 1_000_000])
def test_a_config_with_very_many_layers_is_refused_before_a_model_is_built(
    saved: Path, monkeypatch: pytest.MonkeyPatch, layers: int
) -> None:
    built: list[object] = []
    monkeypatch.setattr(checkpoint, "new_model", lambda *settings: built.append(settings))
    config_with(model=to_json(small_settings()) | {"layers": layers})(saved)
    with pytest.raises(NqeError, match=r"1,000 layers, but weights for \d+ tensors|at most 1,000"):
        from_pretrained(saved, "cpu")
    assert built == []


@pytest.mark.parametrize("change", [{"width": 65_536}, {"feed_forward": 10**6}], ids=str)
def test_settings_of_a_huge_model_are_compared_with_the_weights_without_building_it(
    saved: Path, change: dict[str, int]
) -> None:
    config_with(model=to_json(small_settings()) | change)(saved)
    with pytest.raises(StorageError, match=r"have the shape .* but the settings ask"):
        from_pretrained(saved, "cpu")


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_neither_saved_nor_loaded(
    saved: Path, number: float
) -> None:
    model = small_model()
    with torch.no_grad():
        next(model.parameters()).view(-1)[3] = number
    with pytest.raises(StorageError, match="has numbers that are not finite; train the model ag"):
        save_pretrained(model, saved)
    weights = {name: value.contiguous() for name, value in model.state_dict().items()}
    save_file(weights, saved / "model.safetensors")
    sign_again(saved)
    with pytest.raises(StorageError, match="has numbers that are not finite; train the model ag"):
        from_pretrained(saved, "cpu")


def test_a_checkpoint_keeps_the_files_of_others_if_asked_to(saved: Path) -> None:
    (saved / "plots").mkdir()
    (saved / "plots" / "loss.png").write_text("mine")
    with pytest.raises(StorageError, match=r"would delete plots/loss\.png, which nqe"):
        save_pretrained(small_model(), saved)
    save_pretrained(small_model(), saved, keep_others=True)
    assert (saved / "plots" / "loss.png").read_text() == "mine"
    assert not (saved / "vocabulary").exists()


def test_a_vocabulary_of_another_size_is_refused(saved: Path) -> None:
    smaller = model_with_names()
    smaller.vocabulary = Dataset.of({"train": FACTS[:3]}).vocabulary
    save_pretrained(smaller, saved)
    with pytest.raises(StorageError, match="vocabulary and weights differ in size"):
        from_pretrained(saved, "cpu")


def new_run(folder: Path) -> Path:
    with RUN.create(folder, {"settings": RunSettings().to_json(), "dataset": "atlas"}):
        pass
    return folder


def test_a_run_means_its_best_checkpoint_or_else_its_last(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    save_pretrained(small_model(seed=1), run / "last")
    assert checkpoint_of(run) == run / "last"
    save_pretrained(small_model(seed=2), run / "best")
    assert checkpoint_of(run) == run / "best"
    assert checkpoint_of(run / "last") == run / "last"
    best = small_model(seed=2).state_dict()
    assert all(torch.equal(best[k], v) for k, v in load(run, "cpu").state_dict().items())
    manifest = run_manifest(run)
    assert manifest is not None
    assert manifest["dataset"] == "atlas"
    assert run_manifest(run / "best") is None
    assert RunFolder.open(run).settings == RunSettings()


@pytest.mark.parametrize("damage", ["removed", "emptied"])
def test_a_broken_best_checkpoint_is_reported_and_not_replaced_by_the_last_one(
    tmp_path: Path, damage: str
) -> None:
    run = new_run(tmp_path / "run")
    save_pretrained(small_model(seed=1), run / "last")
    save_pretrained(small_model(seed=2), run / "best")
    config = run / "best" / "config.json"
    config.unlink() if damage == "removed" else config.write_text("")
    with pytest.raises(StorageError, match=r"best: damaged, .*; use \S*last instead, or train"):
        load(run, "cpu")
    assert load(run / "last", "cpu") is not None


def test_a_run_without_checkpoints_is_refused(tmp_path: Path) -> None:
    run = new_run(tmp_path / "run")
    with pytest.raises(StorageError, match="run: holds no checkpoint yet; continue with `nqe"):
        load(run)


@pytest.mark.parametrize("there", [True, False])
def test_what_is_not_a_run_is_refused(tmp_path: Path, there: bool) -> None:
    if there:
        (tmp_path / "thing").mkdir()
    with pytest.raises(StorageError, match=r"thing: not a run or checkpoint .*; make one"):
        load(tmp_path / "thing")


@pytest.fixture
def small_files() -> Iterator[None]:
    """Limit files to 20 kB, as if the disk were full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("small_files")
def test_a_full_disk_is_reported_and_leaves_no_files(tmp_path: Path) -> None:
    model = small_model(width=64, heads=4)
    with pytest.raises(StorageError, match=r"model: cannot be written \(file too large\); raise"):
        save_pretrained(model, tmp_path / "runs" / "model")
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (SafetensorError("I/O error: No space left on device (os error 28)"), "free some space"),
        (SafetensorError("something else"), "something else"),
        (PermissionError(13, "no"), "permission denied"),
    ],
    ids=str,
)
def test_if_writing_fails_the_older_checkpoint_stays(
    error: Exception, message: str, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, weights = files(saved.parent), (saved / "model.safetensors").read_bytes()

    def fail(_: object, path: Path) -> None:
        path.write_bytes(b"half")
        raise error

    monkeypatch.setattr(checkpoint, "save_file", fail)
    with pytest.raises(StorageError, match=message):
        save_pretrained(small_model(seed=1), saved)
    assert files(saved.parent) == before
    assert (saved / "model.safetensors").read_bytes() == weights


def test_the_weights_have_the_permissions_of_the_other_files(tmp_path: Path) -> None:
    save_pretrained(small_model(), tmp_path / "model")
    modes = {path.stat().st_mode for path in (tmp_path / "model").iterdir() if path.is_file()}
    assert len(modes) == 1

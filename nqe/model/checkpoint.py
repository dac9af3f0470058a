"""Checkpoints: save a model as a folder and load it, from a checkpoint or a RUN.

A checkpoint holds `config.json`, `model.safetensors`, the vocabulary (a graph folder without
facts) and a README card.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file

from nqe.errors import NqeError, StorageError
from nqe.folders import OpenFolder
from nqe.graph import storage
from nqe.graph.fingerprint import compute_fingerprint
from nqe.graph.vocabulary import Vocabulary
from nqe.model.devices import choose_device
from nqe.model.model import Model
from nqe.model.model_kinds import new_model
from nqe.run_folders import (
    CARD,
    CHECKPOINT,
    VOCABULARY,
    WEIGHTS,
    checkpoint_of,
)
from nqe.settings import ModelSettings, build_run_settings, to_json
from nqe.shown_text import escape_markdown


@dataclass(frozen=True)
class Card:
    """Where the model of a checkpoint comes from, for its config and README."""

    dataset: str | None = None
    """The path of the data set at the time of training."""
    fingerprint: str | None = None
    """The fingerprint of the data set."""
    trained_on: str | None = None
    """The splits or the query set that the model was trained on."""
    step: int | None = None
    """The number of training steps."""
    scores: Mapping[str, float] | None = None
    """Validation MRR by shape."""
    run: str | None = None
    """The identity of the RUN that the checkpoint belongs to."""


def save_pretrained(
    model: Model,
    folder: str | Path,
    card: Card | None = None,
    tensors: Mapping[str, Mapping[str, torch.Tensor]] | None = None,
    texts: Mapping[str, str] | None = None,
    *,
    keep_others: bool = False,
) -> None:
    """Write a checkpoint folder; `tensors` and `texts` are additional files by name.

    Files in an older folder that nqe has not written are an error, or with `keep_others` are
    kept.
    """
    card = card or Card()
    path = Path(folder)
    with CHECKPOINT.create(path, _config(model, card), keep_others=keep_others) as temporary:
        for name, values in {WEIGHTS: model.state_dict(), **(tensors or {})}.items():
            check_finite(path, values)
            _write(values, temporary / name)
        if model.vocabulary is not None:
            fingerprint = compute_fingerprint(model.vocabulary, {})
            storage.save(temporary / VOCABULARY, model.vocabulary, {}, fingerprint)
        for name, text in {CARD: _readme(model, card), **(texts or {})}.items():
            (temporary / name).write_text(text, encoding="utf-8")


def from_pretrained(folder: str | Path, device: str = "auto") -> Model:
    """Load the model of a checkpoint folder, in eval mode."""
    return CHECKPOINT.read(Path(folder), lambda opened: load_opened(opened, device))


def load_opened(folder: OpenFolder, device: str = "auto") -> Model:
    """Load the model of an opened checkpoint folder, in eval mode."""
    path, config = folder.path, folder.manifest
    try:
        settings = _model_settings(config, str(path / CHECKPOINT.manifest_file))
        vocabulary = _load_vocabulary(folder)
        sizes = config["entity_count"], config["relation_count"]
        with folder.locate_file(WEIGHTS) as weights:
            _check_shapes(settings, *sizes, weights)
            model = new_model(settings, *sizes, vocabulary)
            model.load_state_dict(load_file(weights))
    except (OSError, KeyError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
        # A damaged file can cause any of these errors; torch's messages may fill pages.
        reason = shorten(str(error), 200, placeholder=" …")
        raise StorageError(f"{path}: damaged checkpoint ({reason}); train it again") from error
    check_finite(path, model.state_dict())
    if vocabulary is not None and not _fits(vocabulary, model):
        raise StorageError(f"{path}: vocabulary and weights differ in size; train it again")
    return model.to(choose_device(device)).eval()


def _load_vocabulary(folder: OpenFolder) -> Vocabulary | None:
    if not folder.has(f"{VOCABULARY}/{storage.KIND.manifest_file}"):
        return None
    return storage.load_opened(folder.open_inner(storage.KIND, VOCABULARY)).vocabulary


def _check_shapes(
    settings: ModelSettings, entity_count: int, relation_count: int, weights: Path
) -> None:
    """Compare the shapes in a file of weights with the settings, before a model is built.

    Settings that were changed may describe a model that does not fit into memory.
    """
    with safe_open(weights, "pt") as file:
        saved = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    if settings.layers > len(saved):
        raise ValueError(f"{settings.layers:,} layers, but weights for {len(saved)} tensors")
    with torch.device("meta"):
        model = new_model(settings, entity_count, relation_count)
    expected = {name: tuple(value.shape) for name, value in model.state_dict().items()}
    for name in saved.keys() | expected.keys():
        if saved.get(name) != expected.get(name):
            raise ValueError(
                f"the weights of {name} have the shape {saved.get(name)}, but the settings ask "
                f"for {expected.get(name)}"
            )


def check_finite(path: Path, tensors: Mapping[str, torch.Tensor]) -> None:
    """Refuse weights that are not finite numbers: nothing they give means anything."""
    for name, value in tensors.items():
        if value.is_floating_point() and not _is_finite(value):
            raise StorageError(
                f"{path}: {name} has numbers that are not finite; train the model again, at a "
                "lower train.rate if that is where they come from"
            )


def _is_finite(values: torch.Tensor) -> bool:
    # A sum with a number that is not finite is none either, and is quicker to compute.
    return bool(values.sum().isfinite()) or bool(values.isfinite().all())


def load(path: str | Path, device: str = "auto") -> Model:
    """Load the best model of a RUN, or the model of a checkpoint."""
    return from_pretrained(checkpoint_of(Path(path)), device)


def _model_settings(config: Mapping[str, Any], where: str) -> ModelSettings:
    given = config["model"]
    try:
        return build_run_settings({"model": given}, where).model
    except NqeError as error:
        message = str(error)
        raise StorageError(message if where in message else f"{where}: {message}") from error


def _config(model: Model, card: Card) -> dict[str, Any]:
    return {
        "model": to_json(model.settings),
        "entity_count": model.entity_count,
        "relation_count": model.relation_count,
        **{name: value for name, value in vars(card).items() if value is not None},
    }


def _fits(vocabulary: Vocabulary, model: Model) -> bool:
    sizes = len(vocabulary.entities), len(vocabulary.relations)
    return sizes == (model.entity_count, model.relation_count)


def _write(tensors: Mapping[str, torch.Tensor], path: Path) -> None:
    try:
        save_file(_contiguous(tensors), path)
        # safetensors makes the file readable for its owner alone; follow the folder instead.
        path.chmod(path.parent.stat().st_mode & 0o666)
    except SafetensorError as error:
        # The system's error number, of a full disk for example, is only in the text.
        number = re.search(r"os error (\d+)", str(error))
        raise OSError(int(number[1]) if number else None, str(error)) from error


def _contiguous(values: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Tensors as safetensors requires them: contiguous, on the CPU, sharing no memory."""
    first_names: dict[int, str] = {}
    result = {}
    for name, value in values.items():
        shared = first_names.setdefault(value.data_ptr(), name) != name and value.numel() > 0
        tensor = value.detach().cpu().contiguous()
        result[name] = tensor.clone() if shared else tensor
    return result


def _readme(model: Model, card: Card) -> str:
    scores = "\n".join(
        f"| {escape_markdown(name)} | {value:.4f} |" for name, value in (card.scores or {}).items()
    )
    settings = "\n".join(
        f"- {name}: {escape_markdown(str(value))}"
        for name, value in to_json(model.settings).items()
    )
    splits = escape_markdown(card.trained_on or "unknown")
    dataset = escape_markdown(card.dataset or "an unnamed data set")
    return f"""# An NQE model

Predicts missing entities in statements with qualifiers, and answers logical queries over them.

- trained on: {splits} of {dataset}
- fingerprint of the data set: {card.fingerprint or "unknown"}
- step: {card.step if card.step is not None else "unknown"}
- {model.entity_count:,} entities, {model.relation_count:,} relations

## Validation MRR

| shape | MRR |
|---|---|
{scores or "| none | |"}

## Settings

{settings}

Load it with `nqe.load("this folder")`.
"""

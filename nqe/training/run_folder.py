"""A RUN folder: settings, metrics, and the checkpoints that training goes on from."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from nqe.errors import StorageError
from nqe.files import new_file, raise_storage_errors
from nqe.model.checkpoint import BEST, CHECKPOINT, LAST, RUN, WEIGHTS, Card, save_pretrained
from nqe.model.model import Model
from nqe.settings import RunSettings, TrainSettings, build_run_settings
from nqe.training.query_sources import Place

METRICS = "metrics.jsonl"
SETTINGS = "settings.toml"
STATE = "state.json"
TENSORS = "training.safetensors"


@dataclass(frozen=True)
class State:
    """How far a training is."""

    step: int = 0
    seconds: float = 0.0
    place: Place = field(default_factory=Place)
    best: float | None = None
    """The best validation MRR."""
    worse: int = 0
    """Validations since then."""
    validated: int | None = None
    """The step of the last validation."""
    end: dict[str, float | None] | None = None
    """The end that it came to, as `end_of` its settings."""
    metrics: int = 0
    """How many bytes of the metrics are about it and what was before."""

    def to_json(self) -> str:
        """The state as text."""
        return json.dumps({**vars(self), "place": vars(self.place)}, indent=2) + "\n"

    @classmethod
    def of_json(cls, text: str) -> State:
        """The state that `to_json` wrote."""
        data = json.loads(text)
        return cls(**{**data, "place": Place.of_json(data["place"])})


def end_of(settings: TrainSettings) -> dict[str, float | None]:
    """What the settings say about when a training is complete."""
    return {name: getattr(settings, name) for name in ("epochs", "steps", "minutes", "patience")}


@dataclass(frozen=True)
class Run:
    """A RUN folder."""

    folder: Path
    card: Card

    @classmethod
    def new(cls, folder: Path, settings: RunSettings, card: Card, queries: Queries | None) -> Run:
        """Make the folder; one that holds a run already is not touched."""
        check_new(folder)
        manifest = {
            "dataset": card.dataset,
            "queries": None if queries is None else queries.folder,
            "queries_digest": None if queries is None else queries.digest,
            "fingerprint": card.fingerprint,
            "trained_on": card.trained_on,
            "settings": settings.to_json(),
        }
        with RUN.create(folder, manifest) as temporary:
            (temporary / SETTINGS).write_text(settings.to_toml(), encoding="utf-8")
            (temporary / METRICS).touch()
        return cls(folder, card)

    @classmethod
    def old(cls, folder: Path) -> Run:
        """A folder that is there already."""
        if not RUN.recognises(folder):
            raise StorageError(f"{folder}: no run to go on with; leave out --resume to begin one")
        manifest = RUN.read_manifest(folder)
        known = {name: manifest.get(name) for name in ("dataset", "fingerprint", "trained_on")}
        return cls(folder, Card(**known))

    @property
    def settings(self) -> RunSettings:
        """The settings it has."""
        manifest = RUN.read_manifest(self.folder)
        return build_run_settings(manifest["settings"], str(self.folder / RUN.manifest_file))

    @property
    def queries(self) -> Queries | None:
        """The query set it learns from."""
        manifest = RUN.read_manifest(self.folder)
        folder = manifest.get("queries")
        return None if folder is None else Queries(folder, manifest.get("queries_digest"))

    @property
    def state(self) -> State:
        """How far it is saved."""
        path = self.folder / LAST / STATE
        if not CHECKPOINT.recognises(self.folder / LAST):
            return State()
        with _damage_told(self.folder / LAST):
            return State.of_json(path.read_text(encoding="utf-8"))

    def saved_step(self) -> int | None:
        """The step that `last` is of, if there is one."""
        return self.state.step if CHECKPOINT.recognises(self.folder / LAST) else None

    def prepare(self, settings: RunSettings) -> None:
        """Make it ready to go on: what a killed training left is taken away, settings are set."""
        for left in self.folder.glob(".nqe-*"):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)
        self._forget_after(self.state)
        manifest = RUN.read_manifest(self.folder) | {"settings": settings.to_json()}
        for name, text in (
            (SETTINGS, settings.to_toml()),
            (RUN.manifest_file, json.dumps(manifest, indent=2) + "\n"),
        ):
            with new_file(self.folder / name) as temporary:
                temporary.write_text(text, encoding="utf-8")

    def load(self, model: Model) -> dict[str, Tensor]:
        """Put the weights of `last` into a model; the other tensors that going on needs."""
        last = self.folder / LAST
        if not CHECKPOINT.recognises(last):
            return {}
        with _damage_told(last):
            tensors = load_file(last / TENSORS)
            model.load_state_dict(load_file(last / WEIGHTS))
        return tensors

    def save(self, model: Model, state: State, tensors: Mapping[str, Tensor]) -> None:
        """Write `last`, with all that training needs to go on."""
        state = replace(state, metrics=self._metrics_size())
        card = replace(self.card, step=state.step)
        texts = {STATE: state.to_json()}
        save_pretrained(model, self.folder / LAST, card, {TENSORS: tensors}, texts)

    def save_best(self, model: Model, step: int, scores: Mapping[str, float]) -> None:
        """Write `best`."""
        save_pretrained(model, self.folder / BEST, replace(self.card, step=step, scores=scores))

    def tell(self, **values: Any) -> None:
        """Add a line to the metrics."""
        path = self.folder / METRICS
        with raise_storage_errors(path), path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")

    def metrics(self) -> list[dict[str, Any]]:
        """All lines of the metrics that are written whole."""
        text = (self.folder / METRICS).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines(keepends=True) if line[-1] == "\n"]

    def _metrics_size(self) -> int:
        path = self.folder / METRICS
        return path.stat().st_size if path.exists() else 0

    def _forget_after(self, state: State) -> None:
        """Take back the metrics of steps that are to be done again."""
        if self._metrics_size() > state.metrics:
            os.truncate(self.folder / METRICS, state.metrics)


@dataclass(frozen=True)
class Queries:
    """The query set a run learns from: where it is, and a digest to know it by."""

    folder: str
    digest: str | None


def check_new(folder: Path) -> None:
    """Refuse a place that a new run cannot have."""
    if RUN.recognises(folder):
        raise StorageError(
            f"{folder}: a run is there already; go on with --resume, or choose another name"
        )
    RUN.check_output(folder)


@contextmanager
def _damage_told(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        reason = str(error).splitlines()[0]
        raise StorageError(f"{folder}: damaged ({reason}); train the model again") from error

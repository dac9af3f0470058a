"""A RUN folder: settings, metrics, and the checkpoints that training goes on from."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from nqe.errors import StorageError
from nqe.model.checkpoint import BEST, CHECKPOINT, LAST, RUN, Card, save_pretrained
from nqe.model.model import Model
from nqe.settings import RunSettings, run_settings
from nqe.training.sources import Place

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

    def to_json(self) -> str:
        """The state as text."""
        return json.dumps({**vars(self), "place": vars(self.place)}, indent=2) + "\n"

    @classmethod
    def of_json(cls, text: str) -> State:
        """The state that `to_json` wrote."""
        data = json.loads(text)
        return cls(**{**data, "place": Place.of_json(data["place"])})


@dataclass(frozen=True)
class Run:
    """A RUN folder."""

    folder: Path
    card: Card

    @classmethod
    def new(cls, folder: Path, settings: RunSettings, card: Card, queries: str | None) -> Run:
        """Make the folder; one that holds a run already is not touched."""
        if RUN.is_one(folder):
            raise StorageError(
                f"{folder}: a run is there already; go on with --resume, or choose another name"
            )
        manifest = {
            "dataset": card.dataset,
            "queries": queries,
            "fingerprint": card.fingerprint,
            "trained_on": card.trained_on,
            "settings": settings.to_json(),
        }
        with RUN.new(folder, manifest) as temporary:
            (temporary / SETTINGS).write_text(settings.to_toml(), encoding="utf-8")
            (temporary / METRICS).touch()
        return cls(folder, card)

    @classmethod
    def old(cls, folder: Path) -> Run:
        """A folder that is there already."""
        manifest = RUN.manifest(folder)
        for left in folder.glob(".nqe-*"):
            # What a killed training was writing.
            shutil.rmtree(left, ignore_errors=True)
        known = {name: manifest.get(name) for name in ("dataset", "fingerprint", "trained_on")}
        return cls(folder, Card(**known))

    @property
    def settings(self) -> RunSettings:
        """The settings it was made with."""
        manifest = RUN.manifest(self.folder)
        return run_settings(manifest["settings"], str(self.folder / RUN.file))

    def save(self, model: Model, state: State, tensors: Mapping[str, Tensor]) -> None:
        """Write `last`, with all that training needs to go on."""
        save_pretrained(
            model,
            self.folder / LAST,
            replace(self.card, step=state.step),
            {TENSORS: tensors},
            {STATE: state.to_json()},
        )

    def save_best(self, model: Model, step: int, scores: Mapping[str, float]) -> None:
        """Write `best`."""
        save_pretrained(model, self.folder / BEST, replace(self.card, step=step, scores=scores))

    def load(self, model: Model) -> tuple[State, dict[str, Tensor]]:
        """Put the weights of `last` into a model; the state and the other tensors it has."""
        last = self.folder / LAST
        if not CHECKPOINT.is_one(last):
            return State(), {}
        try:
            state = State.of_json((last / STATE).read_text(encoding="utf-8"))
            tensors = load_file(last / TENSORS)
            model.load_state_dict(load_file(last / "model.safetensors"))
        except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            raise StorageError(f"{last}: damaged ({error}); train the model again") from error
        self._forget_after(state.step)
        return state, tensors

    def tell(self, **values: Any) -> None:
        """Add a line to the metrics."""
        with (self.folder / METRICS).open("a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")

    def metrics(self) -> list[dict[str, Any]]:
        """All lines of the metrics."""
        text = (self.folder / METRICS).read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines() if line.endswith("}")]

    def _forget_after(self, step: int) -> None:
        """Take back the metrics of steps that are done again."""
        kept = [line for line in self.metrics() if line["step"] <= step]
        text = "".join(json.dumps(line) + "\n" for line in kept)
        (self.folder / METRICS).write_text(text, encoding="utf-8")


def rng_state() -> Tensor:
    """The state of torch's random numbers on the CPU."""
    return torch.get_rng_state()

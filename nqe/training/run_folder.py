"""RUN folders: settings, metrics, and the checkpoints that training continues from."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from textwrap import shorten
from typing import Any

from pydantic import TypeAdapter, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from nqe.documents import compute_digest, parse_document
from nqe.errors import StorageError
from nqe.files import new_file, raise_storage_errors
from nqe.model.checkpoint import Card, check_finite, save_pretrained
from nqe.model.model import Model
from nqe.run_folders import (
    BEST,
    CHECKPOINT,
    LAST,
    RUN,
    STATE,
    TENSORS,
    WEIGHTS,
    check_same_run,
)
from nqe.settings import RunSettings, build_run_settings
from nqe.training.query_sources import Position

METRICS = "metrics.jsonl"
SETTINGS = "settings.toml"
_LARGEST = 2**53
"""No training counts so far."""


@dataclass(frozen=True)
class State:
    """How far training has come."""

    step: int = 0
    seconds: float = 0.0
    position: Position = field(default_factory=Position)
    """Where training is in its queries."""
    best: float | None = None
    """The best validation MRR."""
    worse: int = 0
    """The number of validations since the best one."""
    validated: int | None = None
    """The step of the last validation."""
    end: dict[str, float | None] | None = None
    """The `end` of the settings that training has come to; None if it has not ended."""
    metrics: int = 0
    """The length of the metrics file, in bytes, when the state was saved."""

    def to_json(self) -> str:
        """Return the state as JSON text."""
        values = vars(self).copy()
        values["place"] = vars(values.pop("position"))
        return json.dumps(values, indent=2) + "\n"

    @classmethod
    def of_json(cls, data: bytes) -> State:
        """Read what `to_json` returned; raises ValueError, TypeError or KeyError for other data."""
        values = parse_document(data)
        position = Position.of_json(values.pop("place"))
        state = cls(**values, position=position)
        try:
            state = TypeAdapter(State).validate_python(asdict(state))
        except ValidationError as error:
            name = error.errors()[0]["loc"][0]
            raise ValueError(f"its entry '{name}' is of another type") from error
        streams = (number for pair in (position.streams or {}).values() for number in pair)
        numbers = (state.step, state.seconds, state.worse, state.metrics, state.validated or 0)
        for number in (*numbers, position.epoch, position.batch, *streams):
            if not 0 <= number < _LARGEST:
                raise ValueError("a number is out of range")
        return state


@dataclass(frozen=True)
class UsedQueries:
    """The query set that a run learns from: its folder, and a digest that identifies it."""

    folder: str
    digest: str | None


@dataclass(frozen=True)
class RunFolder:
    """A RUN folder."""

    folder: Path
    card: Card

    @classmethod
    def create(
        cls,
        folder: Path,
        settings: RunSettings,
        card: Card,
        queries: UsedQueries | None,
        start: Path | None = None,
    ) -> RunFolder:
        """Make a new folder; an existing run is not touched."""
        check_new(folder)
        manifest = {
            "dataset": card.dataset,
            "queries": None if queries is None else queries.folder,
            "queries_digest": None if queries is None else queries.digest,
            "fingerprint": card.fingerprint,
            "trained_on": card.trained_on,
            "settings": settings.to_json(),
        }
        if start is not None:
            manifest["started_from"] = str(start)
        identity = compute_digest(manifest)[:32]
        with RUN.create(folder, {**manifest, "identity": identity}) as temporary:
            (temporary / SETTINGS).write_text(settings.to_toml(), encoding="utf-8")
            (temporary / METRICS).touch()
        return cls(folder, replace(card, run=identity))

    @classmethod
    def open(cls, folder: Path) -> RunFolder:
        """Open an existing folder."""
        if not RUN.recognises(folder):
            raise StorageError(f"{folder}: no run to continue; leave out --resume to begin one")
        manifest = RUN.read_manifest(folder)
        if CHECKPOINT.recognises(folder / LAST):
            check_same_run(folder, manifest, CHECKPOINT.read_manifest(folder / LAST))
        known = {name: manifest.get(name) for name in ("dataset", "fingerprint", "trained_on")}
        return cls(folder, Card(**known, run=manifest.get("identity")))

    @property
    def settings(self) -> RunSettings:
        """The settings of the run."""
        manifest = RUN.read_manifest(self.folder)
        return build_run_settings(manifest["settings"], str(self.folder / RUN.manifest_file))

    @property
    def queries(self) -> UsedQueries | None:
        """The query set that the run learns from; None if it learns from the graph alone."""
        manifest = RUN.read_manifest(self.folder)
        folder = manifest.get("queries")
        return None if folder is None else UsedQueries(folder, manifest.get("queries_digest"))

    @property
    def state(self) -> State:
        """The state that was saved last."""
        last = self.folder / LAST
        if not last.exists():
            return State()
        with _damage_reported(last):
            return CHECKPOINT.read(last, lambda opened: State.of_json(opened.read_bytes(STATE)))

    @property
    def saved_step(self) -> int | None:
        """The step that was saved last; None if nothing was saved."""
        return self.state.step if (self.folder / LAST).exists() else None

    def check_can_continue(self) -> None:
        """Refuse a run whose state was removed; it would begin again and replace its best model."""
        if (self.folder / BEST).exists() and not (self.folder / LAST).exists():
            raise StorageError(
                f"{self.folder / LAST}: is missing, so the training cannot be continued; restore "
                "it, or begin another run"
            )

    def prepare_to_continue(self, settings: RunSettings) -> None:
        """Set the settings, and remove the metrics of steps that will be repeated."""
        self._forget_metrics_after(self.state)
        RUN.update(self.folder, {"settings": settings.to_json()})
        with new_file(self.folder / SETTINGS) as temporary:
            temporary.write_text(settings.to_toml(), encoding="utf-8")

    def load(self, model: Model) -> dict[str, Tensor]:
        """Load the weights of `last` into a model, and return the optimizer's tensors."""
        last = self.folder / LAST
        if not last.exists():
            return {}
        opened = CHECKPOINT.open(last)
        with (
            _damage_reported(last),
            opened.locate_file(TENSORS) as tensors,
            opened.locate_file(WEIGHTS) as weights,
        ):
            model.load_state_dict(load_file(weights))
            loaded = load_file(tensors)
        check_finite(last, {**model.state_dict(), **loaded})
        return loaded

    def save(self, model: Model, state: State, tensors: Mapping[str, Tensor]) -> None:
        """Write `last`, with everything that training needs to continue."""
        state = replace(state, metrics=self._metrics_size())
        card = replace(self.card, step=state.step)
        texts = {STATE: state.to_json()}
        folder = self.folder / LAST
        save_pretrained(model, folder, card, {TENSORS: tensors}, texts, keep_others=True)

    def save_best(self, model: Model, step: int, scores: Mapping[str, float]) -> None:
        """Write `best`."""
        card = replace(self.card, step=step, scores=scores)
        save_pretrained(model, self.folder / BEST, card, keep_others=True)

    def add_metrics(self, **values: Any) -> None:
        """Append a line to the metrics file."""
        path = self.folder / METRICS
        with raise_storage_errors(path), path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")

    def read_metrics(self) -> list[dict[str, Any]]:
        """Read the metrics; a last line that was cut off is left out."""
        path = self.folder / METRICS
        with _damage_reported(path, "restore it, or delete the line"):
            lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
            return [json.loads(line) for line in lines if line[-1] == "\n"]

    def _metrics_size(self) -> int:
        path = self.folder / METRICS
        return path.stat().st_size if path.exists() else 0

    def _forget_metrics_after(self, state: State) -> None:
        """Remove the metrics of steps that will be repeated."""
        path = self.folder / METRICS
        if self._metrics_size() <= state.metrics:
            return
        with path.open("rb") as file:
            file.seek(max(state.metrics - 1, 0))
            if state.metrics and file.read(1) != b"\n":
                raise StorageError(
                    f"{path}: was changed since the training was saved; restore it or delete it"
                )
        os.truncate(path, state.metrics)


def check_new(folder: Path) -> None:
    """Refuse a path at which a new run cannot be made."""
    if RUN.recognises(folder):
        raise StorageError(
            f"{folder}: a run exists already; continue it with --resume, or choose another name"
        )
    RUN.check_output(folder)


@contextmanager
def _damage_reported(folder: Path, advice: str = CHECKPOINT.how_to_rebuild) -> Iterator[None]:
    """Report a file that cannot be read in one sentence."""
    try:
        yield
    except (OSError, ValueError, LookupError, TypeError, RuntimeError, SafetensorError) as error:
        reason = shorten(str(error), 200, placeholder=" …")
        raise StorageError(f"{folder}: damaged ({reason}); {advice}") from error

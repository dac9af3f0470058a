"""TensorBoard event files of training; nothing is written if TensorBoard is not installed.

The events are written in this thread. TensorBoard's own writer uses another thread, whose
failure on a full disk could not be reported in one sentence.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch

from nqe.files import raise_storage_errors
from nqe.graph.arrays import Integers
from nqe.graph.graph import Graph
from nqe.model.model import Model
from nqe.shown_text import make_visible

FOLDER = "tensorboard"
MAX_ENTITIES = 2_000
"""The projector shows this many entities: those that occur in the most facts."""
_PROJECTOR = """embeddings {
  tensor_name: "entities"
  tensor_path: "entities/tensors.tsv"
  metadata_path: "entities/metadata.tsv"
}
"""


class TensorBoard:
    """Writes event files; does nothing without TensorBoard or without a folder."""

    def __init__(self, run: Path | None, resumed_step: int | None = None) -> None:
        """Open a new event file; events after `resumed_step` in older files become void."""
        self._writer: Any = None
        if run is None:
            return
        try:
            from tensorboard.compat.proto import (  # type: ignore[import-untyped]
                event_pb2,
                summary_pb2,
            )
            from tensorboard.summary.writer.record_writer import (  # type: ignore[import-untyped]
                RecordWriter,
            )
        except ImportError:
            return
        self._folder = run / FOLDER
        self._event, self._summary = event_pb2.Event, summary_pb2.Summary
        with raise_storage_errors(self._folder):
            self._folder.mkdir(exist_ok=True)
            name = f"events.out.tfevents.{time.time_ns()}.{os.getpid()}"
            self._writer = RecordWriter((self._folder / name).open("wb", buffering=0))
            self._write(file_version="brain.Event:2")
            if resumed_step is not None:
                start = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
                self._write(step=resumed_step + 1, session_log=start)

    def add_scalars(self, step: int, values: Mapping[str, float]) -> None:
        """Write named numbers of a step."""
        if self._writer is not None:
            summary = [
                self._summary.Value(tag=name, simple_value=value) for name, value in values.items()
            ]
            with raise_storage_errors(self._folder):
                self._write(step=step, summary=self._summary(value=summary))

    def add_entities(self, model: Model, graph: Graph) -> None:
        """Write the vectors of the most frequent entities for the projector."""
        if self._writer is None:
            return
        entities = _most_frequent(graph)
        # One line per entity: the labels' own tabs and line breaks would shift the rows.
        names = [make_visible(graph.vocabulary.entities.name(one)) for one in entities.tolist()]
        with torch.no_grad():
            vectors = model.entity_block(torch.from_numpy(entities)).vectors.cpu().numpy()
        with raise_storage_errors(self._folder):
            folder = self._folder / "entities"
            folder.mkdir(exist_ok=True)
            np.savetxt(folder / "tensors.tsv", vectors, "%.6g", "\t")
            text = "".join(f"{name}\n" for name in names)
            (folder / "metadata.tsv").write_text(text, encoding="utf-8")
            config = self._folder / "projector_config.pbtxt"
            config.write_text(_PROJECTOR, encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            with raise_storage_errors(self._folder):
                self._writer.close()

    def _write(self, **values: Any) -> None:
        event = self._event(wall_time=time.time(), **values)
        self._writer.write(event.SerializeToString())


def _most_frequent(graph: Graph) -> Integers:
    facts = graph.facts
    mentioned = np.concatenate([facts.subject, facts.object, facts.value])
    counts = np.bincount(mentioned, minlength=graph.entity_count)
    return np.argsort(-counts, kind="stable")[:MAX_ENTITIES]

"""What TensorBoard shows of a training; nothing when it is not installed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nqe.graph.graph import Graph
from nqe.model.model import Model

FOLDER = "tensorboard"
MOST_ENTITIES = 2_000


class Board:
    """Writes event files; does nothing when TensorBoard is missing or nobody wants them."""

    def __init__(self, folder: Path | None, step: int = 0) -> None:
        self._writer: Any = None
        if folder is None:
            return
        try:
            from torch.utils.tensorboard.writer import SummaryWriter
        except ImportError:
            return
        self._writer = SummaryWriter(
            str(folder / FOLDER), purge_step=step or None, max_queue=100, flush_secs=30
        )

    def add(self, step: int, values: Mapping[str, float]) -> None:
        """Numbers of a step."""
        if self._writer is not None:
            for name, value in values.items():
                self._writer.add_scalar(name, value, step)

    def add_entities(self, step: int, model: Model, graph: Graph) -> None:
        """The vectors of the entities that most facts hold, for the projector."""
        if self._writer is None:
            return
        facts = graph.facts
        places = np.concatenate([facts.subject, facts.object, facts.value])
        counts = np.bincount(places, minlength=graph.entity_count)
        most = np.argsort(-counts, kind="stable")[:MOST_ENTITIES]
        names = [graph.vocabulary.entities.name(one).replace("\n", " ") for one in most.tolist()]
        vectors = model.entities.weights.detach().cpu()[most.copy()]
        self._writer.add_embedding(vectors, names, global_step=step, tag="entities")

    def close(self) -> None:
        """Write what is left."""
        if self._writer is not None:
            self._writer.close()

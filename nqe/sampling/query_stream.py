"""An endless stream of training queries of several shapes, sampled by workers in the background."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from nqe.errors import NqeError
from nqe.graph.dataset import Dataset
from nqe.sampling.query_table import QueryTable, concatenate
from nqe.sampling.worker import Task, Worker
from nqe.sampling.worker_pool import PendingBlock, WorkerPool, open_background_pool
from nqe.settings import SamplingSettings

AHEAD = 2
"""The number of blocks of a shape that are sampled before they are needed."""
_MAX_EMPTY = 50
"""A shape is an error after this many blocks in a row without a query."""


@dataclass
class _Position:
    """How far the queries of a shape are used: `used` queries of the block of this number."""

    block: int = 0
    used: int = 0
    table: QueryTable | None = None
    pending: deque[PendingBlock] = field(default_factory=deque)


def _position(saved: Sequence[int]) -> _Position:
    block, used = saved
    return _Position(block, used)


class QueryStream:
    """Queries by shape. They depend on the seed, not on the workers, and can start anywhere."""

    def __init__(
        self,
        pool: WorkerPool,
        shapes: Sequence[str],
        positions: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        self._pool = pool
        start = positions or {}
        self._positions = {shape: _position(start.get(shape, (0, 0))) for shape in shapes}

    @property
    def positions(self) -> dict[str, list[int]]:
        """The block and the used queries of each shape; a new stream can continue from them."""
        return {shape: [at.block, at.used] for shape, at in self._positions.items()}

    def take(self, shape: str, count: int) -> QueryTable:
        """Return the next queries of a shape, waiting for the workers if needed."""
        position, parts = self._positions[shape], []
        empty = 0
        while count:
            table = self._current_table(shape, position)
            taken = min(count, len(table) - position.used)
            empty = 0 if taken else empty + 1
            if empty > _MAX_EMPTY:
                raise NqeError(
                    f"no query of shape {shape} was found in the graph; leave it out with --shapes"
                )
            parts.append(table.take(np.arange(position.used, position.used + taken)))
            position.used += taken
            count -= taken
            if position.used == len(table):
                position.block, position.used, position.table = position.block + 1, 0, None
        return concatenate(parts)

    def _current_table(self, shape: str, position: _Position) -> QueryTable:
        if position.table is None:
            while len(position.pending) < AHEAD:
                task = Task("train", shape, position.block + len(position.pending))
                position.pending.append(self._pool.submit(task))
            position.table = position.pending.popleft().result().table
        return position.table


@contextmanager
def open_query_stream(
    dataset: Dataset,
    settings: SamplingSettings,
    workers: int,
    positions: Mapping[str, Sequence[int]] | None = None,
) -> Iterator[QueryStream]:
    """Open a stream of the settings' shapes over the train split.

    Its worker processes end with the `with` block.
    """
    worker = Worker(dataset, settings)
    for shape in settings.shapes:
        if not worker.can_sample("train", shape):
            raise NqeError(
                f"no fact has enough slots for the shape {shape}; leave it out with --shapes"
            )
    train = Dataset(dataset.vocabulary, {"train": dataset.splits["train"]})
    with open_background_pool(train, settings, workers) as pool:
        yield QueryStream(pool, settings.shapes, positions)

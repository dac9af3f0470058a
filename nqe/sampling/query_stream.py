"""An endless stream of training queries of some shapes, drawn by workers in the background."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from nqe.errors import NqeError
from nqe.graph.dataset import Dataset
from nqe.query.shapes import parse_shape
from nqe.sampling.block_sampler import Block
from nqe.sampling.query_table import QueryTable, concatenate
from nqe.sampling.sampler import Task, Workshop, make_in_worker, worker_pool
from nqe.settings import SamplingSettings

AHEAD = 2
"""Blocks of a shape that are drawn before they are needed."""
_MOST_EMPTY = 50


@dataclass
class _Place:
    """How far a shape's queries are used up: so many of the block of this number."""

    block: int = 0
    used: int = 0
    table: QueryTable | None = None
    waiting: deque[Future[Block]] = field(default_factory=deque)


def _place(saved: Sequence[int]) -> _Place:
    block, used = saved
    return _Place(block, used)


class Stream:
    """Queries by shape, the same for a seed whatever the workers, from any place on."""

    def __init__(
        self,
        pool: ProcessPoolExecutor,
        shapes: Sequence[str],
        places: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        self._pool = pool
        start = places or {}
        self._places = {shape: _place(start.get(shape, (0, 0))) for shape in shapes}

    def places(self) -> dict[str, list[int]]:
        """Where each shape's queries are: what `places` of a new stream continues from."""
        return {shape: [place.block, place.used] for shape, place in self._places.items()}

    def take(self, shape: str, count: int) -> QueryTable:
        """The next queries of a shape."""
        place, parts = self._places[shape], []
        empty = 0
        while count:
            table = self._table(shape, place)
            some = min(count, len(table) - place.used)
            empty = 0 if some else empty + 1
            if empty > _MOST_EMPTY:
                raise NqeError(
                    f"no query of shape {shape} is found in the graph; leave it out with --shapes"
                )
            parts.append(table.take(np.arange(place.used, place.used + some)))
            place.used += some
            count -= some
            if place.used == len(table):
                place.block, place.used, place.table = place.block + 1, 0, None
        return concatenate(parts)

    def _table(self, shape: str, place: _Place) -> QueryTable:
        if place.table is None:
            while len(place.waiting) < AHEAD:
                task = Task("train", shape, place.block + len(place.waiting))
                place.waiting.append(self._pool.submit(make_in_worker, task))
            place.table = place.waiting.popleft().result().table
        return place.table


@contextmanager
def streaming(
    dataset: Dataset,
    settings: SamplingSettings,
    workers: int,
    places: Mapping[str, Sequence[int]] | None = None,
) -> Iterator[Stream]:
    """A stream of the settings' shapes over the train split; its workers end with the block."""
    workshop = Workshop(dataset, settings)
    for shape in settings.shapes:
        if not workshop.maker("train").walker.can_fill(parse_shape(shape)):
            raise NqeError(
                f"no fact has enough slots for the shape {shape}; leave it out with --shapes"
            )
    train = Dataset(dataset.vocabulary, {"train": dataset.splits["train"]})
    pool = worker_pool(train, settings, workers)
    try:
        yield Stream(pool, settings.shapes, places)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)

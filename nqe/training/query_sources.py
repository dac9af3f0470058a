"""Where training queries come from: a query set, or the graph itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from nqe.errors import NqeError
from nqe.graph.arrays import Integers
from nqe.graph.dataset import Dataset
from nqe.graph.graph import Graph
from nqe.graph.pattern import Kind
from nqe.graph.vocabulary import Vocabulary
from nqe.query.plan import Op
from nqe.query.shapes import SHAPES, named
from nqe.sampling import load_queries
from nqe.sampling.one_hop import NAME as ONE_HOP
from nqe.sampling.one_hop import closed_queries, open_queries
from nqe.sampling.query_stream import Stream, streaming
from nqe.sampling.query_table import QueryTable, concatenate
from nqe.settings import SamplingSettings, TrainSettings

_ORDER, _OPEN, _SHAPE, _OFTEN = (0, 1, 2, 5)
"""What random numbers are for; 3 and 4 are the loop's."""
_MOST_OPEN = 9
"""Open queries of an epoch for each closed one."""


@dataclass(frozen=True)
class Place:
    """How far training is in its queries: this batch of this epoch comes next."""

    epoch: int = 0
    batch: int = 0
    streams: dict[str, list[int]] | None = None
    """By shape, the block of drawn queries and how many of it are used."""

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> Place:
        """The place that `vars(place)` wrote."""
        return cls(**data)


class Source(Protocol):
    """Batches for ever, from any place on, the same ones for a seed."""

    @property
    def epoch_batches(self) -> int:
        """How many batches an epoch has."""
        ...

    def batches(self, place: Place) -> Iterator[tuple[QueryTable, Place]]:
        """Each batch, and the place after it."""
        ...


@dataclass(frozen=True, eq=False)
class TableSource:
    """Passes over a table of queries in random order."""

    table: QueryTable
    batch: int
    by_shape: bool
    seed: int

    @property
    def epoch_batches(self) -> int:
        """How many batches an epoch has."""
        return len(self._batches(0))

    def batches(self, place: Place) -> Iterator[tuple[QueryTable, Place]]:
        """Each batch, and the place after it."""
        while True:
            epoch = self._batches(place.epoch)
            for number in range(place.batch, len(epoch)):
                yield self.table.take(epoch[number]), _after(place.epoch, number, len(epoch))
            place = Place(place.epoch + 1)

    def _batches(self, epoch: int) -> list[Integers]:
        rng = np.random.default_rng((self.seed, epoch, _ORDER))
        if not self.by_shape:
            return _cut(rng.permutation(len(self.table)), self.batch)
        shapes = np.array(self.table.shape)
        batches = [
            one
            for name in sorted(set(self.table.shape))
            for one in _cut(rng.permutation(np.flatnonzero(shapes == name)), self.batch)
        ]
        return [batches[number] for number in rng.permutation(len(batches))]


@dataclass(frozen=True, eq=False)
class GraphSource:
    """One-hop queries of every slot in passes, and other shapes as they are drawn."""

    graph: Graph
    closed: QueryTable
    stream: Stream
    shapes: tuple[str, ...]
    settings: TrainSettings

    @property
    def epoch_batches(self) -> int:
        """How many batches an epoch has."""
        if not self._one_hop:
            return max(1, len(self.closed) // self.settings.batch)
        return -(-(self._closed_count + self._open_count) // self._one_hop)

    def batches(self, place: Place) -> Iterator[tuple[QueryTable, Place]]:
        """Each batch, and the place after it."""
        while True:
            one_hop = self._epoch(place.epoch)
            count = self.epoch_batches
            for number in range(place.batch, count):
                table = self._mixed(one_hop, place.epoch, number)
                after = _after(place.epoch, number, count)
                yield table, replace(after, streams=self.stream.places())
            place = Place(place.epoch + 1)

    @property
    def _others(self) -> tuple[str, ...]:
        return tuple(shape for shape in self.shapes if shape != ONE_HOP)

    @property
    def _one_hop(self) -> int:
        """How many queries of a batch are one-hop."""
        share = self.settings.one_hop_share if self._others else 1.0
        if ONE_HOP not in self.shapes or not share:
            return 0
        return max(1, round(self.settings.batch * share))

    @property
    def _open_count(self) -> int:
        share = self.settings.open_share
        if share == 1:
            return len(self.closed)
        # No more than can be drawn at once: a share near 1 is that of many closed queries.
        return min(round(len(self.closed) * share / (1 - share)), _MOST_OPEN * len(self.closed))

    @property
    def _closed_count(self) -> int:
        return 0 if self.settings.open_share == 1 else len(self.closed)

    def _epoch(self, epoch: int) -> QueryTable:
        rng = np.random.default_rng((self.settings.seed, epoch, _OPEN))
        opened = open_queries(self.graph, self._open_count, rng)
        table = concatenate([self._closed(epoch), opened]) if self._closed_count else opened
        order = np.random.default_rng((self.settings.seed, epoch, _ORDER))
        return table.take(order.permutation(len(table)))

    def _closed(self, epoch: int) -> QueryTable:
        """As many closed queries as there are; those with more answers come more often."""
        rng = np.random.default_rng((self.settings.seed, epoch, _OFTEN))
        rows = rng.permutation(len(self.closed))
        often = self.closed.easy.lengths[rows] ** self.settings.answers_power
        # Even steps along the sums take each query as often as it should be, but for rounding.
        ends = np.cumsum(often * (len(rows) / often.sum()))
        places = np.searchsorted(ends, rng.random() + np.arange(len(rows)), side="right")
        return self.closed.take(rows[np.minimum(places, len(rows) - 1)])

    def _mixed(self, one_hop: QueryTable, epoch: int, number: int) -> QueryTable:
        first = number * self._one_hop
        rows = np.arange(first, min(first + self._one_hop, len(one_hop)))
        rest = self.settings.batch - self._one_hop
        if not self._others or not rest:
            return one_hop.take(rows)
        if self.settings.batching == "by-shape":
            return self._one_shape(one_hop, epoch, number)
        shares = _even(rest, len(self._others), epoch * self.epoch_batches + number)
        others = [
            self.stream.take(shape, count)
            for shape, count in zip(self._others, shares, strict=True)
            if count
        ]
        return concatenate([one_hop.take(rows), *others])

    def _one_shape(self, one_hop: QueryTable, epoch: int, number: int) -> QueryTable:
        """A whole batch of one shape, drawn by the shapes' shares."""
        rng = np.random.default_rng((self.settings.seed, epoch, number, _SHAPE))
        if rng.random() < self._one_hop / self.settings.batch:
            return one_hop.take(rng.integers(len(one_hop), size=self.settings.batch))
        return self.stream.take(str(rng.choice(self._others)), self.settings.batch)


@contextmanager
def source_of(
    dataset: Dataset, queries: str | None, settings: TrainSettings, place: Place
) -> Iterator[Source]:
    """Queries of a query set, or of the graph; workers that draw some end with the block."""
    shapes = shapes_of(settings)
    if queries is None:
        with graph_source(dataset, shapes or list(SHAPES), settings, place) as source:
            yield source
    else:
        table = query_table(dataset, queries, "train", shapes)
        yield TableSource(table, settings.batch, settings.batching == "by-shape", settings.seed)


def shapes_of(settings: TrainSettings) -> list[str]:
    """The shapes that are named, by their names."""
    return [named(name) for name in settings.shapes]


def query_table(
    dataset: Dataset, folder: str, split: str, shapes: Sequence[str] = ()
) -> QueryTable:
    """The queries of a split that have these shapes, or all; none of a shape is an error."""
    table = load_queries(folder, split)
    check_numbers(table, dataset.vocabulary, f"{folder}/{split}.parquet")
    missing = [name for name in shapes if name not in table.shape] or ([] if len(table) else [""])
    if missing:
        raise NqeError(
            f"{folder}: no {split} queries{' of shape ' * bool(missing[0])}{missing[0]}; "
            "sample some, or name other shapes"
        )
    if not shapes:
        return table
    return table.take(np.flatnonzero(np.isin(np.array(table.shape), list(shapes))))


def check_numbers(table: QueryTable, vocabulary: Vocabulary, where: str) -> None:
    """Refuse queries with entities or relations that the graph does not have."""
    plans = table.plans
    anchors = plans.filler[plans.kind == Kind.KNOWN]
    relations = plans.relation[plans.op == Op.PROJECTION]
    attributes = plans.attribute[plans.attribute != -1]
    for kind, count, numbers in (
        ("entity", len(vocabulary.entities), (anchors, table.easy.values, table.hard.values)),
        ("relation", len(vocabulary.relations), (relations, attributes)),
    ):
        found = np.concatenate(numbers)
        wrong = found[(found < 0) | (found >= count)]
        if len(wrong):
            raise NqeError(
                f"{where}: {kind} number {wrong[0]} is not one of the graph's {count:,}; "
                "sample the queries again"
            )


@contextmanager
def graph_source(
    dataset: Dataset, shapes: Sequence[str], settings: TrainSettings, place: Place
) -> Iterator[GraphSource]:
    """Queries from the facts to train on; workers that draw some end with the block."""
    graph = dataset.known(settings.facts)
    if not len(graph):
        raise NqeError(f"train.facts is '{settings.facts}', which has no facts; name other splits")
    if settings.facts != "train":
        dataset = Dataset(dataset.vocabulary, {"train": graph.facts})
    sampling = SamplingSettings(
        shapes=tuple(shape for shape in shapes if shape != ONE_HOP),
        match=_match(settings.open_share),
        seed=settings.seed,
    )
    closed = closed_queries(graph.facts)
    with streaming(dataset, sampling, settings.workers, place.streams) as stream:
        yield GraphSource(graph, closed, stream, tuple(shapes), settings)


def _match(open_share: float) -> str:
    if 0 < open_share < 1:
        return "any"
    return "open" if open_share else "closed"


def _after(epoch: int, number: int, count: int) -> Place:
    """The place after this batch of an epoch that has so many."""
    return Place(epoch + 1) if number + 1 == count else Place(epoch, number + 1)


def _cut(rows: Integers, size: int) -> list[Integers]:
    return [rows[first : first + size] for first in range(0, len(rows), size)]


def _even(count: int, parts: int, turn: int) -> list[int]:
    """So many in even parts; what is left over goes round."""
    base, rest = divmod(count, parts)
    return [base + ((part - turn) % parts < rest) for part in range(parts)]

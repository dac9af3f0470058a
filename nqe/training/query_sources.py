"""Sources of training queries: the batches of a query set, or queries drawn from the graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from nqe.errors import NqeError
from nqe.graph.arrays import Integers
from nqe.graph.dataset import Dataset
from nqe.graph.graph import Graph
from nqe.graph.pattern import Kind
from nqe.graph.vocabulary import Vocabulary
from nqe.query.plan import Op
from nqe.query.shapes import SHAPES, parse_shape
from nqe.sampling import load_queries
from nqe.sampling.one_hop import NAME as ONE_HOP
from nqe.sampling.one_hop import (
    draw_closed_queries,
    draw_open_queries,
    make_closed_queries,
    replace_by_any,
)
from nqe.sampling.query_stream import QueryStream, open_query_stream
from nqe.sampling.query_table import QueryTable, concatenate, empty
from nqe.sampling.wide_conjunctions import WideConjunctions
from nqe.settings import SamplingSettings, TrainSettings

# Keys of the random generators; gradients.py uses 3 and 4, relation_source.py uses 9.
_ORDER, _OPEN, _SHAPE, _REPETITIONS, _WIDE, _ANY, _CLOSED = (0, 1, 2, 5, 6, 7, 8)
_MAX_OPEN = 9
"""An epoch has at most this many open queries for each closed one."""
MOST_FACTS = 1_000_000
"""From a graph with more facts, the closed queries of each epoch are drawn."""
DRAWN = 500_000
"""How many closed queries are drawn for an epoch then, which bounds the memory."""
_WIDE_SHARE = 0.0175
"""The share of wide conjunctions in a batch that has conjunctions."""
_ANY_SHARE = 0.05
"""The share of one-hop queries in which Any replaces an entity."""


@dataclass(frozen=True)
class Position:
    """Where training is in its queries: the batch, of an epoch, that comes next."""

    epoch: int = 0
    batch: int = 0
    streams: dict[str, list[int]] | None = None
    """For each shape that is sampled: the current block, and how many of its queries are used."""

    @classmethod
    def of_json(cls, data: dict[str, Any]) -> Position:
        """Read what `vars(position)` gave."""
        return cls(**data)


class QuerySource(Protocol):
    """An endless sequence of batches that can begin at any position, repeatable by its seed."""

    @property
    def epoch_batches(self) -> int:
        """The number of batches per epoch."""
        ...

    def batches(self, position: Position) -> Iterator[tuple[QueryTable, Position]]:
        """Yield each batch with the position after it."""
        ...


@dataclass(frozen=True, eq=False)
class TableSource:
    """All queries of a table, in another random order in each epoch."""

    table: QueryTable
    batch: int
    by_shape: bool
    seed: int

    @property
    def epoch_batches(self) -> int:
        """The number of batches per epoch."""
        return len(self._batches(0))

    def batches(self, position: Position) -> Iterator[tuple[QueryTable, Position]]:
        """Yield each batch with the position after it."""
        while True:
            epoch = self._batches(position.epoch)
            for number in range(position.batch, len(epoch)):
                after = _position_after(position.epoch, number, len(epoch))
                yield self.table.take(epoch[number]), after
            position = Position(position.epoch + 1)

    def _batches(self, epoch: int) -> list[Integers]:
        """Return the rows of each batch of an epoch."""
        rng = np.random.default_rng((self.seed, epoch, _ORDER))
        if not self.by_shape:
            return _cut(rng.permutation(len(self.table)), self.batch)
        shapes = np.array(self.table.shape)
        batches = [
            rows
            for name in sorted(set(self.table.shape))
            for rows in _cut(rng.permutation(np.flatnonzero(shapes == name)), self.batch)
        ]
        return [batches[number] for number in rng.permutation(len(batches))]


@dataclass(frozen=True, eq=False)
class GraphSource:
    """One-hop queries about every slot of every fact in epochs, and sampled queries of others.

    If there are very many facts, an epoch has queries about some of them, which are drawn. If the
    shapes include conjunctions, some queries of each batch are wide conjunctions.
    """

    graph: Graph
    closed: QueryTable
    """All closed one-hop queries; if they are drawn, those of the first epoch."""
    stream: QueryStream
    shapes: tuple[str, ...]
    settings: TrainSettings
    wide: WideConjunctions | None = None

    @property
    def epoch_batches(self) -> int:
        """The number of batches per epoch."""
        if not self._one_hop:
            return max(1, len(self.closed) // self.settings.batch)
        return -(-(self._closed_count + self._open_count) // self._one_hop)

    def batches(self, position: Position) -> Iterator[tuple[QueryTable, Position]]:
        """Yield each batch with the position after it."""
        while True:
            one_hop = self._epoch(position.epoch)
            count = self.epoch_batches
            for number in range(position.batch, count):
                table = self._mix(one_hop, position.epoch, number)
                after = _position_after(position.epoch, number, count)
                yield table, replace(after, streams=self.stream.positions)
            position = Position(position.epoch + 1)

    @property
    def _others(self) -> tuple[str, ...]:
        """The shapes that are sampled."""
        return tuple(shape for shape in self.shapes if shape != ONE_HOP)

    @property
    def _one_hop(self) -> int:
        """The number of one-hop queries per batch."""
        share = self.settings.one_hop_share if self._others else 1.0
        if ONE_HOP not in self.shapes or not share:
            return 0
        return max(1, round(self.settings.batch * share))

    @property
    def _open_count(self) -> int:
        """The number of open one-hop queries per epoch."""
        share = self.settings.open_share
        if share == 1:
            return len(self.closed)
        # All are drawn at once, and with a share near 1 there would be too many.
        return min(round(len(self.closed) * share / (1 - share)), _MAX_OPEN * len(self.closed))

    @property
    def _closed_count(self) -> int:
        """The number of closed one-hop queries per epoch."""
        return 0 if self.settings.open_share == 1 else len(self.closed)

    def _epoch(self, epoch: int) -> QueryTable:
        """Return the one-hop queries of an epoch, in random order."""
        rng = np.random.default_rng((self.settings.seed, epoch, _OPEN))
        table = draw_open_queries(self.graph, self._open_count, rng)
        if self._closed_count:
            table = concatenate([self._draw_closed(epoch), table])
        table = self._replace_some(table, epoch)
        order = np.random.default_rng((self.settings.seed, epoch, _ORDER))
        return table.take(order.permutation(len(table)))

    def _draw_closed(self, epoch: int) -> QueryTable:
        """Draw as many closed queries as there are; a query with more answers occurs more often."""
        rng = np.random.default_rng((self.settings.seed, epoch, _REPETITIONS))
        closed, weight = _find_closed(self.graph, self.settings, epoch, self.closed)
        rows, count = rng.permutation(len(closed)), len(self.closed)
        frequency = weight[rows]
        # Equal steps along the cumulative sums take each query as often as its frequency says,
        # rounded down or up.
        ends = np.cumsum(frequency * (count / frequency.sum()))
        drawn = np.searchsorted(ends, rng.random() + np.arange(count), side="right")
        return closed.take(rows[np.minimum(drawn, len(rows) - 1)])

    def _replace_some(self, table: QueryTable, epoch: int) -> QueryTable:
        """Replace an entity by Any in some of the one-hop queries of an epoch."""
        rng = np.random.default_rng((self.settings.seed, epoch, _ANY))
        rows = rng.permutation(len(table))
        count = round(len(table) * _ANY_SHARE)
        changed = replace_by_any(table.take(rows[:count]), self.graph, rng)
        return concatenate([table.take(rows[count:]), changed])

    def _mix(self, one_hop: QueryTable, epoch: int, number: int) -> QueryTable:
        """Return a batch of one-hop queries and of equal parts of the other shapes."""
        first = number * self._one_hop
        rows = np.arange(first, min(first + self._one_hop, len(one_hop)))
        rest = self.settings.batch - self._one_hop
        if not self._others or not rest:
            return one_hop.take(rows)
        if self.settings.batching == "by-shape":
            return self._take_one_shape(one_hop, epoch, number)
        wide = self._draw_wide(rest, epoch, number)
        turn = epoch * self.epoch_batches + number
        counts = _divide_evenly(rest - len(wide), len(self._others), turn)
        others = [
            self.stream.take(shape, count)
            for shape, count in zip(self._others, counts, strict=True)
            if count
        ]
        return concatenate([one_hop.take(rows), *others, wide])

    def _draw_wide(self, most: int, epoch: int, number: int) -> QueryTable:
        """Draw the wide conjunctions of a batch; none if there is nothing to draw them from."""
        rng = np.random.default_rng((self.settings.seed, epoch, number, _WIDE))
        # A small batch has one with the probability that gives the share on average.
        count = int(self.settings.batch * _WIDE_SHARE + rng.random())
        return self.wide.draw(min(count, most), rng) if self.wide else empty()

    def _take_one_shape(self, one_hop: QueryTable, epoch: int, number: int) -> QueryTable:
        """Return a batch of a single shape, drawn by the shares of the shapes."""
        rng = np.random.default_rng((self.settings.seed, epoch, number, _SHAPE))
        if rng.random() < self._one_hop / self.settings.batch:
            return one_hop.take(rng.integers(len(one_hop), size=self.settings.batch))
        return self.stream.take(str(rng.choice(self._others)), self.settings.batch)


@contextmanager
def open_source(
    dataset: Dataset, queries: str | None, settings: TrainSettings, position: Position
) -> Iterator[QuerySource]:
    """Open the source of a query set, or of the graph if there is none.

    Its batches leave room for the queries that ask for relations. Worker processes that sample
    queries end with the `with` block.
    """
    shapes = parse_shapes(settings)
    settings = replace(settings, batch=settings.batch - settings.relation_batch)
    if queries is None:
        with open_graph_source(dataset, shapes or list(SHAPES), settings, position) as source:
            yield source
    else:
        table = load_checked_queries(dataset, queries, "train", shapes)
        yield TableSource(table, settings.batch, settings.batching == "by-shape", settings.seed)


def parse_shapes(settings: TrainSettings) -> list[str]:
    """Return the names of the shapes to train on; empty if the settings name none."""
    return [parse_shape(name).name for name in settings.shapes]


def load_checked_queries(
    dataset: Dataset, folder: str, split: str, shapes: Sequence[str] = ()
) -> QueryTable:
    """Load the queries of a split, or those of some shapes; a shape without any is an error."""
    table = load_queries(folder, split)
    check_numbers(table, dataset.vocabulary, f"{folder}/{split}.parquet")
    missing = [f" of shape {name}" for name in shapes if name not in table.shape]
    if missing or not len(table):
        which = missing[0] if missing else ""
        raise NqeError(f"{folder}: no {split} queries{which}; sample some, or name other shapes")
    if not shapes:
        return table
    return table.take(np.flatnonzero(np.isin(np.array(table.shape), list(shapes))))


def check_numbers(table: QueryTable, vocabulary: Vocabulary, where: str) -> None:
    """Refuse queries with entities or relations that the graph does not have."""
    plans = table.plans
    anchors = plans.filler[plans.kind == Kind.KNOWN]
    relations = plans.relation[plans.op == Op.PROJECTION]
    attributes = plans.attribute[plans.attribute != -1]
    for kind, count, columns in (
        ("entity", len(vocabulary.entities), (anchors, table.easy.values, table.hard.values)),
        ("relation", len(vocabulary.relations), (relations, attributes)),
    ):
        numbers = np.concatenate(columns)
        wrong = numbers[(numbers < 0) | (numbers >= count)]
        if len(wrong):
            raise NqeError(
                f"{where}: {kind} number {wrong[0]} is not one of the graph's {count:,}; "
                "sample the queries again"
            )


@contextmanager
def open_graph_source(
    dataset: Dataset, shapes: Sequence[str], settings: TrainSettings, position: Position
) -> Iterator[GraphSource]:
    """Open a source of queries about the facts to train on.

    Worker processes that sample queries end with the `with` block.
    """
    graph = dataset.known(settings.facts)
    if not len(graph):
        raise NqeError(f"train.facts is '{settings.facts}', which has no facts; name other splits")
    if settings.facts != "train":
        dataset = Dataset(dataset.vocabulary, {"train": graph.facts})
    sampling = SamplingSettings(
        shapes=tuple(shape for shape in shapes if shape != ONE_HOP),
        match=_choose_match(settings.open_share),
        seed=settings.seed,
    )
    closed, _ = _find_closed(graph, settings)
    with open_query_stream(dataset, sampling, settings.workers, position.streams) as stream:
        wide = WideConjunctions(closed) if _want_wide(shapes, settings) else None
        yield GraphSource(graph, closed, stream, tuple(shapes), settings, wide)


def _find_closed(
    graph: Graph, settings: TrainSettings, epoch: int = 0, all_closed: QueryTable | None = None
) -> tuple[QueryTable, npt.NDArray[np.floating[Any]]]:
    """Return the closed queries of an epoch, and how often each should occur, relatively.

    `all_closed` are all closed queries, if they are known already.
    """
    power = settings.answers_power
    if len(graph) <= MOST_FACTS:
        closed = make_closed_queries(graph.facts) if all_closed is None else all_closed
        return closed, closed.easy.lengths**power
    rng = np.random.default_rng((settings.seed, epoch, _CLOSED))
    closed, times = draw_closed_queries(graph, DRAWN, rng)
    # It was drawn in proportion to its answers, which this makes good.
    return closed, times * closed.easy.lengths ** (power - 1)


def _want_wide(shapes: Sequence[str], settings: TrainSettings) -> bool:
    """Whether to train on wide conjunctions, whose parts are closed queries."""
    words = {one.word for shape in shapes for one in parse_shape(shape).walk()}
    return "And" in words and settings.open_share < 1


def _choose_match(open_share: float) -> str:
    if 0 < open_share < 1:
        return "any"
    return "open" if open_share else "closed"


def _position_after(epoch: int, number: int, count: int) -> Position:
    """Return the position after batch `number` of an epoch with `count` batches."""
    return Position(epoch + 1) if number + 1 == count else Position(epoch, number + 1)


def _cut(rows: Integers, size: int) -> list[Integers]:
    return [rows[first : first + size] for first in range(0, len(rows), size)]


def _divide_evenly(count: int, parts: int, turn: int) -> list[int]:
    """Divide a count into equal parts; the remainder goes to other parts at each turn."""
    base, rest = divmod(count, parts)
    return [base + ((part - turn) % parts < rest) for part in range(parts)]

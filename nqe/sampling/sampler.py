"""Sampling a whole query set: all splits and shapes, by any number of workers, the same always."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from typing import Any, Protocol, cast

import numpy as np

from nqe.errors import NqeError
from nqe.graph.dataset import SPLITS, Dataset
from nqe.query.shapes import SHAPES, name_of, parse_shape
from nqe.sampling.block import Block, BlockMaker
from nqe.sampling.table import QueryTable, concatenate, empty
from nqe.sampling.walk import Draw, Match, Walker
from nqe.settings import SamplingSettings

TRIES = 500
# A shape is given up when so many blocks one after another yield nothing new.
BARREN = 6
# The facts that queries of a split are walked over, and those that are known.
WORLDS: dict[str, tuple[str, str | None]] = {
    "train": ("train", None),
    "valid": ("train,valid", "train"),
    "test": ("train,valid,test", "train,valid"),
}


class Watch(Protocol):
    """Someone who wants to see how far sampling is."""

    def start(self, total: int) -> None:
        """So many queries are wanted."""

    def update(self, done: int, what: str) -> None:
        """So many are there; this split and shape grew last."""


@dataclass(frozen=True, eq=False)
class QuerySet:
    """Sampled queries by split, how they were made, and what was refused."""

    fingerprint: str
    settings: SamplingSettings | None
    """How they were drawn; None when they were made elsewhere."""
    splits: dict[str, QueryTable]
    refused: dict[str, dict[str, Counter[str]]] = field(default_factory=dict)
    overlap: dict[str, int] = field(default_factory=dict)
    """By split, how many queries are the same formula as one of training."""


@dataclass(frozen=True)
class Task:
    """One block to make: it depends on nothing but this and the data set."""

    split: str
    shape: str
    number: int


def sample(
    dataset: Dataset,
    settings: SamplingSettings | None = None,
    *,
    workers: int | None = None,
    watch: Watch | None = None,
) -> QuerySet:
    """Draw queries of every shape for every split; the same for a seed, whatever the workers."""
    settings = with_counts(settings or SamplingSettings(), dataset)
    splits = [name for name in SPLITS if getattr(settings, name)]
    workshop = _Workshop(dataset, settings)
    _check(workshop, splits)
    shapes = [name_of(parse_shape(name)) for name in settings.shapes or SHAPES]
    quotas = [
        _Quota(split, shape, getattr(settings, split), settings.balance == "missing")
        for split in splits
        for shape in shapes
    ]
    if watch is not None:
        watch.start(sum(quota.wanted for quota in quotas))
    # A query of an earlier split is not taken again: validation and test share none.
    with _workers(workshop, workers) as make:
        _fill(quotas, make, watch)
    return QuerySet(
        dataset.fingerprint,
        settings,
        {
            split: concatenate(quota.table() for quota in quotas if quota.split == split)
            for split in splits
        },
        {
            split: {quota.shape: quota.refused for quota in quotas if quota.split == split}
            for split in splits
        },
        _overlap(quotas),
    )


def with_counts(settings: SamplingSettings, dataset: Dataset) -> SamplingSettings:
    """The settings with counts for the graph's size where none are given."""
    facts = len(dataset.splits.get("train", ()))
    default = {
        "train": min(20_000, max(100, facts // 10)),
        "valid": min(1_000, max(20, facts // 100)),
        "test": min(1_000, max(20, facts // 100)),
    }
    counts = {
        name: default[name] if name in dataset.splits else 0
        for name in SPLITS
        if getattr(settings, name) is None
    }
    return replace(settings, **cast(Any, counts))


def _check(workshop: _Workshop, splits: Sequence[str]) -> None:
    dataset = workshop.dataset
    for split in splits:
        if split not in dataset.splits or not len(dataset.splits[split]):
            raise NqeError(
                f"the {split} split is empty, so no {split} queries can be drawn; "
                f"import one, or ask for none with --{split} 0"
            )
    for name in workshop.settings.shapes or SHAPES:
        if not any(workshop.maker(one).walker.can_fill(parse_shape(name)) for one in splits):
            raise NqeError(
                f"no fact has enough slots for the shape {name}; leave it out with --shape"
            )


def _overlap(quotas: Sequence[_Quota]) -> dict[str, int]:
    training = set[bytes]().union(*(one.signatures for one in quotas if one.split == "train"))
    held_out = [one for one in quotas if one.split != "train"]
    counts: Counter[str] = Counter()
    for one in held_out:
        counts[one.split] += len(one.signatures & training)
    return dict(counts)


@dataclass(eq=False)
class _Quota:
    """How many queries of a shape a split wants, and those it has."""

    split: str
    shape: str
    wanted: int
    balanced: bool
    blocks: list[QueryTable] = field(default_factory=list)
    by_missing: Counter[int] = field(default_factory=Counter)
    count: int = 0
    next_block: int = 0
    barren: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    signatures: set[bytes] = field(default_factory=set)

    @property
    def open(self) -> bool:
        return self.count < self.wanted and self.barren < BARREN

    def blocks_to_try(self) -> int:
        """How many blocks to make next: two to learn what they yield, then what is lacking."""
        if not self.next_block:
            return 2
        rate = max(self.count / self.next_block, 1)
        return int(min(np.ceil((self.wanted - self.count) / rate), 64))

    def take(self, block: Block, seen: set[bytes]) -> None:
        """Keep the new queries of a block until the quota is full."""
        self.refused += block.refused
        fresh: list[int] = []
        for row, one in enumerate(block.signatures):
            if self.count + len(fresh) >= self.wanted:
                break
            if one in seen:
                self.refused["drawn before"] += 1
            elif self._welcome(block, row):
                seen.add(one)
                fresh.append(row)
            else:
                self.refused["enough of so many missing links"] += 1
        self.count += len(fresh)
        self.signatures.update(block.signatures[row] for row in fresh)
        self.barren = 0 if fresh else self.barren + 1
        if fresh:
            self.blocks.append(block.table.take(np.array(fresh)))

    def _welcome(self, block: Block, row: int) -> bool:
        """Balanced: whether queries with so many missing links are still wanted."""
        if not self.balanced or self.split == "train":
            return True
        links = int(block.table.missing[row].max())
        widest = max(1, int(sum(one.word == "P" for one in parse_shape(self.shape).walk())))
        share = -(-self.wanted // widest)
        if self.by_missing[links] >= share:
            return False
        self.by_missing[links] += 1
        return True

    def table(self) -> QueryTable:
        return concatenate(self.blocks) if self.blocks else empty()


def _fill(
    quotas: Sequence[_Quota],
    make: Callable[[Sequence[Task]], Iterator[Block]],
    watch: Watch | None,
) -> None:
    """Make blocks in rounds, and take them in the order of the tasks, not of their arrival."""
    seen: dict[str, set[bytes]] = {"train": set(), "held out": set()}
    while tasks := [task for quota in quotas if quota.open for task in _tasks(quota)]:
        of = {(quota.split, quota.shape): quota for quota in quotas}
        for task, block in zip(tasks, make(tasks), strict=True):
            quota = of[task.split, task.shape]
            quota.take(block, seen["train" if task.split == "train" else "held out"])
            if watch is not None:
                watch.update(sum(one.count for one in quotas), f"{task.split} {task.shape}")


def _tasks(quota: _Quota) -> list[Task]:
    first = quota.next_block
    quota.next_block += quota.blocks_to_try()
    return [Task(quota.split, quota.shape, number) for number in range(first, quota.next_block)]


@dataclass(eq=False)
class _Workshop:
    """Makes blocks; keeps what a split needs once it is made."""

    dataset: Dataset
    settings: SamplingSettings
    _makers: dict[str, BlockMaker] = field(default_factory=dict)

    def make(self, task: Task) -> Block:
        """One block, by a random generator of its own."""
        place = (SPLITS.index(task.split), *task.shape.encode(), task.number)
        seeds = np.random.SeedSequence(self.settings.seed, spawn_key=place)
        rng = np.random.default_rng(seeds)
        return self.maker(task.split).make(parse_shape(task.shape), TRIES, rng)

    def maker(self, split: str) -> BlockMaker:
        """The maker of a split's blocks."""
        if split not in self._makers:
            self._makers[split] = self._new_maker(*WORLDS[split])
        return self._makers[split]

    def _new_maker(self, full: str, known: str | None) -> BlockMaker:
        settings, dataset = self.settings, self.dataset
        walker = Walker(
            dataset.known(_present(full, dataset)),
            cast(Match, settings.match),
            frozenset(settings.slots),
            cast(Draw, settings.draw),
            settings.qualifiers,
        )
        known_graph = None if known is None else dataset.known(_present(known, dataset))
        return BlockMaker(walker, known_graph, settings.max_answers, settings.train_answers)


@contextmanager
def _workers(
    workshop: _Workshop, workers: int | None
) -> Iterator[Callable[[Sequence[Task]], Iterator[Block]]]:
    count = workers or len(os.sched_getaffinity(0))
    if count == 1:
        yield lambda tasks: map(workshop.make, tasks)
        return
    # Spawned, not forked: safe whatever threads the caller runs.
    # A bare copy, without what the caller's data set has built up and cached.
    dataset = Dataset(workshop.dataset.vocabulary, workshop.dataset.splits)
    settings = (dataset, workshop.settings)
    with ProcessPoolExecutor(count, get_context("spawn"), _start_worker, settings) as pool:
        try:
            yield lambda tasks: pool.map(_make_in_worker, tasks)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


_OF_THIS_PROCESS: list[_Workshop] = []


def _start_worker(dataset: Dataset, settings: SamplingSettings) -> None:
    # Ctrl-C reaches the whole group; the parent alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _OF_THIS_PROCESS[:] = [_Workshop(dataset, settings)]


def _make_in_worker(task: Task) -> Block:
    return _OF_THIS_PROCESS[0].make(task)


def _present(facts: str, dataset: Dataset) -> str:
    """Those of the splits that the data set has."""
    return ",".join(name for name in facts.split(",") if name in dataset.splits) or "none"

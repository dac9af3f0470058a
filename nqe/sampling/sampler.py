"""Sampling a whole query set: all splits and shapes, by any number of workers, the same always."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import get_context, parent_process
from typing import Any, cast

import numpy as np

from nqe.errors import NqeError
from nqe.graph.dataset import SPLITS, Dataset
from nqe.progress import NoProgress, Progress
from nqe.query.shapes import SHAPES, parse_shape
from nqe.sampling.block_sampler import Block, BlockMaker
from nqe.sampling.collector import Quota
from nqe.sampling.query_table import QueryTable, concatenate
from nqe.sampling.random_walk import Draw, Match, Walker
from nqe.settings import SamplingSettings

TRIES = 500
# The facts that queries of a split are walked over, and those that are known.
WORLDS: dict[str, tuple[str, str | None]] = {
    "train": ("train", None),
    "valid": ("train,valid", "train"),
    "test": ("train,valid,test", "train,valid"),
}


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
    progress: Progress | None = None,
) -> QuerySet:
    """Draw queries of every shape for every split; the same for a seed, whatever the workers."""
    settings = with_counts(settings or SamplingSettings(), dataset)
    splits = [name for name in SPLITS if getattr(settings, name)]
    workshop = Workshop(dataset, settings)
    _check(workshop, splits)
    shapes = [parse_shape(name).name for name in settings.shapes or SHAPES]
    quotas = [
        Quota(split, shape, getattr(settings, split), settings.balance == "missing")
        for split in splits
        for shape in shapes
    ]
    progress = progress or NoProgress()
    progress.start("sampling", sum(quota.wanted for quota in quotas))
    with _workers(workshop, workers) as make:
        _fill(quotas, make, progress)
    return QuerySet(
        dataset.fingerprint,
        settings,
        {
            split: concatenate(
                quota.table(_generator(settings, split, quota.shape))
                for quota in quotas
                if quota.split == split
            )
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


def _check(workshop: Workshop, splits: Sequence[str]) -> None:
    dataset = workshop.dataset
    if not splits:
        raise NqeError("no queries are asked for; give a number with --train, --valid or --test")
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


def _overlap(quotas: Sequence[Quota]) -> dict[str, int]:
    training = set[bytes]().union(*(one.signatures for one in quotas if one.split == "train"))
    held_out = [one for one in quotas if one.split != "train"]
    counts: Counter[str] = Counter()
    for one in held_out:
        counts[one.split] += len(one.signatures & training)
    return dict(counts)


def _fill(
    quotas: Sequence[Quota],
    make: Callable[[Sequence[Task]], Iterator[Block]],
    progress: Progress,
) -> None:
    """Make blocks in rounds, and take them in the order of the tasks, not of their arrival."""
    while tasks := [task for quota in quotas if quota.open for task in _tasks(quota)]:
        of = {(quota.split, quota.shape): quota for quota in quotas}
        for task, block in zip(tasks, make(tasks), strict=True):
            of[task.split, task.shape].take(block)
            done = sum(one.count for one in quotas)
            progress.update(done, done, f"{task.split} {task.shape}")


def _tasks(quota: Quota) -> list[Task]:
    first = quota.next_block
    quota.next_block += quota.blocks_to_try()
    return [Task(quota.split, quota.shape, number) for number in range(first, quota.next_block)]


@dataclass(eq=False)
class Workshop:
    """Makes blocks; keeps what a split needs once it is made."""

    dataset: Dataset
    settings: SamplingSettings
    _makers: dict[str, BlockMaker] = field(default_factory=dict)

    def make(self, task: Task) -> Block:
        """One block, by a random generator of its own."""
        rng = _generator(self.settings, task.split, task.shape, task.number)
        return self.maker(task.split).make(parse_shape(task.shape), TRIES, rng)

    def maker(self, split: str) -> BlockMaker:
        """The maker of a split's blocks."""
        if split not in self._makers:
            self._makers[split] = self._new_maker(split)
        return self._makers[split]

    def _new_maker(self, split: str) -> BlockMaker:
        settings, dataset = self.settings, self.dataset
        full, known = WORLDS[split]
        walker = Walker(
            dataset.known(_present(full, dataset)),
            cast(Match, settings.match),
            frozenset(settings.slots),
            cast(Draw, settings.draw),
            settings.qualifiers,
        )
        known_graph = None if known is None else dataset.known(_present(known, dataset))
        share = _share(split, settings)
        return BlockMaker(walker, known_graph, settings.max_answers, settings.train_answers, share)


@contextmanager
def _workers(
    workshop: Workshop, workers: int | None
) -> Iterator[Callable[[Sequence[Task]], Iterator[Block]]]:
    count = workers or len(os.sched_getaffinity(0))
    if count == 1:
        yield lambda tasks: map(workshop.make, tasks)
        return
    with worker_pool(workshop.dataset, workshop.settings, count) as pool:
        try:
            yield lambda tasks: pool.map(make_in_worker, tasks)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def worker_pool(dataset: Dataset, settings: SamplingSettings, count: int) -> ProcessPoolExecutor:
    """Processes that `make_in_worker` can be given to."""
    # Spawned, not forked: safe whatever threads the caller runs.
    # A bare copy, without what the caller's data set has built up and cached.
    bare = Dataset(dataset.vocabulary, dataset.splits)
    return ProcessPoolExecutor(count, get_context("spawn"), _start_worker, (bare, settings))


_OF_THIS_PROCESS: list[Workshop] = []


def _start_worker(dataset: Dataset, settings: SamplingSettings) -> None:
    """Prepare a worker process."""
    # Ctrl-C reaches the whole group; the parent alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _OF_THIS_PROCESS[:] = [Workshop(dataset, settings)]


def _end_with_parent() -> None:
    """A parent that is killed can tell nobody; its workers would wait for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def make_in_worker(task: Task) -> Block:
    """One block, in a worker that is prepared."""
    return _OF_THIS_PROCESS[0].make(task)


def _generator(
    settings: SamplingSettings, split: str, shape: str, block: int | None = None
) -> np.random.Generator:
    """A random generator for a block, or for the whole, of a shape and split."""
    place = (SPLITS.index(split), *shape.encode(), *(() if block is None else (block,)))
    return np.random.default_rng(np.random.SeedSequence(settings.seed, spawn_key=place))


def _share(split: str, settings: SamplingSettings) -> tuple[float, float]:
    """The part of all formulas that a split may take.

    Validation and test share no query, and neither gets to choose first: what a formula is, by
    its signature, decides where it may go.
    """
    if split == "train" or not (settings.valid and settings.test):
        return 0.0, 1.0
    border = settings.valid / (settings.valid + settings.test)
    return (0.0, border) if split == "valid" else (border, 1.0)


def _present(facts: str, dataset: Dataset) -> str:
    """Those of the splits that the data set has."""
    return ",".join(name for name in facts.split(",") if name in dataset.splits) or "none"

"""Sampling a query set: queries of all splits and shapes, the same for any number of workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from nqe.errors import NqeError
from nqe.graph.dataset import Dataset
from nqe.graph.splits import SPLITS
from nqe.progress import NoProgress, Progress
from nqe.query.shapes import SHAPES, parse_shape
from nqe.sampling.collector import Collector
from nqe.sampling.patterns import are_patterns
from nqe.sampling.query_table import QueryTable, concatenate
from nqe.sampling.worker import Worker, random_generator
from nqe.sampling.worker_pool import WorkerPool, open_pool
from nqe.settings import SamplingSettings


@dataclass(frozen=True, eq=False)
class QuerySet:
    """Sampled queries by split, with the settings used and counts of what was refused."""

    fingerprint: str
    """The fingerprint of the data set that the queries are about."""
    entity_count: int
    relation_count: int
    settings: SamplingSettings | None
    """How the queries were drawn; None if they come from another program."""
    splits: dict[str, QueryTable]
    refused: dict[str, dict[str, Counter[str]]] = field(default_factory=dict)
    """By split and shape, how many drawn queries were refused, by reason."""
    overlap: dict[str, int] = field(default_factory=dict)
    """By split, the number of queries that are the same formula as a training query."""

    @classmethod
    def about(
        cls,
        dataset: Dataset,
        splits: dict[str, QueryTable],
        settings: SamplingSettings | None = None,
        refused: dict[str, dict[str, Counter[str]]] | None = None,
        overlap: dict[str, int] | None = None,
    ) -> QuerySet:
        """Queries about a data set."""
        names = dataset.vocabulary
        return cls(
            dataset.fingerprint,
            len(names.entities),
            len(names.relations),
            settings,
            splits,
            refused or {},
            overlap or {},
        )


def sample(
    dataset: Dataset,
    settings: SamplingSettings | None = None,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> QuerySet:
    """Draw queries of every shape for every split.

    The result depends on the settings and their seed, not on the number of workers. By default
    there is one worker per usable core.
    """
    settings = set_counts(settings or SamplingSettings(), dataset)
    if are_patterns(settings.shapes):
        raise NqeError(f"{settings.shapes[0]} is no tree; draw it with nqe.sampling.sample_rows")
    splits = [name for name in SPLITS if getattr(settings, name)]
    worker = Worker(dataset, settings)
    _check(worker, splits)
    collectors = [
        Collector(split, shape, getattr(settings, split), settings.balance == "missing")
        for split in splits
        for shape in (parse_shape(name).name for name in settings.shapes or SHAPES)
    ]
    progress = progress or NoProgress()
    progress.start("sampling", sum(one.wanted for one in collectors))
    with open_pool(worker, workers) as pool:
        _fill(collectors, pool, progress)
    return _query_set(dataset, settings, splits, collectors)


def set_counts(settings: SamplingSettings, dataset: Dataset) -> SamplingSettings:
    """Return the settings with the counts that are not given set by the size of the graph."""
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


def check_split(dataset: Dataset, split: str) -> None:
    """Refuse a split without facts."""
    if split not in dataset.splits or not len(dataset.splits[split]):
        raise NqeError(
            f"the {split} split is empty, so no {split} queries can be drawn; "
            f"import one, or ask for none with --{split} 0"
        )


def _check(worker: Worker, splits: Sequence[str]) -> None:
    """Refuse what cannot be sampled, before any work is done."""
    dataset = worker.dataset
    if not splits:
        raise NqeError("no queries are asked for; give a number with --train, --valid or --test")
    for split in splits:
        check_split(dataset, split)
    for shape in worker.settings.shapes or SHAPES:
        if not any(worker.can_sample(split, shape) for split in splits):
            raise NqeError(
                f"no fact has enough slots for the shape {shape}; leave it out with --shape"
            )


def _fill(collectors: Sequence[Collector], pool: WorkerPool, progress: Progress) -> None:
    """Make blocks in rounds, and add them in the order of their tasks, not of their arrival."""
    by_place = {(one.split, one.shape): one for one in collectors}
    while tasks := [task for one in collectors if one.is_open for task in one.next_tasks()]:
        for task, block in zip(tasks, pool.map(tasks), strict=True):
            by_place[task.split, task.shape].add(block)
            done = sum(one.count for one in collectors)
            progress.update(done, done, f"{task.split} {task.shape}")


def _query_set(
    dataset: Dataset,
    settings: SamplingSettings,
    splits: Sequence[str],
    collectors: Sequence[Collector],
) -> QuerySet:
    by_split = {name: [one for one in collectors if one.split == name] for name in splits}
    tables = {
        split: concatenate(
            one.finish(random_generator(settings, split, one.shape)) for one in collected
        )
        for split, collected in by_split.items()
    }
    refused = {
        split: {one.shape: one.refused for one in collected}
        for split, collected in by_split.items()
    }
    return QuerySet.about(dataset, tables, settings, refused, _count_overlap(collectors))


def _count_overlap(collectors: Sequence[Collector]) -> dict[str, int]:
    """Count the queries of each held-out split that are the same formula as a training query."""
    training = set[bytes]().union(*(one.signatures for one in collectors if one.split == "train"))
    counts: Counter[str] = Counter()
    for one in collectors:
        if one.split != "train":
            counts[one.split] += len(one.signatures & training)
    return dict(counts)

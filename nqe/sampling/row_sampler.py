"""Sampling query sets beyond trees: queries of named patterns, with rows as their answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np

from nqe.errors import NqeError, TooManyBindings
from nqe.graph.arrays import Integers
from nqe.graph.dataset import Dataset
from nqe.graph.splits import SPLITS
from nqe.progress import NoProgress, Progress
from nqe.query.query import Query
from nqe.sampling.hard_answers import SplitGraphs
from nqe.sampling.pattern_walk import Drawn, PatternWalker
from nqe.sampling.patterns import PATTERNS, are_patterns
from nqe.sampling.random_walk import Match
from nqe.sampling.row_answers import (
    MAX_LOOKED_AT,
    bind_rows,
    count_missing_links,
    count_missing_of_targets,
    find_row_numbers,
    split_rows,
)
from nqe.sampling.row_query import RowQuery
from nqe.sampling.sampler import check_split, set_counts
from nqe.sampling.signature import Range, is_in_range, signature_of_query
from nqe.sampling.worker import random_generator, signature_range
from nqe.settings import SamplingSettings

MAX_BARREN = 3_000
"""A pattern is given up after this many walks in a row without a new query."""


@dataclass(frozen=True, eq=False)
class RowQuerySet:
    """Sampled queries by split, with the settings used and counts of what was refused."""

    fingerprint: str
    """The fingerprint of the data set that the queries are about."""
    entity_count: int
    relation_count: int
    settings: SamplingSettings
    splits: Mapping[str, tuple[RowQuery, ...]]
    refused: Mapping[str, Mapping[str, Mapping[str, int]]] = field(default_factory=dict)
    """By split and pattern, how many drawn queries were refused, by reason."""


def sample_rows(
    dataset: Dataset, settings: SamplingSettings, *, progress: Progress | None = None
) -> RowQuerySet:
    """Draw queries of patterns beyond trees, the names of which are the settings' shapes.

    They are for evaluation, so none is for training. The result depends on the settings alone.
    """
    settings = set_counts(_check_settings(settings), dataset)
    splits = _check_splits(dataset, settings)
    collectors = [
        _Collector(split, name, getattr(settings, split), settings, _Judge.of(dataset, split))
        for split in splits
        for name in settings.shapes
    ]
    _draw_all(collectors, progress or NoProgress())
    names = dataset.vocabulary
    of_split = {split: [one for one in collectors if one.split == split] for split in splits}
    tables = {
        split: tuple(query for one in ones for query in one.shuffle())
        for split, ones in of_split.items()
    }
    return RowQuerySet(
        dataset.fingerprint,
        len(names.entities),
        len(names.relations),
        settings,
        tables,
        {split: {one.pattern: one.refused for one in ones} for split, ones in of_split.items()},
    )


def _draw_all(collectors: Sequence[_Collector], progress: Progress) -> None:
    progress.start("sampling", sum(one.wanted for one in collectors))
    done = 0
    for one in collectors:
        for count in one.collect():
            progress.update(done + count, done + count, f"{one.split} {one.pattern}")
        done += len(one.queries)


def _check_settings(settings: SamplingSettings) -> SamplingSettings:
    """Refuse settings that have no meaning for patterns."""
    if not are_patterns(settings.shapes):
        raise NqeError(f"no pattern is named; name some of {', '.join(PATTERNS)} as shapes")
    if settings.train:
        raise NqeError(
            "no model is trained on queries that are no trees, so none are drawn for training; "
            "ask for none with --train 0"
        )
    plain = SamplingSettings()
    for name in ("slots", "qualifiers", "draw", "balance", "train_answers"):
        if getattr(settings, name) != getattr(plain, name):
            option = "--" + name.replace("_", "-")
            raise NqeError(f"{option} has no meaning for {settings.shapes[0]}; leave it out")
    shapes = tuple(dict.fromkeys(name.strip() for name in settings.shapes))
    return replace(settings, shapes=shapes, train=0)


def _check_splits(dataset: Dataset, settings: SamplingSettings) -> list[str]:
    splits = [name for name in SPLITS if getattr(settings, name)]
    if not splits:
        raise NqeError("no queries are asked for; give a number with --valid or --test")
    for split in splits:
        check_split(dataset, split)
    return splits


class _Unfit(Exception):
    """A query that was drawn is refused, for the reason that the message says."""


@dataclass(frozen=True, eq=False)
class _Judge:
    """Answers the queries that were drawn for a split, and refuses those that are not fit."""

    graphs: SplitGraphs

    @classmethod
    def of(cls, dataset: Dataset, split: str) -> _Judge:
        return cls(SplitGraphs(dataset.known_for(split), dataset.full_for(split)))

    def answer(self, pattern: str, drawn: Drawn, max_answers: int) -> RowQuery:
        """The query with its answers."""
        full = self._find(drawn.query)
        if not len(full):
            raise _Unfit("no answer left after negation")
        if len(full) > max_answers:
            raise _Unfit("too many answers")
        if drawn.without is not None and len(self._find(drawn.without)) == len(full):
            raise _Unfit("a condition that changes nothing")
        query, graphs = drawn.query, self.graphs
        plan = bind_rows(query, graphs.full.vocabulary)
        hard, easy = split_rows(full, find_row_numbers(plan, graphs.known, MAX_LOOKED_AT))
        if not len(hard):
            raise _Unfit("no hard answer")
        links = count_missing_links(plan, graphs, hard)
        of_targets = count_missing_of_targets(query, graphs, hard)
        return RowQuery(pattern, query, easy, hard, links, of_targets)

    def _find(self, query: Query) -> Integers:
        plan = bind_rows(query, self.graphs.full.vocabulary)
        return find_row_numbers(plan, self.graphs.full, MAX_LOOKED_AT)


@dataclass(eq=False)
class _Collector:
    """Draws the queries of one pattern and split until there are enough."""

    split: str
    pattern: str
    wanted: int
    settings: SamplingSettings
    judge: _Judge
    queries: list[RowQuery] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    _signatures: set[bytes] = field(default_factory=set)

    def collect(self) -> Iterator[int]:
        """Draw queries; gives their number after each new one."""
        walker = PatternWalker(self.judge.graphs.full, cast(Match, self.settings.match))
        rng = random_generator(self.settings, self.split, self.pattern)
        limits = signature_range(self.split, self.settings)
        barren = 0
        while len(self.queries) < self.wanted and barren < MAX_BARREN:
            try:
                self.queries.append(self._draw(walker, rng, limits))
            except _Unfit as reason:
                self.refused[str(reason)] += 1
                barren += 1
            else:
                barren = 0
                yield len(self.queries)

    def shuffle(self) -> Sequence[RowQuery]:
        """The queries in random order, as frequent ones tend to be drawn first."""
        rng = random_generator(self.settings, self.split, self.pattern, 0)
        return [self.queries[place] for place in rng.permutation(len(self.queries)).tolist()]

    def _draw(self, walker: PatternWalker, rng: np.random.Generator, limits: Range) -> RowQuery:
        drawn = walker.try_to_draw(PATTERNS[self.pattern], rng)
        if drawn is None:
            raise _Unfit("walks that came to a dead end")
        signature = signature_of_query(drawn.query)
        if signature in self._signatures:
            raise _Unfit("drawn before")
        if not is_in_range(signature, limits):
            raise _Unfit("kept for the other held-out split")
        self._signatures.add(signature)
        try:
            return self.judge.answer(self.pattern, drawn, self.settings.max_answers)
        except TooManyBindings:
            raise _Unfit("too many facts to look at") from None

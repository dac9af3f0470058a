"""Reports: the metrics of a ranking over all queries and by group, with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nqe.errors import NqeError, StorageError, choose
from nqe.evaluation.bootstrap import Bootstrap, find_intervals, resample_means
from nqe.evaluation.evaluator import Ranking
from nqe.evaluation.groupings import GROUPINGS, OF_QUERIES, group_answers
from nqe.evaluation.metrics import METRICS, Metrics, adjust_means, measure_answers
from nqe.evaluation.ranks import Floats
from nqe.graph.arrays import Integers
from nqe.query.shapes import NEGATIVE, POSITIVE

PER = ("query", "answer")
AVERAGES = {"AVG_p": POSITIVE, "AVG_n": NEGATIVE}
"""The averages over shapes: those without a negation, and those with one."""


@dataclass(frozen=True)
class Report:
    """The result of an evaluation.

    Per query, which is the paper's formula, is the mean over each query's answers and then over
    queries. Per answer is the mean over all answers. If a group holds only some answers of a
    query, the query counts in it with those answers alone.
    """

    split: str | None
    """The split that was evaluated; None if the caller did not name it."""
    answers: str
    """Which answers were ranked: hard or easy."""
    ties: str
    """The policy for equal scores: realistic (the mean rank), optimistic or pessimistic."""
    per: str
    """What has the same weight: each query or each answer."""
    all: Metrics
    groups: dict[str, dict[str, Metrics]]
    """The metrics of each group, by grouping (see `GROUPINGS`) and label."""
    averages: dict[str, Metrics]
    """AVG_p and AVG_n: plain means over the shapes that are present."""
    left_out: int
    """Queries not ranked: without such answers, or with more answers than were stored."""
    bootstrap: Bootstrap = field(default_factory=Bootstrap)
    about: dict[str, Any] = field(default_factory=dict)
    """What else is known about the evaluation, such as the run, the query set, the benchmark."""

    @classmethod
    def of(
        cls,
        ranking: Ranking,
        *,
        split: str | None = None,
        ties: str = "realistic",
        per: str = "query",
        by: Iterable[str] = OF_QUERIES,
        bootstrap: Bootstrap | None = None,
        about: Mapping[str, Any] | None = None,
    ) -> Report:
        """The report of a ranking."""
        if per not in PER:
            raise NqeError(f"unknown average per '{per}'; choose one of {', '.join(PER)}")
        if not len(ranking.query):
            raise NqeError(
                f"no query has {ranking.answers} answers to rank; choose other queries or answers"
            )
        bootstrap = bootstrap or Bootstrap()
        averager = _Averager.of(ranking, ties, per, bootstrap)
        samples = {
            grouping: {
                label: averager.average(rows) for label, rows in group_answers(ranking, grouping)
            }
            for grouping in by
        }
        everything = averager.average(np.arange(len(ranking.query)))
        return cls(
            split=split,
            answers=ranking.answers,
            ties=ties,
            per=per,
            all=everything.metrics,
            groups={
                grouping: {label: sample.metrics for label, sample in group.items()}
                for grouping, group in samples.items()
                if group
            },
            averages=dict(_average_shapes(samples.get("shape", {}), bootstrap.level)),
            left_out=ranking.left_out,
            bootstrap=bootstrap,
            about=dict(about or {}),
        )

    def group(self, by: str) -> dict[str, Metrics]:
        """The metrics by label of a grouping; empty if the report does not have it."""
        choose(GROUPINGS, by, "grouping")
        return self.groups.get(by, {})

    @property
    def is_link_prediction(self) -> bool:
        """Whether it reports link prediction, not a query set."""
        return "part" in self.groups

    def to_json(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {
            **self.about,
            "split": self.split,
            "answers": self.answers,
            "ties": self.ties,
            "per": self.per,
            "left_out": self.left_out,
            "bootstrap": vars(self.bootstrap).copy(),
            "all": self.all.to_json(),
            "averages": _group_to_json(self.averages),
            **{f"by_{name}": _group_to_json(group) for name, group in self.groups.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Report:
        """The report from the data that `to_json` returned."""
        rest = dict(data)
        try:
            return cls(
                split=rest.pop("split", None),
                answers=rest.pop("answers"),
                ties=rest.pop("ties"),
                per=rest.pop("per"),
                left_out=rest.pop("left_out"),
                bootstrap=Bootstrap(**rest.pop("bootstrap")),
                all=Metrics.from_json(rest.pop("all")),
                averages=_group_from_json(rest.pop("averages")),
                groups={
                    name: _group_from_json(rest.pop(f"by_{name}"))
                    for name in GROUPINGS
                    if f"by_{name}" in rest
                },
                about=rest,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StorageError(
                f"not a report ({error!r}); create it again with `nqe evaluate`"
            ) from error


@dataclass(frozen=True, eq=False)
class _Sample:
    """The metrics of a group, and those of its bootstrap samples."""

    metrics: Metrics
    resampled: Floats  # (samples, metrics)


@dataclass(frozen=True, eq=False)
class _Averager:
    """Averages metrics over groups of answers, with a bootstrap of each."""

    query: Integers  # (answers,)
    values: Floats  # (answers, columns) see measure_answers
    per: str
    bootstrap: Bootstrap
    random: np.random.Generator

    @classmethod
    def of(cls, ranking: Ranking, ties: str, per: str, bootstrap: Bootstrap) -> _Averager:
        values = measure_answers(ranking.compute_ranks(ties), ranking.candidates)
        return cls(ranking.query, values, per, bootstrap, np.random.default_rng(bootstrap.seed))

    def average(self, rows: Integers) -> _Sample:
        """The metrics of the answers in the given rows."""
        _, query, count = np.unique(self.query[rows], return_inverse=True, return_counts=True)
        weight = count.astype(np.float64) if self.per == "answer" else np.ones(len(count))
        columns = [np.bincount(query, column) for column in self.values[rows].T]
        sums: Floats = np.stack(columns, axis=1) * (weight / count)[:, None]  # (queries, columns)
        values = adjust_means(sums.sum(0) / weight.sum())
        means = resample_means(sums, weight, self.bootstrap.samples, self.random)
        resampled = adjust_means(means)
        metrics = _named(values, resampled, self.bootstrap.level, len(count), len(rows))
        return _Sample(metrics, resampled)


def _named(values: Floats, resampled: Floats, level: float, queries: int, answers: int) -> Metrics:
    """Metrics by name, from arrays whose last axis is in the order of METRICS."""
    intervals = find_intervals(resampled, level)
    return Metrics(
        dict(zip(METRICS, values.tolist(), strict=True)),
        queries,
        answers,
        dict(zip(METRICS, intervals, strict=True)) if intervals else {},
    )


def _average_shapes(shapes: Mapping[str, _Sample], level: float) -> Iterator[tuple[str, Metrics]]:
    """The plain means over the shapes of each average that are present."""
    for name, wanted in AVERAGES.items():
        present = [shapes[shape] for shape in wanted if shape in shapes]
        if present:
            values = np.mean([list(one.metrics.values.values()) for one in present], axis=0)
            resampled = np.mean([one.resampled for one in present], axis=0)
            queries = sum(one.metrics.queries for one in present)
            answers = sum(one.metrics.answers for one in present)
            yield name, _named(values, resampled, level, queries, answers)


def _group_to_json(group: Mapping[str, Metrics]) -> dict[str, Any]:
    return {label: metrics.to_json() for label, metrics in group.items()}


def _group_from_json(group: Mapping[str, Any]) -> dict[str, Metrics]:
    return {label: Metrics.from_json(metrics) for label, metrics in group.items()}

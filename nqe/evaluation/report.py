"""A report: MRR and Hits@k of a ranking, over all and by shape, slot, arity and missing links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from nqe.errors import NqeError, StorageError, choose
from nqe.evaluation.bootstrap import Bootstrap, intervals, resampled_means
from nqe.evaluation.evaluator import UNKNOWN, Ranking
from nqe.evaluation.ranks import Floats
from nqe.graph.arrays import Integers
from nqe.query.shapes import NEGATIVE, POSITIVE, rank_shape
from nqe.settings import SLOTS

HITS = (1, 3, 10)
MEASURES = ("mrr", *(f"hits@{k}" for k in HITS))
GROUPS = ("shape", "slot", "arity", "missing")
PER = ("query", "answer")
AVERAGES = {"AVG_p": POSITIVE, "AVG_n": NEGATIVE}


@dataclass(frozen=True)
class Metrics:
    """Means over a group of queries; all are shares, from 0 to 1."""

    mrr: float
    hits: tuple[float, ...]
    """Hits@1, @3 and @10."""
    queries: int
    answers: int
    intervals: tuple[tuple[float, float], ...] = ()
    """Where each of `values` lies by the bootstrap; none without it."""

    @property
    def values(self) -> tuple[float, ...]:
        """The MRR and the hits, in the order of MEASURES."""
        return (self.mrr, *self.hits)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where the MRR lies by the bootstrap."""
        return self.intervals[0] if self.intervals else None

    def to_json(self) -> dict[str, Any]:
        """The metrics as JSON data."""
        told = dict(zip(MEASURES, self.values, strict=True))
        within = dict(zip(MEASURES, map(list, self.intervals), strict=False))
        return {**told, "queries": self.queries, "answers": self.answers, "intervals": within}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Metrics:
        """The metrics that `to_json` told."""
        mrr, *hits = (float(data[name]) for name in MEASURES)
        within = tuple((float(low), float(high)) for low, high in data["intervals"].values())
        return cls(mrr, tuple(hits), int(data["queries"]), int(data["answers"]), within)


@dataclass(frozen=True)
class Report:
    """What an evaluation found.

    Per query, as the paper's formula has it: the mean over a query's answers, then over queries.
    Per answer: the mean over all answers. By missing links a query counts once for each number
    its answers have, with those answers alone.
    """

    answers: str
    """Which answers were ranked: hard or easy."""
    ties: str
    """What rank equal scores have: realistic (the mean), optimistic or pessimistic."""
    per: str
    """What counts alike: each query or each answer."""
    all: Metrics
    groups: dict[str, dict[str, Metrics]]
    """By shape, slot, arity and missing links, the last only where they are known."""
    averages: dict[str, Metrics]
    """AVG_p and AVG_n: plain means over the shapes that are there."""
    left_out: int
    """Queries without such answers, or with more answers than were kept."""
    bootstrap: Bootstrap = field(default_factory=Bootstrap)
    about: dict[str, Any] = field(default_factory=dict)
    """What was evaluated: run, queries, split, benchmark."""

    @classmethod
    def of(
        cls,
        ranking: Ranking,
        *,
        ties: str = "realistic",
        per: str = "query",
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
        bootstrap = Bootstrap() if bootstrap is None else bootstrap
        table = _measured(ranking.ranks(ties))
        measure = partial(
            _metrics, ranking.query, table, per, bootstrap, np.random.default_rng(bootstrap.seed)
        )
        groups: dict[str, dict[str, Metrics]] = {}
        drawn: dict[str, Floats] = {}
        for name, label, chosen in _labels(ranking):
            metrics, means = measure(chosen)
            groups.setdefault(name, {})[label] = metrics
            if name == "shape":
                drawn[label] = means
        return cls(
            answers=ranking.answers,
            ties=ties,
            per=per,
            all=measure(np.arange(len(ranking.query)))[0],
            groups=groups,
            averages=dict(_averages(groups["shape"], drawn, bootstrap.level)),
            left_out=ranking.left_out,
            bootstrap=bootstrap,
            about=dict(about or {}),
        )

    def group(self, by: str) -> dict[str, Metrics]:
        """The metrics of a group; empty if nothing is known of it."""
        if by not in GROUPS:
            raise NqeError(f"unknown group '{by}'; choose one of {', '.join(GROUPS)}")
        return self.groups.get(by, {})

    def to_json(self) -> dict[str, Any]:
        """The report as JSON data."""
        return {
            **self.about,
            "answers": self.answers,
            "ties": self.ties,
            "per": self.per,
            "left_out": self.left_out,
            "bootstrap": vars(self.bootstrap).copy(),
            "all": self.all.to_json(),
            "averages": _each_to_json(self.averages),
            **{f"by_{name}": _each_to_json(group) for name, group in self.groups.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Report:
        """The report that `to_json` told."""
        rest = dict(data)
        try:
            return cls(
                answers=rest.pop("answers"),
                ties=rest.pop("ties"),
                per=rest.pop("per"),
                left_out=rest.pop("left_out"),
                bootstrap=Bootstrap(**rest.pop("bootstrap")),
                all=Metrics.from_json(rest.pop("all")),
                averages=_each_from_json(rest.pop("averages")),
                groups={
                    name: _each_from_json(rest.pop(f"by_{name}"))
                    for name in GROUPS
                    if f"by_{name}" in rest
                },
                about=rest,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StorageError(
                f"not a report ({error!r}); make it again with `nqe evaluate`"
            ) from error


def choose_measure(name: str) -> int:
    """The place of a measure in a row of values."""
    return choose({one: place for place, one in enumerate(MEASURES)}, name, "measure")


def _measured(ranks: Floats) -> Floats:
    """Of each answer the reciprocal rank and whether it hits."""
    return np.stack([1 / ranks, *(ranks <= k for k in HITS)], axis=1)  # (answers, measures)


def _labels(ranking: Ranking) -> Iterator[tuple[str, str, Integers]]:
    """Each group's name, each of its labels, and the answers that belong there."""
    shapes = sorted({ranking.shape[row] for row in np.unique(ranking.query)}, key=rank_shape)
    number = {name: place for place, name in enumerate(shapes)}
    of_query = np.array([number.get(name, UNKNOWN) for name in ranking.shape], dtype=np.int64)
    for place, shape in enumerate(shapes):
        yield "shape", shape, np.flatnonzero(of_query[ranking.query] == place)
    columns = {
        "slot": ranking.slot[ranking.query],
        "arity": ranking.arity[ranking.query],
        "missing": ranking.missing,
    }
    for name, column in columns.items():
        for value in np.unique(column[column != UNKNOWN]).tolist():
            label = SLOTS[value] if name == "slot" else str(value)
            yield name, label, np.flatnonzero(column == value)


def _metrics(
    query: Integers,
    table: Floats,
    per: str,
    bootstrap: Bootstrap,
    random: np.random.Generator,
    chosen: Integers,
) -> tuple[Metrics, Floats]:
    """The metrics of some answers, and their means by the bootstrap."""
    _, unit, count = np.unique(query[chosen], return_inverse=True, return_counts=True)
    weight = count.astype(np.float64) if per == "answer" else np.ones(len(count))
    sums = np.zeros((len(count), table.shape[1]))  # (queries, measures)
    np.add.at(sums, unit, table[chosen])
    value: Floats = sums * (weight / count)[:, None]
    mrr, *hits = (value.sum(0) / weight.sum()).tolist()
    means = resampled_means(value, weight, bootstrap.samples, random)
    within = intervals(means, bootstrap.level)
    return Metrics(mrr, tuple(hits), len(count), len(chosen), within), means


def _averages(
    shapes: Mapping[str, Metrics], drawn: Mapping[str, Floats], level: float
) -> Iterator[tuple[str, Metrics]]:
    for name, wanted in AVERAGES.items():
        present = [shape for shape in wanted if shape in shapes]
        if present:
            values = np.mean([shapes[shape].values for shape in present], axis=0).tolist()
            within = intervals(np.mean([drawn[shape] for shape in present], axis=0), level)
            queries = sum(shapes[shape].queries for shape in present)
            answers = sum(shapes[shape].answers for shape in present)
            yield name, Metrics(values[0], tuple(values[1:]), queries, answers, within)


def _each_to_json(group: Mapping[str, Metrics]) -> dict[str, Any]:
    return {label: metrics.to_json() for label, metrics in group.items()}


def _each_from_json(group: Mapping[str, Any]) -> dict[str, Metrics]:
    return {label: Metrics.from_json(metrics) for label, metrics in group.items()}

"""One-hop link prediction in the field's protocol: every slot of every fact, each answer alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nqe.errors import NqeError, StorageError
from nqe.evaluation.evaluator import BLOCK, Ranking, Runner, evaluate
from nqe.evaluation.ranks import Floats
from nqe.evaluation.report import HITS, MEASURES
from nqe.graph.dataset import Dataset
from nqe.progress import Progress
from nqe.sampling.one_hop import link_queries

# Numbers of SLOTS that each part holds.
PARTS = {"all": (0, 1, 2), "subject_object": (0, 1), "value": (2,)}


@dataclass(frozen=True)
class LinkMetrics:
    """Means over answers, as shares; zeros when there are none."""

    mrr: float
    hits: tuple[float, ...]
    """Hits@1, @3 and @10."""
    count: int

    def to_json(self) -> dict[str, Any]:
        """The metrics as JSON data."""
        values = (self.mrr, *self.hits)
        return {**dict(zip(MEASURES, values, strict=True)), "count": self.count}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LinkMetrics:
        """The metrics that `to_json` told."""
        mrr, *hits = (float(data[name]) for name in MEASURES)
        return cls(mrr, tuple(hits), int(data["count"]))


@dataclass(frozen=True)
class LinkReport:
    """The metrics of all slots, of subjects and objects, and of qualifiers' values."""

    parts: dict[str, LinkMetrics]
    split: str
    ties: str
    about: dict[str, Any]
    """The run, the data set, and the splits it was trained on, where known."""

    @classmethod
    def of(
        cls,
        ranking: Ranking,
        split: str,
        *,
        ties: str = "realistic",
        about: Mapping[str, Any] | None = None,
    ) -> LinkReport:
        """The report of a ranking of one-hop queries."""
        ranks, slot = ranking.ranks(ties), ranking.slot[ranking.query]
        parts = {name: _metrics(ranks[np.isin(slot, kinds)]) for name, kinds in PARTS.items()}
        return cls(parts, split, ties, dict(about or {}))

    def to_json(self) -> dict[str, Any]:
        """The report as JSON data: `all`, `subject_object`, `value`, and what was evaluated."""
        parts = {name: metrics.to_json() for name, metrics in self.parts.items()}
        return {**parts, "split": self.split, "ties": self.ties, **self.about}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LinkReport:
        """The report that `to_json` told."""
        rest = dict(data)
        try:
            parts = {name: LinkMetrics.from_json(rest.pop(name)) for name in PARTS}
            return cls(parts, rest.pop("split"), rest.pop("ties"), rest)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StorageError(
                f"not a report of link prediction ({error!r}); make it again with `nqe evaluate`"
            ) from error


def predict_links(
    runner: Runner,
    dataset: Dataset,
    split: str = "test",
    *,
    ties: str = "realistic",
    block: int = BLOCK,
    progress: Progress | None = None,
    about: Mapping[str, Any] | None = None,
) -> LinkReport:
    """Rank the entity in every slot of every fact of a split, filtered by the facts of all."""
    facts = dataset.split(split).facts
    if not len(facts):
        raise NqeError(f"the {split} split has no facts to predict; choose another split")
    ranking = evaluate(runner, link_queries(facts, dataset.graph), block=block, progress=progress)
    return LinkReport.of(ranking, split, ties=ties, about=about)


def _metrics(ranks: Floats) -> LinkMetrics:
    if not len(ranks):
        return LinkMetrics(0.0, (0.0,) * len(HITS), 0)
    hits = tuple(float((ranks <= k).mean()) for k in HITS)
    return LinkMetrics(float((1 / ranks).mean()), hits, len(ranks))

"""The relation queries of training steps: facts to learn from, without one of their relations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nqe.errors import NqeError
from nqe.graph.dataset import Dataset
from nqe.graph.fact_columns import Facts
from nqe.sampling.relation_queries import RelationQueries, choose_part, make_relation_queries
from nqe.settings import TrainSettings

# The key of the random generators; query_sources.py and gradients.py use others.
_RELATIONS = 9
MOST_FACTS = 1_000_000
"""The queries of a graph with more facts are made part by part, which bounds the memory."""


@dataclass(frozen=True, eq=False)
class _Weighted:
    """Queries, and how often those up to each one should occur together."""

    part: int
    queries: RelationQueries
    ends: npt.NDArray[np.float64]  # (queries,) cumulative


class RelationSource:
    """Draws the relation queries of each step, which depend on its number and the seed alone.

    A query with more answers is drawn more often, in proportion to their number to the power of
    `train.answers_power`. Of a graph with very many facts, each part in turn is drawn from about
    once.
    """

    def __init__(self, facts: Facts, settings: TrainSettings, most: int = MOST_FACTS) -> None:
        self.count = settings.relation_batch
        self._facts, self._settings = facts, settings
        self._parts = max(1, -(-len(facts) // most))
        self._weighted = self._weight(0)

    def draw(self, step: int) -> RelationQueries:
        """Return the queries of a step, with all their answers."""
        part = self._choose_part(step)
        if part != self._weighted.part:
            self._weighted = self._weight(part)
        queries, ends = self._weighted.queries, self._weighted.ends
        rng = np.random.default_rng((self._settings.seed, step, _RELATIONS))
        drawn = np.searchsorted(ends, rng.random(self.count) * ends[-1], side="right")
        return queries.take(np.minimum(drawn, len(queries) - 1))

    def _choose_part(self, step: int) -> int:
        """The part that a step draws from; about as many queries are drawn as it has facts."""
        per_part = max(1, len(self._facts) // (self._parts * self.count))
        return step // per_part % self._parts

    def _weight(self, part: int) -> _Weighted:
        facts = self._facts if self._parts == 1 else choose_part(self._facts, part, self._parts)
        # A part of a tiny graph may have no facts at all.
        queries = make_relation_queries(facts if len(facts) else self._facts)
        return _Weighted(
            part, queries, np.cumsum(queries.easy.lengths**self._settings.answers_power)
        )


def open_relation_source(dataset: Dataset, settings: TrainSettings) -> RelationSource | None:
    """Return the source of relation queries about the facts to train on; None without a share."""
    if not settings.relation_share:
        return None
    facts = dataset.known(settings.facts).facts
    if not len(facts):
        raise NqeError(
            f"train.facts is '{settings.facts}', which has no facts to ask for relations of; name "
            "other splits, or set train.relation_share to 0"
        )
    return RelationSource(facts, settings)

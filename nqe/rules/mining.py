"""Mine rules from the facts of a graph.

All walks of one and two edges are looked at, and of three edges those from some entities; see
`MOST_WALKS`. The counts of parts are added up, so the rules do not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar
from zlib import crc32

import numpy as np

from nqe.cores import usable_cores
from nqe.graph.arrays import Integers
from nqe.graph.graph import Graph
from nqe.progress import NoProgress, Progress
from nqe.rules.constant_rules import Features, count_answers, count_constant_rules
from nqe.rules.edges import Edges
from nqe.rules.redundancy import drop_redundant
from nqe.rules.rule_table import RuleTable, concatenate
from nqe.rules.walk_rules import (
    count_predictions,
    count_supports,
    list_kinds,
    merge_supports,
)
from nqe.rules.walks import ROWS, count_walks, split_entities

Part = TypeVar("Part")
Result = TypeVar("Result")

LEAST_SUPPORT = {1: 2, 2: 2, 3: 3}
"""A rule must be true this often, by the number of edges of its body."""
LEAST_CONFIDENCE = (0.01, 0.01, 0.02, 0.2)
"""The least confidence, by the number of edges of the body; there are very many long walks."""
MOST_WALKS = {1: 100_000_000, 2: 200_000_000, 3: 40_000_000}
"""At most about this many walks of each length are looked at."""
WALKS_PER_FACT = {1: 10_000, 2: 2_000, 3: 250}
"""And at most this many times as many walks as there are facts.

If there are more walks, only those from some entities are looked at; a hash of the ids chooses
them.
"""
MOST_PAIRS = 200_000_000
"""At most about this many pairs of edges are looked at for rules with constants."""


def mine_table(
    graph: Graph, *, workers: int | None = None, progress: Progress | None = None
) -> RuleTable:
    """Mine rules from all facts of a graph; `workers` are threads, by default one per core."""
    edges = Edges.of(graph.facts, graph.entity_count, graph.relation_count)
    miner = _Miner(edges, _order_by_hash(graph), workers or usable_cores(), progress)
    return miner.mine()


@dataclass(frozen=True, eq=False)
class _Miner:
    edges: Edges
    order: Integers
    """The entities in the order in which walks from them are looked at."""
    workers: int
    progress: Progress | None

    def mine(self) -> RuleTable:
        """All rules, those of one head together, the likeliest first."""
        edges, progress = self.edges, self.progress or NoProgress()
        if not len(edges):
            return RuleTable.empty(edges.kinds)
        features = Features.of(edges)
        walks = {length: self._choose_entities(length) for length in LEAST_SUPPORT}
        chunks = self._split_features(features)
        total = len(chunks) + 2 * sum(map(len, walks.values()))
        counter = _Counter(progress, total)
        tables = [self._mine_walks(length, parts, counter) for length, parts in walks.items()]
        count = partial(count_constant_rules, features, least=LEAST_SUPPORT[1])
        tables += self._map(count, chunks, counter)
        tables.append(count_answers(edges, LEAST_SUPPORT[1]))
        table = concatenate(tables)
        least = np.array(LEAST_CONFIDENCE)[table.length]
        table = drop_redundant(table.take(table.confidence >= least))
        return table.sort()

    def _mine_walks(self, length: int, parts: list[Integers], counter: _Counter) -> RuleTable:
        edges = self.edges
        found = list(self._map(partial(count_supports, edges, length=length), parts, counter))
        if not found:
            return RuleTable.empty(edges.kinds)
        rules = merge_supports(found, LEAST_SUPPORT[length])
        count = partial(count_predictions, edges, length=length, rules=rules)
        predictions = np.zeros(len(rules.head), dtype=np.int64)
        for counted in self._map(count, parts, counter):
            predictions += counted
        body = list_kinds(rules.body, length, len(edges.kinds))
        return RuleTable.of_walks(edges.kinds, rules.head, body, rules.count, predictions)

    def _choose_entities(self, length: int) -> list[Integers]:
        """The entities to walk from, in parts."""
        counts = count_walks(self.edges, length)
        order = self.order[(counts[self.order] > 0) & (counts[self.order] <= ROWS)]
        facts = int(self.edges.fact.max()) + 1
        most = min(MOST_WALKS[length], WALKS_PER_FACT[length] * facts)
        within = np.cumsum(counts[order]) <= most
        return list(split_entities(order[within], counts))

    def _split_features(self, features: Features) -> list[Integers]:
        """The features to count, in parts; those of which too many entities have one are left."""
        counts = features.count_pairs()
        hashes = self.order.argsort()[self.edges.target[features.kept[features.first[:-1]]]]
        order = np.argsort(hashes, kind="stable")
        order = order[counts[order] <= ROWS]
        within = np.cumsum(counts[order]) <= MOST_PAIRS
        return list(split_entities(order[within], counts))

    def _map(
        self, do: Callable[[Part], Result], parts: Sequence[Part], counter: _Counter
    ) -> Iterator[Result]:
        """The result for each part in turn."""
        if self.workers == 1:
            results = map(do, parts)
            yield from map(counter.count, results)
            return
        with ThreadPoolExecutor(self.workers) as pool:
            yield from map(counter.count, pool.map(do, parts))


class _Counter:
    """Counts finished parts for the progress."""

    def __init__(self, progress: Progress, total: int) -> None:
        self._progress, self._done = progress, 0
        progress.start("mining rules", total)

    def count(self, result: Result) -> Result:
        """One more part is finished."""
        self._done += 1
        self._progress.update(self._done, self._done)
        return result


def _order_by_hash(graph: Graph) -> Integers:
    """All entities in an order that depends on their ids alone."""
    ids = graph.vocabulary.entities.ids
    hashes = np.fromiter((crc32(name.encode()) for name in ids), np.int64, len(ids))
    return np.lexsort((graph.vocabulary.entities.id_order, hashes))

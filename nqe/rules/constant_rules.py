"""Count rules with constants: an edge to one entity, and what else is true then."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.ragged import offsets, ranges
from nqe.rules.edges import Edges
from nqe.rules.rule_table import RuleTable

MOST_TARGETS = 64
"""Edges of an entity that has more of their kind are left out."""
MOST_EDGES = 400
"""Entities that have more edges than this are left out: everything is true of them."""


@dataclass(frozen=True, eq=False)
class Features:
    """The edges that are counted, by what they say of the entity they leave.

    Edges of one kind that lead to the same entity are one feature. Edges are ordered by feature;
    `by_source` has their places in the order of the entities they leave.
    """

    edges: Edges
    kept: Integers  # (kept edges,) places in `edges`, ordered by feature
    first: Integers  # (features + 1,) where the edges of each feature start
    feature: Integers  # (kept edges,)
    by_source: Integers  # (kept edges,) places in `kept`
    first_of_source: Integers  # (entities + 1,) where those of each entity start

    @classmethod
    def of(cls, edges: Edges) -> Features:
        """The features of all entities that have not too many."""
        kept = np.flatnonzero(np.repeat(edges.group_size <= MOST_TARGETS, edges.group_size))
        degree = np.bincount(edges.source[kept], minlength=edges.entity_count)
        kept = kept[degree[edges.source[kept]] <= MOST_EDGES]
        kept = kept[np.lexsort((edges.source[kept], edges.target[kept], edges.kind[kept]))]
        keys = edges.kind[kept] * edges.entity_count + edges.target[kept]
        feature = np.cumsum(np.append(0, np.diff(keys) != 0)[: len(keys)])
        count = int(feature[-1]) + 1 if len(feature) else 0
        by_source = np.argsort(edges.source[kept], kind="stable")
        sources = np.bincount(edges.source[kept], minlength=edges.entity_count)
        return cls(
            edges,
            kept,
            offsets(np.bincount(feature, minlength=count)),
            feature,
            by_source,
            offsets(sources),
        )

    def __len__(self) -> int:
        return len(self.first) - 1

    def count_pairs(self) -> Integers:
        """How many pairs of edges have each feature on their left side, (features,)."""
        degree = np.diff(self.first_of_source)[self.edges.source[self.kept]]
        return np.bincount(self.feature, degree, minlength=len(self)).astype(np.int64)

    def pair(self, features: Integers) -> tuple[Integers, Integers]:
        """All pairs of edges of one entity, by two facts, that have these features on the left."""
        left = ranges(self.first[features], np.diff(self.first)[features])
        source = self.edges.source[self.kept[left]]
        count = np.diff(self.first_of_source)[source]
        right = self.by_source[ranges(self.first_of_source[source], count)]
        left = np.repeat(left, count)
        fact = self.edges.fact[self.kept]
        apart = fact[left] != fact[right]
        return left[apart], right[apart]


def count_constant_rules(features: Features, chosen: Integers, least: int) -> RuleTable:
    """Count what is true of the entities that have the chosen features."""
    edges, kept = features.edges, features.kept
    left, right = features.pair(chosen)
    feature, source = features.feature[left], edges.source[kept[left]]
    answer, support = _count(feature, features.feature[right], source, len(features))
    head, predictions = _count(feature, edges.kind[kept[right]], source, len(edges.kinds))
    enough = support >= least
    answer, support = answer[enough], support[enough]
    body, said = np.divmod(answer, max(len(features), 1))
    of_body, of_answer = (kept[features.first[:-1][numbers]] for numbers in (body, said))
    key = body * max(len(edges.kinds), 1) + edges.kind[of_answer]
    return RuleTable.of_constants(
        edges.kinds,
        edges.kind[of_answer],
        edges.kind[of_body],
        edges.target[of_body],
        edges.target[of_answer],
        support,
        predictions[np.searchsorted(head, key)],
    )


def _count(
    left: Integers, right: Integers, source: Integers, size: int
) -> tuple[Integers, Integers]:
    """Count the distinct sources of each pair of numbers; a pair is left · size + right."""
    keys = left * max(size, 1) + right
    order = np.lexsort((source, keys))
    keys, source = keys[order], source[order]
    differs = (np.diff(keys) != 0) | (np.diff(source) != 0)
    first = np.append(True, differs)[: len(keys)]
    found, count = np.unique(keys[first], return_counts=True)
    return found, count


def count_answers(edges: Edges, least: int) -> RuleTable:
    """Count the rules without a body: the answers that many entities have."""
    keys = edges.kind * edges.entity_count + edges.target
    pairs, source = keys, edges.source
    found, support = _count(np.zeros_like(pairs), pairs, source, int(pairs.max(initial=0)) + 1)
    enough = support >= least
    found, support = found[enough], support[enough]
    head, answer = np.divmod(found, edges.entity_count)
    leaving = np.bincount(edges.group_kind, minlength=len(edges.kinds))
    none = np.full(len(head), -1)
    return RuleTable.of_constants(edges.kinds, head, none, none, answer, support, leaving[head])

"""Count rules whose bodies are walks: how often a walk and an edge have the same two ends."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.ragged import ranges
from nqe.rules.edges import Edges, find_sorted
from nqe.rules.walks import Walks, walk


@dataclass(frozen=True, eq=False)
class Supports:
    """How often each head is true where a body leads, ordered by head and body."""

    head: Integers  # (rules,)
    body: Integers  # (rules,) the number of the body, see `number_bodies`
    count: Integers  # (rules,)


def number_bodies(kinds: Integers, kind_count: int) -> Integers:
    """One number per body, given the kinds of its edges, (bodies, edges)."""
    number = np.zeros(len(kinds), dtype=np.int64)
    for column in kinds.T:
        number = number * kind_count + column
    return number


def list_kinds(bodies: Integers, length: int, kind_count: int) -> Integers:
    """The kinds of the edges of numbered bodies, (bodies, edges)."""
    columns = []
    for _ in range(length):
        bodies, last = np.divmod(bodies, kind_count)
        columns.append(last)
    return np.stack(columns[::-1], axis=1)


def count_supports(edges: Edges, entities: Integers, length: int) -> Supports:
    """Count the heads that are true at the ends of all walks from some entities.

    A head counts once for each pair of ends, if a fact that the walk does not use states it.
    """
    walks = walk(edges, entities, length)
    row, edge = edges.find_between(entities[walks.start], walks.end)
    uses = (edges.fact[walks.edges[row]] == edges.fact[edge][:, None]).any(1)
    row, edge = row[~uses], edge[~uses]
    body = number_bodies(edges.kind[walks.edges[row]], len(edges.kinds))
    ends = walks.start[row] * edges.entity_count + walks.end[row]
    return _merge(*_distinct(edges.kind[edge], body, ends))


def merge_supports(parts: list[Supports], least: int) -> Supports:
    """Add up the counts of several parts, and keep those that are large enough."""
    head, body, count = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("head", "body", "count")
    )
    merged = _merge(head, body, count)
    kept = merged.count >= least
    return Supports(merged.head[kept], merged.body[kept], merged.count[kept])


def count_predictions(edges: Edges, entities: Integers, length: int, rules: Supports) -> Integers:
    """Count the distinct ends of walks from those of some entities that each head leaves.

    Returns one number per rule.
    """
    bodies, of_rule = np.unique(rules.body, return_inverse=True)
    start, body, count = _count_ends(edges, walk(edges, entities, length), bodies)
    order = np.argsort(of_rule, kind="stable")
    first = np.searchsorted(of_rule[order], np.arange(len(bodies) + 1))
    sizes = np.diff(first)[body]
    rule = order[ranges(first[body], sizes)]
    row = np.repeat(np.arange(len(body)), sizes)
    leaves = edges.find_groups(entities[start[row]], rules.head[rule]) >= 0
    counted = np.bincount(rule[leaves], count[row[leaves]], minlength=len(rules.head))
    return counted.astype(np.int64)


def _count_ends(
    edges: Edges, walks: Walks, bodies: Integers
) -> tuple[Integers, Integers, Integers]:
    """The number of distinct ends per start and body, for bodies among the given ones."""
    numbers = number_bodies(edges.kind[walks.edges], len(edges.kinds))
    body = find_sorted(bodies, numbers)
    known = np.flatnonzero(body >= 0)
    key = walks.start[known] * len(bodies) + body[known]
    pairs = np.unique(key * edges.entity_count + walks.end[known])
    found, count = np.unique(pairs // edges.entity_count, return_counts=True)
    return found // len(bodies), found % len(bodies), count


def _distinct(
    head: Integers, body: Integers, ends: Integers
) -> tuple[Integers, Integers, Integers]:
    """One row for each distinct head, body and pair of ends, counting 1."""
    order = np.lexsort((ends, body, head))
    head, body, ends = head[order], body[order], ends[order]
    differs = (np.diff(head) != 0) | (np.diff(body) != 0) | (np.diff(ends) != 0)
    first = np.append(True, differs)[: len(head)]
    return head[first], body[first], np.ones(int(first.sum()), dtype=np.int64)


def _merge(head: Integers, body: Integers, count: Integers) -> Supports:
    """Add up the counts of equal heads and bodies."""
    order = np.lexsort((body, head))
    head, body, count = head[order], body[order], count[order]
    differs = (np.diff(head) != 0) | (np.diff(body) != 0)
    first = np.flatnonzero(np.append(True, differs)[: len(head)])
    sums = np.add.reduceat(count, first) if len(first) else count
    return Supports(head[first], body[first], sums)

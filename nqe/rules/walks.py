"""Walks along the edges of facts: from entities over one to three edges, no entity twice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.ragged import ranges
from nqe.rules.edges import Edges

LONGEST = 3
"""The most edges of a walk."""
MOST_TARGETS = {1: 64, 2: 64, 3: 16}
"""Walks of each length do not leave an entity by a kind of which it has more edges than this.

Such edges lead to so many entities that they say little about each.
"""
ROWS = 2_000_000
"""About this many walks exist at once."""


@dataclass(frozen=True, eq=False)
class Walks:
    """Walks of the same length, one row each."""

    start: Integers  # (walks,) the place of the walk's first entity among those it began with
    entities: Integers  # (walks, edges + 1) all entities, the first one included
    edges: Integers  # (walks, edges) the places of the edges

    @classmethod
    def begin(cls, entities: Integers) -> Walks:
        """Walks without edges."""
        count = len(entities)
        return cls(np.arange(count), entities[:, None], np.zeros((count, 0), dtype=np.int64))

    def __len__(self) -> int:
        return len(self.start)

    @property
    def end(self) -> Integers:
        """The last entity of each walk."""
        return self.entities[:, -1]

    def take(self, rows: Integers | Booleans) -> Walks:
        """Some of the walks."""
        return Walks(self.start[rows], self.entities[rows], self.edges[rows])


Choose = Callable[[Integers, Integers], Booleans]
"""Whether to follow groups of edges: given the walk and the group of each, (groups,)."""


def extend(edges: Edges, walks: Walks, most: int, choose: Choose | None = None) -> Walks:
    """All walks with one more edge that lead to an entity they have not visited."""
    first = edges.first_group[walks.end]
    count = edges.first_group[walks.end + 1] - first
    group, owner = ranges(first, count), np.repeat(np.arange(len(walks)), count)
    chosen = edges.group_size[group] <= most
    group, owner = group[chosen], owner[chosen]
    if choose is not None:
        chosen = choose(owner, group)
        group, owner = group[chosen], owner[chosen]
    size = edges.group_size[group]
    edge, owner = ranges(edges.group_start[group], size), np.repeat(owner, size)
    target = edges.target[edge]
    fresh = (walks.entities[owner] != target[:, None]).all(1)
    edge, owner, target = edge[fresh], owner[fresh], target[fresh]
    return Walks(
        walks.start[owner],
        np.concatenate([walks.entities[owner], target[:, None]], axis=1),
        np.concatenate([walks.edges[owner], edge[:, None]], axis=1),
    )


def walk(edges: Edges, entities: Integers, length: int) -> Walks:
    """All walks of a length from some entities."""
    walks = Walks.begin(entities)
    for _ in range(length):
        walks = extend(edges, walks, MOST_TARGETS[length])
    return walks


def count_walks(edges: Edges, length: int) -> Integers:
    """How many walks of a length begin at each entity, those that visit one twice included."""
    followed = np.repeat(edges.group_size <= MOST_TARGETS[length], edges.group_size)
    source, target = edges.source[followed], edges.target[followed]
    counts: npt.NDArray[np.float64] = np.ones(edges.entity_count)
    for _ in range(length):
        sums = np.bincount(source, counts[target], minlength=edges.entity_count)
        counts = sums.astype(np.float64)
    return np.minimum(counts, 2.0**62).astype(np.int64)


def split_entities(entities: Integers, counts: Integers, rows: int = ROWS) -> Iterator[Integers]:
    """Split entities into parts that together have about `rows` walks."""
    bounds = np.flatnonzero(np.diff(np.cumsum(counts[entities]) // rows)) + 1
    return (part for part in np.split(entities, bounds) if len(part))

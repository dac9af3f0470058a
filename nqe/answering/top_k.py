"""Select the most likely entities of a fuzzy set."""

from __future__ import annotations

import numpy as np

from nqe.answering.fuzzy_set import FuzzySet
from nqe.graph.arrays import Integers
from nqe.graph.entity_set import EntitySet


def select_likeliest(
    row: FuzzySet,
    count: int | None = None,
    *,
    order: Integers,
    stated: EntitySet | None = None,
) -> list[tuple[int, float]]:
    """Select the entities with the highest probabilities above 0, at most `count` of them.

    Those that are stated come first. Among equal probabilities, `order` says which come first.
    """
    row = row.list_all(len(order))
    possible = np.flatnonzero(row.values > 0)
    values, entities = row.values[possible], row.entities[possible]
    first = np.zeros(len(values)) if stated is None else stated.contains(entities).astype(float)
    rank = first * 2 + values
    if count is not None and 0 < count < len(rank):
        likely = np.flatnonzero(rank >= np.partition(rank, -count)[-count])
        values, entities, rank = values[likely], entities[likely], rank[likely]
    best = np.lexsort((order[entities], -rank))[:count]
    return list(zip(entities[best].tolist(), values[best].tolist(), strict=True))


def find_rank(
    row: FuzzySet, entity: int, *, order: Integers, stated: EntitySet | None = None
) -> int:
    """Return the place of an entity in the order of `select_likeliest`, from 1.

    An entity with probability 0 is not in that list; it comes after all that are.
    """
    ranked = select_likeliest(row, order=order, stated=stated)
    return next((rank for rank, (one, _) in enumerate(ranked, 1) if one == entity), len(ranked) + 1)


def count_likely(
    row: FuzzySet,
    stated: EntitySet,
    likely: float,
    threshold: float | None,
    entity_count: int,
) -> tuple[int, int]:
    """Count stated and predicted entities: above `likely`, or at a threshold and above 0."""
    row = row.list_all(entity_count)
    values = row.values
    chosen = values > likely if threshold is None else (values >= threshold) & (values > 0)
    known = int(stated.contains(row.entities[chosen]).sum())
    return known, int(chosen.sum()) - known


def restrict(
    row: FuzzySet, among: EntitySet | None, threshold: float | None, entity_count: int
) -> FuzzySet:
    """Return the set without entities outside another set or below a threshold."""
    row = row.restrict(among, entity_count)
    if threshold is None:
        return row
    row = row.list_all(entity_count)
    return row.keep(row.values >= threshold)

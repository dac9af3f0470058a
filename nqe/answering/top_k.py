"""Select the most likely entities of a row of probabilities."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from nqe.graph.entity_set import EntitySet


def select_likeliest(row: Tensor, count: int | None = None) -> list[tuple[int, float]]:
    """Select the entities with the highest probabilities above 0, at most `count` of them.

    Among equal probabilities, entities with lower numbers come first.
    """
    possible = int((row > 0).sum())
    count = possible if count is None else min(count, possible)
    if not count:
        return []
    # topk breaks ties arbitrarily, so it is only used to find the lowest probability to include.
    candidates = (row >= row.topk(count).values[-1]).nonzero()[:, 0]
    best = candidates[row[candidates].sort(descending=True, stable=True).indices[:count]]
    return list(zip(best.tolist(), row[best].tolist(), strict=True))


def find_rank(row: Tensor, entity: int) -> int:
    """Return the place of an entity in the order of `select_likeliest`, from 1.

    An entity with probability 0 is not in that list; it comes after all that are.
    """
    own = row[entity]
    before = int((row > own).sum())
    if float(own) > 0:
        before += int((row[:entity] == own).sum())
    return before + 1


def count_likely(
    row: Tensor, stated: EntitySet, likely: float, threshold: float | None = None
) -> tuple[int, int]:
    """Count stated and predicted entities: above `likely`, or at a threshold and above 0."""
    chosen = row > likely if threshold is None else (row >= threshold) & (row > 0)
    entities = chosen.nonzero()[:, 0].cpu().numpy().astype(np.int64)
    known = int(stated.contains(entities).sum())
    return known, len(entities) - known


def restrict(row: Tensor, among: EntitySet | None, threshold: float | None = None) -> Tensor:
    """Return the row with 0 for entities outside a set or with a probability below a threshold."""
    if threshold is not None:
        row = row.masked_fill(row < threshold, 0)
    if among is not None:
        mask = torch.zeros_like(row)
        mask[torch.from_numpy(among.to_array(len(row))).to(row.device)] = 1
        row = row * mask
    return row

"""Select the most likely entities of a row of probabilities."""

from __future__ import annotations

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


def restrict(row: Tensor, among: EntitySet | None, threshold: float | None = None) -> Tensor:
    """Return the row with 0 for entities outside a set or with a probability below a threshold."""
    if threshold is not None:
        row = row.masked_fill(row < threshold, 0)
    if among is not None:
        mask = torch.zeros_like(row)
        mask[torch.from_numpy(among.to_array(len(row))).to(row.device)] = 1
        row = row * mask
    return row

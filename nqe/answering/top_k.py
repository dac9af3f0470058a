"""Rows of probabilities, one an entity: the best of them, and those of a set."""

from __future__ import annotations

import torch
from torch import Tensor

from nqe.errors import NqeError
from nqe.graph.entity_set import EntitySet


def likeliest(row: Tensor, count: int) -> list[tuple[int, float]]:
    """The likeliest entities that are possible; of equals those with the lowest numbers."""
    if count < 0:
        raise NqeError(f"{count} of the best are wanted; give 1 or more")
    count = min(count, int((row > 0).sum()))
    if not count:
        return []
    # Of equals topk takes any, so it only tells where to stop.
    among = (row >= row.topk(count).values[-1]).nonzero()[:, 0]
    best = among[row[among].sort(descending=True, stable=True).indices[:count]]
    return list(zip(best.tolist(), row[best].tolist(), strict=True))


def mask_of(entities: EntitySet, row: Tensor) -> Tensor:
    """1 for the entities of a set and 0 for others, like a row."""
    mask = torch.zeros_like(row)
    mask[torch.from_numpy(entities.to_array(len(row))).to(row.device)] = 1
    return mask

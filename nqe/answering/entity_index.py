"""An index of entity vectors: blocks of entities that queries score alike.

Entities are arranged by k-means, in two levels, in a space in which the distance of two entities
is how much their scores differ over typical queries. The arrangement is cut into blocks of equal
size. Some queries look at the blocks together whose mean vectors score highest; the sum over all
other blocks is estimated from a few entities of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

import torch
from torch import Tensor

from nqe.model.model import EntityBlock

BLOCK = 64
"""The number of entities in a block."""
LOOK = 1_600
"""The number of blocks that queries look at together."""
PICKED = 1
"""The number of entities of each block that stand for it if it is not looked at."""
_DIMENSIONS = 64
_ROUNDS = 4
_SAMPLE = 40
"""The centres of k-means are fitted on this many vectors per centre."""
_ROWS = 2**14


@dataclass(frozen=True, eq=False)
class EntityIndex:
    """Entities in blocks; the last block is filled up with the bias -∞."""

    entities: Tensor  # (blocks, size) the number of each entity
    vectors: Tensor  # (blocks, size, width)
    bias: Tensor  # (blocks, size)
    counts: Tensor  # (blocks,) the number of entities without the filling
    means: EntityBlock  # (blocks,)
    picked: EntityBlock  # (blocks · picked,)
    places: Tensor  # (entities of the graph,) the place in all blocks, -1 if it has none

    @classmethod
    @torch.no_grad()
    def build(cls, block: EntityBlock, queries: Tensor) -> EntityIndex:
        """Arrange all entities that have a score, for queries like the given ones."""
        seen = block.bias.isfinite().nonzero()[:, 0]
        order = seen[_arrange(block, seen, _find_axes(queries))]
        size = max(1, min(BLOCK, len(order)))
        filling = -len(order) % size
        entities = torch.cat([order, order.new_zeros(filling)]).view(-1, size)
        bias = block.bias[entities]
        bias.view(-1)[len(order) :] = -torch.inf
        counts = bias.isfinite().sum(1)
        vectors = block.vectors[entities.view(-1)].view(*entities.shape, -1)
        places = torch.full_like(block.bias, -1, dtype=torch.long)
        places[order] = torch.arange(len(order), device=order.device)
        means = EntityBlock(vectors.mean(1), bias.nan_to_num(neginf=0.0).sum(1) / counts)
        step = ceil(size / PICKED)
        picked = EntityBlock(
            vectors[:, ::step].flatten(0, 1).contiguous(), bias[:, ::step].flatten()
        )
        return cls(entities, vectors, bias, counts, means, picked, places)

    def choose_blocks(self, queries: Tensor, logs: Tensor, temperature: float) -> Tensor:
        """Choose the blocks to look at, ascending; `logs` says how much each query counts."""
        scores = _score(queries, self.means, temperature)  # (queries, blocks)
        total = (scores + self.counts.log()).logsumexp(1)
        gain = (scores + (logs - total)[:, None]).amax(0)
        return gain.topk(min(LOOK, len(gain))).indices.sort().values

    def score(self, queries: Tensor, blocks: Tensor, temperature: float, out: Tensor) -> None:
        """Score the entities of some blocks, (queries, entities)."""
        vectors, bias = self.vectors[blocks].flatten(0, 1), self.bias[blocks].flatten()
        torch.addmm(bias / temperature, queries, vectors.T, out=out)

    def find_columns(self, blocks: Tensor, entities: Tensor) -> Tensor:
        """The columns of entities among some ascending blocks, -1 for one in none of them."""
        size = self.entities.shape[1]
        place = self.places[entities]
        block = place // size
        at = torch.searchsorted(blocks, block).clamp_max(len(blocks) - 1)
        return torch.where(blocks[at] == block, at * size + place % size, -1)

    def estimate_rest(self, queries: Tensor, blocks: Tensor, temperature: float) -> Tensor:
        """Estimate the log-sum over the entities of all blocks but these, (queries,)."""
        picked = len(self.picked) // len(self.counts)
        logs = (self.counts / picked).log()
        logs[blocks] = -torch.inf
        scores = _score(queries, self.picked, temperature)
        return scores.add_(logs.repeat_interleave(picked)).logsumexp(1)


def _score(queries: Tensor, block: EntityBlock, temperature: float) -> Tensor:
    return torch.addmm(block.bias / temperature, queries, block.vectors.T)


def _find_axes(queries: Tensor) -> Tensor:
    """The axes, (width + 1, dimensions), along which entities differ for queries.

    The last row is for the bias, which counts the same in every query.
    """
    extended = torch.cat([queries, torch.ones_like(queries[:, :1])], 1)
    values, axes = torch.linalg.eigh(extended.T @ extended / len(extended))
    scaled: Tensor = axes * values.clamp_min(0).sqrt()
    return scaled[:, -_DIMENSIONS:]


def _arrange(block: EntityBlock, numbers: Tensor, axes: Tensor) -> Tensor:
    """An order of some entities in which neighbours are alike, as places in `numbers`."""
    points = torch.cat([_project(block, rows, axes) for rows in torch.split(numbers, _ROWS)])
    generator = torch.Generator(points.device).manual_seed(0)
    groups = _cluster(points, round(sqrt(len(points) / BLOCK)), generator)
    order = groups.argsort(stable=True)
    parts = torch.split(order, groups.bincount().tolist())
    return torch.cat([part[_sort_alike(points[part], generator)] for part in parts])


def _project(block: EntityBlock, numbers: Tensor, axes: Tensor) -> Tensor:
    some = block[numbers]
    return torch.addmm(some.bias[:, None] * axes[-1], some.vectors, axes[:-1])


def _sort_alike(points: Tensor, generator: torch.Generator) -> Tensor:
    labels = _cluster(points, len(points) // BLOCK, generator)
    return labels.argsort(stable=True)


def _cluster(points: Tensor, count: int, generator: torch.Generator) -> Tensor:
    """Put points into clusters by k-means; returns the cluster of each, (points,)."""
    if count < 2:
        return torch.zeros(len(points), dtype=torch.long, device=points.device)
    chosen = torch.randperm(len(points), generator=generator)[: _SAMPLE * count]
    sample = points[chosen]
    centres = sample[:count].clone()
    for _ in range(_ROUNDS):
        labels = _find_nearest(sample, centres)
        sizes = labels.bincount(minlength=count)
        sums = torch.zeros_like(centres).index_add_(0, labels, sample)
        centres = torch.where(sizes[:, None] > 0, sums / sizes.clamp_min(1)[:, None], centres)
    # Clusters that are alike get numbers that are near each other.
    axis = torch.linalg.eigh(centres.T @ centres)[1][:, -1]
    return _find_nearest(points, centres[(centres @ axis).argsort()])


def _find_nearest(points: Tensor, centres: Tensor) -> Tensor:
    half = centres.square().sum(1) / -2
    parts = [torch.addmm(half, rows, centres.T).argmax(1) for rows in torch.split(points, _ROWS)]
    return torch.cat(parts)

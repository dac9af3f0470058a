"""An index of entity vectors: blocks of entities that queries score alike.

Entities are arranged by k-means, in two levels, in a space in which the distance of two entities
is how much their scores differ over typical queries. The arrangement is cut into blocks of equal
size. A summary of each block estimates its part of a log-sum. Some queries look at the blocks
together that promise most, and estimate the sum over all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log, sqrt

import torch
from torch import Tensor

from nqe.graph.arrays import Integers
from nqe.model.model import EntityBlock

BLOCK = 32
"""The number of entities in a block."""
LOOK = 3_200
"""The number of blocks that queries look at together."""
_DIMENSIONS = 64
"""Entities are arranged, and blocks are summarised, along this many axes."""
_ROUNDS = 4
_SAMPLE = 40
"""The centres of k-means are fitted on this many vectors per centre."""
_FITTED = 64
"""Summaries are fitted to this many queries."""
_ROWS = 2**14


@dataclass(frozen=True, eq=False)
class EntityIndex:
    """Entities in blocks; the last block is filled up with the bias -∞."""

    entities: Tensor  # (blocks, size) the number of each entity
    vectors: Tensor  # (blocks, size, width)
    bias: Tensor  # (blocks, size)
    places: Tensor  # (entities of the graph,) the place in all blocks, -1 if it has none
    summary: Summary

    @classmethod
    @torch.no_grad()
    def build(cls, block: EntityBlock, queries: Tensor) -> EntityIndex:
        """Arrange all entities that have a score, for queries like the given ones."""
        seen = block.bias.isfinite().nonzero()[:, 0]
        order = seen[_arrange(block, seen, _find_axes(queries))]
        size = max(1, min(BLOCK, len(order)))
        filling = order[-1:].expand(-len(order) % size)
        entities = torch.cat([order, filling]).view(-1, size)
        vectors = block.vectors[entities.view(-1)].view(*entities.shape, -1)
        bias = block.bias[entities]
        summary = Summary.fit(vectors, bias, queries)
        bias.view(-1)[len(order) :] = -torch.inf
        places = torch.full_like(block.bias, -1, dtype=torch.long)
        places[order] = torch.arange(len(order), device=order.device)
        return cls(entities, vectors, bias, places, summary)

    def __len__(self) -> int:
        return len(self.entities)

    def look(self, queries: Tensor, weight: Tensor, temperature: float, memory: Tensor) -> Look:
        """Choose the blocks that promise most for queries, each of which counts by a weight.

        Queries are divided by the temperature; `memory` has room for (queries, blocks).
        """
        sums = self.summary.estimate_halves(queries, temperature, memory.view(len(queries), -1))
        highest = sums.amax(1, keepdim=True)
        # The roots of sums, so that a block with little of every query does not come first.
        roots = sums.sub_(highest).exp_()  # (queries, blocks)
        gain = (weight.sqrt() / roots.norm(dim=1)) @ roots
        blocks = gain.topk(min(LOOK, len(gain))).indices.sort().values
        roots[:, blocks] = 0
        rest = 2 * (roots.norm(dim=1).log() + highest[:, 0])
        return Look(self, blocks, rest, temperature)


@dataclass(frozen=True, eq=False)
class Look:
    """The blocks of an index that some queries look at; columns are the entities in them."""

    index: EntityIndex
    blocks: Tensor  # (blocks looked at,) ascending
    rest: Tensor  # (queries,) an estimate of the log-sum over all other blocks
    temperature: float

    def __len__(self) -> int:
        return self.entities.numel()

    @cached_property
    def entities(self) -> Tensor:
        """The entity in each column, (blocks looked at, size)."""
        return self.index.entities[self.blocks]

    def read(self, columns: slice) -> EntityBlock:
        """The vectors of whole blocks, with the bias for divided scores."""
        size = self.entities.shape[1]
        blocks = self.blocks[columns.start // size : columns.stop // size]
        vectors = self.index.vectors.index_select(0, blocks).flatten(0, 1)
        return EntityBlock(vectors, self.index.bias[blocks].flatten() / self.temperature)

    def to_columns(self, entity: Integers) -> Integers:
        """The columns of entities, -1 for one that is not looked at."""
        size, device = self.entities.shape[1], self.blocks.device
        place = self.index.places[torch.from_numpy(entity).to(device)]
        block = place // size
        at = torch.searchsorted(self.blocks, block).clamp_max(len(self.blocks) - 1)
        found = torch.where(self.blocks[at] == block, at * size + place % size, -1)
        columns: Integers = found.cpu().numpy()
        return columns

    def to_entities(self, column: Integers) -> Integers:
        """The entities in columns."""
        found = self.entities.view(-1)[torch.from_numpy(column).to(self.blocks.device)]
        entities: Integers = found.cpu().numpy()
        return entities


@dataclass(frozen=True, eq=False)
class Summary:
    """What estimates the log-sum of the scores in each block: their mean, and how they scatter.

    If scores are normally distributed, their log-mean is above their mean by half their variance,
    which is quadratic in the query. Blocks scatter much alike, up to a factor.
    """

    axes: Tensor  # (width, dimensions)
    scatter: Tensor  # (width, width) the mean covariance of the vectors in a block
    means: Tensor  # (blocks, dimensions + 1) along the axes, and the factor of the scatter
    bias: Tensor  # (blocks,)
    size: int

    @classmethod
    def fit(cls, vectors: Tensor, bias: Tensor, queries: Tensor) -> Summary:
        """Summarise blocks, for queries like the given ones."""
        axes = torch.linalg.eigh(queries.T @ queries)[1][:, -_DIMENSIONS:]
        some = vectors[:: max(1, len(vectors) * vectors.shape[1] // _ROWS)]
        apart = (some - some.mean(1, keepdim=True)).flatten(0, 1)
        scatter = apart.T @ apart / len(apart)
        chosen = queries[:: max(1, len(queries) // _FITTED)]
        excess = torch.cat(
            [_measure_excess(chosen, *part) for part in _split_blocks(vectors, bias)]
        )
        factor = excess / _measure_scatter(chosen, scatter).mean().clamp_min(1e-9)
        means = torch.cat([vectors.mean(1) @ axes, factor[:, None]], 1)
        return cls(axes, scatter, means, bias.mean(1), vectors.shape[1])

    def estimate_halves(self, queries: Tensor, temperature: float, out: Tensor) -> Tensor:
        """Estimate half the log-sum of each block, (queries, blocks)."""
        scatter = _measure_scatter(queries, self.scatter)[:, None]
        along = torch.cat([queries @ self.axes, scatter], 1) / 2
        bias = (self.bias / temperature + log(self.size)) / 2
        return torch.addmm(bias, along, self.means.T, out=out)


def _split_blocks(vectors: Tensor, bias: Tensor) -> zip[tuple[Tensor, Tensor]]:
    height = max(1, _ROWS // vectors.shape[1])
    return zip(torch.split(vectors, height), torch.split(bias, height), strict=True)


def _measure_excess(queries: Tensor, vectors: Tensor, bias: Tensor) -> Tensor:
    """How far the log-mean of the scores in blocks is above their mean, over queries, (blocks,)."""
    scores = torch.addmm(bias.flatten(), queries, vectors.flatten(0, 1).T)
    scores = scores.view(len(queries), *bias.shape)  # (queries, blocks, size)
    excess = (scores - scores.mean(2, keepdim=True)).logsumexp((0, 2))
    return excess - log(len(queries) * scores.shape[2])


def _measure_scatter(queries: Tensor, scatter: Tensor) -> Tensor:
    """The variance of the scores in a typical block, (queries,)."""
    return ((queries @ scatter) * queries).sum(1)


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

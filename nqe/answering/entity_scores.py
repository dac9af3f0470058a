"""Scores of entities for some queries, block by block, and which entities are scored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nqe.answering.predictor import Predictor
from nqe.graph.arrays import Integers
from nqe.model.log_sum import LogSum
from nqe.model.model import Comparison, EntityBlock

Floats = npt.NDArray[np.float64]

COLUMNS = 2**13
"""Entities that are scored at once, few enough that the scores stay in the processor's cache."""
SMALL = 60.0
"""Exponentials of numbers up to this size can be added up in single precision."""


class EntityColumns(Protocol):
    """The entities that are scored, each a column of the scores."""

    @property
    def rest(self) -> Tensor:
        """The log-sum of the scores of all other entities, (queries,)."""

    def __len__(self) -> int:
        """The number of columns."""

    def read(self, columns: slice) -> EntityBlock:
        """The vectors of some columns, with the bias for divided scores."""

    def to_columns(self, entity: Integers) -> Integers:
        """The columns of entities, -1 for one that is not scored."""

    def to_entities(self, column: Integers) -> Integers:
        """The entities in columns."""


@dataclass(frozen=True, eq=False)
class AllEntities:
    """Every entity is scored, in the column of its number."""

    comparison: Comparison

    def __len__(self) -> int:
        return len(self.comparison.bias)

    @property
    def rest(self) -> Tensor:
        """The log-sum over no entities."""
        queries = self.comparison.queries
        return queries.new_full((len(queries),), -torch.inf)

    def read(self, columns: slice) -> EntityBlock:
        """The vectors of a range of entities."""
        return EntityBlock(self.comparison.entities[columns], self.comparison.bias[columns])

    def to_columns(self, entity: Integers) -> Integers:
        """The numbers of the entities."""
        return entity

    def to_entities(self, column: Integers) -> Integers:
        """The numbers of the entities."""
        return column


class Scores:
    """The scores of entities for some queries, in blocks of columns.

    `stated` has pairs of a row and an entity that is not selected, but counts in the log-sum.
    """

    @torch.no_grad()
    def __init__(
        self,
        queries: Tensor,
        columns: EntityColumns,
        stated: tuple[Integers, Integers],
        predictor: Predictor,
        *,
        small: bool,
    ) -> None:
        self.columns, self.blocks = columns, list[Tensor]()
        total = SmallLogSum() if small else LogSum()
        row, place = stated[0], columns.to_columns(stated[1])
        count, width = len(queries), len(columns)
        # The last scores are no longer needed, and memory that was used before is at hand.
        memory = predictor.lend_memory(count * (width + COLUMNS))
        scratch = memory[count * width :]
        for part in split_columns(width):
            block = memory[count * part.start : count * part.stop].view(count, -1)
            some = columns.read(part)
            torch.addmm(some.bias, queries, some.vectors.T, out=block)
            total.add(block, out=scratch[: block.numel()].view_as(block))
            _leave_out(block, row, place, part)
            self.blocks.append(block)
        lowest = torch.finfo(queries.dtype).min
        self.total = torch.logaddexp(total.total, columns.rest).clamp_min(lowest)  # (queries,)

    def select(self, limit: Tensor) -> tuple[Integers, Integers, Floats]:
        """The pairs with at least some score, (queries,): the row, the entity, the log softmax."""
        limit = (limit - 1e-6)[:, None].to(self.total.dtype)
        parts = [self._select(block, number, limit) for number, block in enumerate(self.blocks)]
        row, column, logs = (np.concatenate(part) for part in zip(*parts, strict=True))
        return row, self.columns.to_entities(column), logs

    def _select(
        self, block: Tensor, number: int, limit: Tensor
    ) -> tuple[Integers, Integers, Floats]:
        # NumPy finds few true values among many several times faster than PyTorch.
        found = np.flatnonzero((block >= limit).cpu().numpy())
        row, column = np.divmod(found, block.shape[1])
        scores = block.view(-1)[torch.from_numpy(found).to(block.device)].double()
        logs = scores.cpu().numpy() - self.total.double().cpu().numpy()[row]
        return row, column + number * COLUMNS, logs


class SmallLogSum:
    """The same as `LogSum` for scores so small that their exponentials can be added as they are."""

    def __init__(self) -> None:
        self._sums: list[Tensor] = []

    def add(self, scores: Tensor, out: Tensor) -> None:
        """Add a block of scores, (rows, columns); `out` is memory of the same shape."""
        self._sums.append(torch.exp(scores, out=out).sum(1))

    @property
    def total(self) -> Tensor:
        """The log-sum over all blocks added so far, (rows,)."""
        return torch.stack(self._sums).sum(0).log()


def are_small(comparison: Comparison, predictor: Predictor, temperature: float) -> bool:
    """Whether the exponentials of all scores can be added up as they are."""
    entities = predictor.entities
    longest = float(comparison.queries.norm(dim=1).max()) * entities.longest
    return longest + entities.largest_bias / temperature < SMALL


def split_columns(count: int) -> list[slice]:
    """The columns of each block."""
    return [slice(start, min(start + COLUMNS, count)) for start in range(0, count, COLUMNS)]


def _leave_out(block: Tensor, row: Integers, column: Integers, part: slice) -> None:
    """Set some scores of a block, which has a part of all columns, to -∞."""
    inside = (column >= part.start) & (column < part.stop)
    if inside.any():
        place = torch.from_numpy(column[inside] - part.start)
        block[torch.from_numpy(row[inside]), place] = -torch.inf

"""Collects the sampled queries of one shape and split until there are enough."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from nqe.query.shapes import Shape, parse_shape
from nqe.sampling.block_sampler import Block
from nqe.sampling.query_table import QueryTable, concatenate, empty
from nqe.sampling.worker import Task

MAX_BARREN = 6
"""A shape is given up after this many blocks in a row without a new query."""
MAX_BALANCED = 40
"""Balancing looks for rare queries in at most this many blocks."""
MAX_PER_ROUND = 64
"""At most this many blocks of one shape are made in one round."""


def count_most_links(shape: Shape) -> int:
    """Count the facts that one proof of a query uses, negations apart: the most it can lack."""
    inputs = [count_most_links(one) for one in shape.inputs]
    match shape.word:
        case "P":
            return 1 + sum(inputs)
        case "And":
            return sum(inputs)
        case "Or":
            return max(inputs)
        case "Not" | "Any":
            return 0
        case word:
            raise ValueError(f"unknown operator '{word}' in a shape")


@dataclass(eq=False)
class Collector:
    """Takes queries from blocks, each once; if `balanced`, by the number of missing links."""

    split: str
    shape: str
    wanted: int
    balanced: bool
    count: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    signatures: set[bytes] = field(default_factory=set)
    _blocks: int = 0
    """Blocks asked for so far."""
    _barren: int = 0
    """Blocks in a row without a new query."""
    _taken: list[QueryTable] = field(default_factory=list)
    _reserve: list[QueryTable] = field(default_factory=list)
    """Queries with a number of missing links that enough others have already."""
    _by_links: Counter[int] = field(default_factory=Counter)

    @property
    def is_open(self) -> bool:
        """Whether more queries are wanted and can still be expected."""
        may_balance = not self.balanced or self._blocks < MAX_BALANCED
        return self.count < self.wanted and self._barren < MAX_BARREN and may_balance

    def next_tasks(self) -> list[Task]:
        """Return the tasks of the next round; their blocks must all be added, in this order."""
        first = self._blocks
        self._blocks += self._count_next_blocks()
        return [Task(self.split, self.shape, number) for number in range(first, self._blocks)]

    def _count_next_blocks(self) -> int:
        """Return one at first, to learn how much a block yields, then what the yield suggests."""
        if not self._blocks:
            return 1
        rate = max(self.count / self._blocks, 1)
        most = MAX_BALANCED - self._blocks if self.balanced else MAX_PER_ROUND
        return int(min(np.ceil((self.wanted - self.count) / rate), most))

    def add(self, block: Block) -> None:
        """Take the new queries of a block, until there are enough."""
        self.refused += block.refused
        fresh: list[int] = []
        surplus: list[int] = []
        for row, signature in enumerate(block.signatures):
            if self.count + len(fresh) >= self.wanted:
                break
            if signature in self.signatures:
                self.refused["drawn before"] += 1
                continue
            self.signatures.add(signature)
            (fresh if self._needs_links(block, row) else surplus).append(row)
        self.count += len(fresh)
        self._barren = 0 if fresh else self._barren + 1
        self._taken.append(block.table.take(np.array(fresh, dtype=np.int64)))
        self._reserve.append(block.table.take(np.array(surplus, dtype=np.int64)))

    def finish(self, rng: np.random.Generator) -> QueryTable:
        """Return the queries in random order, as frequent ones tend to be drawn first.

        If balancing found too few, the reserve fills the gap.
        """
        reserve = concatenate(self._reserve) if self._reserve else empty()
        lacking = min(self.wanted - self.count, len(reserve))
        self.refused["enough with as many missing links"] += len(reserve) - lacking
        self.refused = +self.refused
        table = concatenate([*self._taken, reserve.take(np.arange(lacking))])
        return table.take(rng.permutation(len(table)))

    def _needs_links(self, block: Block, row: int) -> bool:
        """Whether more queries with as many missing links as this one are wanted."""
        if not self.balanced or self.split == "train":
            return True
        links = int(block.table.missing[row].max())
        share = -(-self.wanted // max(1, count_most_links(parse_shape(self.shape))))
        if self._by_links[links] >= share:
            return False
        self._by_links[links] += 1
        return True

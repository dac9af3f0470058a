"""How many queries of a shape a split wants, and which of those drawn it takes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from nqe.query.shapes import Shape, parse_shape
from nqe.sampling.block_sampler import Block
from nqe.sampling.query_table import QueryTable, concatenate, empty

# A shape is given up when so many blocks one after another yield nothing new.
BARREN = 6
# Balancing looks for rare queries in so many blocks at the most.
BALANCED_BLOCKS = 40


def most_links(shape: Shape) -> int:
    """The most facts that an answer can lack: what one proof uses, negations apart."""
    inputs = [most_links(one) for one in shape.inputs]
    match shape.word:
        case "P":
            return 1 + sum(inputs)
        case "And":
            return sum(inputs)
        case "Or":
            return max(inputs)
        case _:
            return 0


@dataclass(eq=False)
class Quota:
    """The queries of one shape and split, as they come."""

    split: str
    shape: str
    wanted: int
    balanced: bool
    count: int = 0
    next_block: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    signatures: set[bytes] = field(default_factory=set)
    _taken: list[QueryTable] = field(default_factory=list)
    _reserve: list[QueryTable] = field(default_factory=list)
    _by_links: Counter[int] = field(default_factory=Counter)
    _barren: int = 0

    @property
    def open(self) -> bool:
        """Whether more is wanted, and to be had."""
        patient = not self.balanced or self.next_block < BALANCED_BLOCKS
        return self.count < self.wanted and self._barren < BARREN and patient

    def blocks_to_try(self) -> int:
        """How many blocks to make next: one to learn what it yields, then what is lacking."""
        if not self.next_block:
            return 1
        rate = max(self.count / self.next_block, 1)
        most = BALANCED_BLOCKS - self.next_block if self.balanced else 64
        return int(min(np.ceil((self.wanted - self.count) / rate), most))

    def take(self, block: Block) -> None:
        """Keep the new queries of a block until the quota is full."""
        self.refused += block.refused
        fresh: list[int] = []
        surplus: list[int] = []
        for row, one in enumerate(block.signatures):
            if self.count + len(fresh) >= self.wanted:
                break
            if one in self.signatures:
                self.refused["drawn before"] += 1
                continue
            self.signatures.add(one)
            (fresh if self._welcome(block, row) else surplus).append(row)
        self.count += len(fresh)
        self._barren = 0 if fresh else self._barren + 1
        self._taken.append(block.table.take(np.array(fresh, dtype=np.int64)))
        self._reserve.append(block.table.take(np.array(surplus, dtype=np.int64)))

    def table(self, rng: np.random.Generator) -> QueryTable:
        """The queries in random order, as the most frequent ones are drawn first.

        Where balancing left the quota short, others fill it up.
        """
        reserve = concatenate(self._reserve) if self._reserve else empty()
        lacking = min(self.wanted - self.count, len(reserve))
        self.refused["enough of so many missing links"] += len(reserve) - lacking
        self.refused = +self.refused
        table = concatenate([*self._taken, reserve.take(np.arange(lacking))])
        return table.take(rng.permutation(len(table)))

    def _welcome(self, block: Block, row: int) -> bool:
        """Balanced: whether queries with so many missing links are still wanted."""
        if not self.balanced or self.split == "train":
            return True
        links = int(block.table.missing[row].max())
        share = -(-self.wanted // max(1, most_links(parse_shape(self.shape))))
        if self._by_links[links] >= share:
            return False
        self._by_links[links] += 1
        return True

"""A sampling worker: makes the block of queries that a task names, wherever it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import numpy as np

from nqe.graph.dataset import Dataset
from nqe.graph.splits import SPLITS
from nqe.query.shapes import parse_shape
from nqe.sampling.block_sampler import Block, BlockSampler
from nqe.sampling.random_walk import Draw, Match, Walker
from nqe.sampling.signature import Range
from nqe.settings import SamplingSettings

WALKS = 500
"""The number of random walks that one block is made from."""


@dataclass(frozen=True)
class Task:
    """Names one block of queries. The block depends on the task, data set and settings alone."""

    split: str
    shape: str
    number: int


@dataclass(eq=False)
class Worker:
    """Makes blocks of queries; keeps one block sampler per split, built when first needed."""

    dataset: Dataset
    settings: SamplingSettings
    _samplers: dict[str, BlockSampler] = field(default_factory=dict)

    def run(self, task: Task) -> Block:
        """Make the block of a task, with a random generator seeded by the task."""
        rng = random_generator(self.settings, task.split, task.shape, task.number)
        return self.block_sampler(task.split).sample(parse_shape(task.shape), WALKS, rng)

    def can_sample(self, split: str, shape: str) -> bool:
        """Whether any fact has enough slots for the shape."""
        return self.block_sampler(split).walker.can_fill(parse_shape(shape))

    def block_sampler(self, split: str) -> BlockSampler:
        """Return the block sampler of a split, building it on first use."""
        if split not in self._samplers:
            self._samplers[split] = self._build_sampler(split)
        return self._samplers[split]

    def _build_sampler(self, split: str) -> BlockSampler:
        settings, dataset = self.settings, self.dataset
        walker = Walker(
            dataset.full_for(split),
            cast(Match, settings.match),
            frozenset(settings.slots),
            cast(Draw, settings.draw),
            settings.qualifiers,
        )
        return BlockSampler(
            walker,
            None if split == "train" else dataset.known_for(split),
            settings.max_answers,
            settings.train_answers,
            signature_range(split, settings),
        )


def random_generator(
    settings: SamplingSettings, split: str, shape: str, block: int | None = None
) -> np.random.Generator:
    """Create the generator of one block, or that of the shape and split as a whole."""
    key = (SPLITS.index(split), *shape.encode(), *(() if block is None else (block,)))
    return np.random.default_rng(np.random.SeedSequence(settings.seed, spawn_key=key))


def signature_range(split: str, settings: SamplingSettings) -> Range:
    """Return the range of signatures, as parts of 1, that a split may use.

    Validation and test share no query, and neither takes precedence: the signature of a formula
    decides in which of the two it may appear.
    """
    if split == "train" or not (settings.valid and settings.test):
        return 0.0, 1.0
    border = settings.valid / (settings.valid + settings.test)
    return (0.0, border) if split == "valid" else (border, 1.0)

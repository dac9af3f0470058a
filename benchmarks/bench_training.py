"""Training speed at the published size against the research code's, and of mixed batches.

The rate of the research code (from the project's baselines) was measured where a 2048³ multiply
reached 185 GF/s. It is scaled to this machine by the same multiply, measured before and after.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from machine import (
    SIDE,
    arguments,
    benchmark_data,
    describe,
    markdown_table,
    matrix_multiply_rate,
    write_result,
)

from nqe.graph import Dataset
from nqe.model import new_model
from nqe.sampling import QueryTable, sample
from nqe.sampling.one_hop import make_closed_queries
from nqe.settings import ModelSettings, SamplingSettings, TrainSettings
from nqe.training.candidates import sample_entities, take_all_entities
from nqe.training.loss import SoftmaxLoss
from nqe.training.memory import keep_freed_memory
from nqe.training.optimizer import Optimizer

RESEARCH_RATE, RESEARCH_MULTIPLY = 38.0, 185.0
PUBLISHED = ModelSettings(width=256, layers=16, heads=8, feed_forward=512)
WARM_UP = 3
MOST_ARITY = 10
RATIO_BAR, MIXED_BAR = 8.0, 1.2


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    published_batch: int = 256
    steps: int = 30
    default_batch: int = TrainSettings().batch
    shape_queries: int = 64
    mixed_steps: int = 8


QUICK = Sizes(4, 2, 16, 2, 1)


def multiply_rate(repeats: int = 9) -> float:
    """GF/s of the same multiply by torch, which the research code was measured with, the median."""
    matrix = torch.rand(SIDE, SIDE)
    product, rates = matrix @ matrix, []
    for _ in range(repeats):
        start = time.perf_counter()
        torch.mm(matrix, matrix, out=product)
        rates.append(2 * SIDE**3 / (time.perf_counter() - start) / 1e9)
    return statistics.median(rates)


class Steps:
    """Training steps of a model over tables of queries, data loading included."""

    def __init__(self, dataset: Dataset, settings: ModelSettings, candidates: int | None) -> None:
        torch.manual_seed(0)
        names = dataset.vocabulary
        self.model = new_model(settings, len(names.entities), len(names.relations))
        self.optimizer = Optimizer(self.model, TrainSettings())
        self.loss = SoftmaxLoss(0.1, self.model.entity_count)
        self.candidates = candidates
        self.rng = np.random.default_rng(0)

    def step(self, table: QueryTable) -> None:
        """Make one training step on these queries."""
        chosen = (
            take_all_entities(table.easy)
            if self.candidates is None
            else sample_entities(
                table.easy, table.easy, self.model.entity_count, self.candidates, self.rng
            )
        )
        self.model.train()
        comparison = self.model.compare(table.plans, chosen.entities)
        loss = self.loss(comparison, chosen.targets, 1 / len(table), chosen.weight)
        loss.backward()
        self.optimizer.clip_gradients()
        self.optimizer.step(1e-4, 1)


def flops(settings: ModelSettings, tables: Sequence[QueryTable], entities: int) -> float:
    """The multiplications and additions in the matrix products of training on these queries.

    The forward pass is a third of them. The last layer computes keys and values for all elements,
    and everything else only for the masked ones.
    """
    queries = sum(len(table) for table in tables)
    elements = sum(2 * int(table.plans.arities.values.sum()) - len(table) for table in tables)
    width, inner = settings.width, settings.feed_forward
    maps, rest = 3 * width * width, width * width + 2 * width * inner
    encoder = (settings.layers - 1) * elements * (maps + rest)
    last = elements * 2 * width * width + queries * (width * width + rest + 2 * width * width)
    return 3 * 2 * (encoder + last + queries * entities * width)


def rows_as_drawn(table: QueryTable) -> np.ndarray:
    """Rows of the queries in random order, each as often as it has facts, up to arity 10.

    The queries that the research code was measured on were drawn like this: one slot of one fact
    at a time.
    """
    rows = np.repeat(np.arange(len(table)), table.easy.lengths)
    rows = rows[table.plans.arities.values[rows] <= MOST_ARITY]
    return np.random.default_rng(0).permutation(rows)


def published_size(dataset: Dataset, sizes: Sizes) -> tuple[list[tuple[str, str]], float]:
    """The figures for one-hop queries of all slots with the full softmax, and the ratio."""
    table = make_closed_queries(dataset.splits["train"])
    order = rows_as_drawn(table)
    steps = Steps(dataset, PUBLISHED, None)
    size, seconds, tables = sizes.published_batch, [], []
    before = multiply_rate()
    for number in range(WARM_UP + sizes.steps):
        start = time.perf_counter()
        batch = table.take(order[number * size : (number + 1) * size])
        steps.step(batch)
        if number >= WARM_UP:
            seconds.append(time.perf_counter() - start)
            tables.append(batch)
    after = multiply_rate()
    multiply = (before + after) / 2
    rate = size * sizes.steps / sum(seconds)
    research = RESEARCH_RATE * multiply / RESEARCH_MULTIPLY
    work = flops(PUBLISHED, tables, steps.model.entity_count) / sum(seconds) / 1e9
    rows = [
        ("queries/s", f"{rate:.0f}"),
        ("seconds per step, median", f"{statistics.median(seconds):.3f}"),
        ("2048³ multiply by torch before, after (GF/s)", f"{before:.0f}, {after:.0f}"),
        ("the same by numpy after (GF/s)", f"{matrix_multiply_rate():.0f}"),
        ("research code, scaled to that (queries/s)", f"{research:.1f}"),
        (f"times the research code (bar {RATIO_BAR:.0f})", f"{rate / research:.1f}"),
        ("useful GFLOP/s", f"{work:.0f}"),
        ("share of the multiply's rate", f"{100 * work / multiply:.0f}%"),
    ]
    return rows, rate / research


def default_size(dataset: Dataset, sizes: Sizes) -> list[tuple[str, str, str]]:
    """The default settings, with the full and the sampled softmax."""
    table = make_closed_queries(dataset.splits["train"])
    order = np.random.default_rng(0).permutation(len(table))
    batch, rows = sizes.default_batch, []
    for name, candidates in (("full", None), ("sampled", TrainSettings().candidates)):
        steps = Steps(dataset, ModelSettings(), candidates)
        times = []
        for number in range(WARM_UP + sizes.steps // 2):
            start = time.perf_counter()
            steps.step(table.take(order[number * batch : (number + 1) * batch]))
            times.append(time.perf_counter() - start)
        middle = statistics.median(times[WARM_UP:])
        rows.append((name, f"{batch / middle:.0f}", f"{middle:.3f}"))
    return rows


def mixed_against_grouped(dataset: Dataset, sizes: Sizes) -> tuple[float, float]:
    """Seconds of a batch of all 16 shapes, and of the same queries one shape at a time."""
    wanted = SamplingSettings(train=sizes.shape_queries, valid=0, test=0)
    table = sample(dataset, wanted, workers=1).splits["train"]
    shapes = np.array(table.shape)
    parts = [table.take(np.flatnonzero(shapes == name)) for name in dict.fromkeys(table.shape)]
    steps = Steps(dataset, ModelSettings(), TrainSettings().candidates)
    mixed, grouped = [], []
    for _ in range(WARM_UP + sizes.mixed_steps):
        start = time.perf_counter()
        steps.step(table)
        middle = time.perf_counter()
        for part in parts:
            steps.step(part)
        mixed.append(middle - start)
        grouped.append(time.perf_counter() - middle)
    return statistics.median(mixed[WARM_UP:]), statistics.median(grouped[WARM_UP:])


def main() -> None:
    quick = arguments(__doc__).parse_args().quick
    sizes = QUICK if quick else Sizes()
    keep_freed_memory()
    dataset = benchmark_data(quick=quick)
    published, ratio = published_size(dataset, sizes)
    default = default_size(dataset, sizes)
    mixed, grouped = mixed_against_grouped(dataset, sizes)
    text = "\n".join(
        [
            "# Training speed\n",
            "By `benchmarks/bench_training.py`, on WD50K's train split.\n",
            markdown_table(("what", "value"), describe(("torch", "numpy"))),
            "## The published size\n",
            f"Width 256, 16 layers, 8 heads, feed-forward 512, batch {sizes.published_batch}, full "
            f"softmax, {sizes.steps} steps, data loading included. One-hop queries of all slots, "
            f"drawn one slot of one fact at a time, arities to {MOST_ARITY}.\n",
            markdown_table(("what", "value"), published),
            "## The default size\n",
            f"Width 200, 3 layers, 4 heads, feed-forward 400, batch {sizes.default_batch}.\n",
            markdown_table(("softmax", "queries/s", "seconds per step"), default),
            "## A mixed batch\n",
            f"{sizes.shape_queries} queries of each of the 16 shapes in one batch, against the "
            "same queries in 16 batches of one shape each; default model, sampled softmax, the "
            "medians of both measured in turns.\n",
            markdown_table(
                ("mixed (s)", "grouped (s)", f"ratio (bar {MIXED_BAR})"),
                [(f"{mixed:.3f}", f"{grouped:.3f}", f"{mixed / grouped:.2f}")],
            ),
        ]
    )
    write_result("training", text, quick=quick)
    if not quick and (ratio < RATIO_BAR or mixed / grouped > MIXED_BAR):
        sys.exit("a bar is missed")


if __name__ == "__main__":
    main()

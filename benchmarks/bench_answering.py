"""How long answers take: by shape and mode on WD50K, in batches, and with more and more entities.

Uses the model and the queries of `trained` if they are there and up to date. Otherwise it times a
model of the same size with random weights, which is not faster.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from cache import why_unusable
from machine import arguments, benchmark_data, describe, markdown_table, write_result
from trained import Shared

import nqe
from nqe.answering import Answerer, Request
from nqe.errors import NqeError
from nqe.graph import Dataset, Graph
from nqe.graph.fact_columns import Facts
from nqe.graph.ragged import offsets
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.model import new_model
from nqe.query.plan import Plan
from nqe.query.shapes import SHAPES
from nqe.sampling import QueryTable, sample
from nqe.sampling.storage import load_queries
from nqe.settings import ModelSettings, SamplingSettings

BAR = 250
WIDTH = 64
RELATIONS = 20
FACTS = "train,valid"


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    shape_queries: int = 15
    batches: tuple[int, ...] = (1, 32, 1024)
    entities: tuple[int, ...] = (50_000, 500_000, 5_000_000)


QUICK = Sizes(2, (1, 8), (200, 400))


def milliseconds(answerer: Answerer, queries: Sequence[Plan | str], mode: str) -> float:
    """How long the answers of some queries take together."""
    requests = [Request(query, mode) for query in queries]
    start = time.perf_counter()
    outcomes = answerer.answer_many(requests)
    spent = time.perf_counter() - start
    for outcome in outcomes:
        if isinstance(outcome, NqeError):
            raise outcome
    return 1000 * spent


def open_answerer(shared: Shared) -> tuple[Answerer, str]:
    """A trained answerer, or one with random weights; and which of them it is, in words."""
    reason = why_unusable(shared.run, shared.run_stamp)
    if reason is None:
        answerer = nqe.open(shared.run, graph=shared.dataset, facts=FACTS)
        return answerer, "the model of `hybrid_quality.py`"
    print(f"{shared.run}: not used, because {reason}")
    names = shared.dataset.vocabulary
    model = new_model(ModelSettings(), len(names.entities), len(names.relations), names)
    return Answerer(shared.dataset, model, facts=FACTS), "a model with random weights"


def test_queries(shared: Shared, count: int) -> QueryTable:
    """Test queries of all shapes: the shared ones, or newly drawn ones."""
    reason = why_unusable(shared.queries, shared.queries_stamp)
    if reason is None:
        return load_queries(shared.queries, "test")
    print(f"{shared.queries}: not used, because {reason}")
    settings = SamplingSettings(train=0, valid=0, test=count)
    return sample(shared.dataset, settings).splits["test"]


def plans_by_shape(table: QueryTable, count: int) -> dict[str, list[Plan]]:
    """The first plans of each shape."""
    shapes = np.array(table.shape)
    chosen = {shape: np.flatnonzero(shapes == shape)[:count] for shape in SHAPES}
    return {
        shape: [table.plans.plan(row) for row in rows.tolist()] for shape, rows in chosen.items()
    }


def single(answerer: Answerer, plans: dict[str, list[Plan]]) -> str:
    """The median time of queries that are asked one at a time."""
    rows = []
    for shape, of_shape in plans.items():
        cells = [shape]
        for mode in ("exact", "embedding", "hybrid"):
            answerer.answer(of_shape[0], mode)
            times = [milliseconds(answerer, [plan], mode) for plan in of_shape]
            cells.append(f"{statistics.median(times):.1f}")
        rows.append(cells)
    return markdown_table(("shape", "exact, ms", "embedding, ms", "hybrid, ms"), rows)


def batches(answerer: Answerer, plans: dict[str, list[Plan]], sizes: Sequence[int]) -> str:
    """Queries per second when several of mixed shapes are asked at once."""
    mixed = [plan for row in zip(*plans.values(), strict=True) for plan in row]
    rows = []
    for size in sizes:
        batch = [mixed[place % len(mixed)] for place in range(max(size, 64))]
        cells = [f"{size:,}"]
        for mode in ("embedding", "hybrid"):
            starts = range(0, len(batch), size)
            spent = [milliseconds(answerer, batch[first : first + size], mode) for first in starts]
            cells.append(f"{1000 * size / statistics.mean(spent):.1f}")
        rows.append(cells)
    return markdown_table(("queries at once", "embedding, queries/s", "hybrid, queries/s"), rows)


def synthetic(entities: int) -> Graph:
    """A graph of random facts, as many as entities."""
    rng = np.random.default_rng(0)
    names = Vocabulary(
        Names.of("entity", sorted(f"e{number}" for number in range(entities))),
        Names.of("relation", sorted(f"r{number}" for number in range(RELATIONS))),
    )
    nothing = np.zeros(0, dtype=np.int64)
    facts = Facts(
        rng.integers(entities, size=entities),
        rng.integers(RELATIONS, size=entities),
        rng.integers(entities, size=entities),
        offsets(np.zeros(entities, dtype=np.int64)),
        nothing,
        nothing,
        np.ones(entities, dtype=np.int64),
    )
    return Graph(names, facts.to_canonical())


def growth_times(entities: int) -> list[float]:
    """The times of a 2p and of a 3p question, each by embedding and by hybrid."""
    torch.manual_seed(0)
    model = new_model(ModelSettings(width=WIDTH, layers=2, feed_forward=128), entities, RELATIONS)
    answerer = Answerer(synthetic(entities), model)
    times = []
    for query in (
        "?x: r1(?y, ?x) and r0(e1, ?y)",
        "?x: r2(?z, ?x) and r1(?y, ?z) and r0(e1, ?y)",
    ):
        for mode in ("embedding", "hybrid"):
            answerer.answer(query, mode)
            spent = [milliseconds(answerer, [query], mode) for _ in range(3)]
            times.append(statistics.median(spent))
    return times


def growth(sizes: Sequence[int]) -> str:
    """The times of two questions as the number of entities grows."""
    measured = [growth_times(size) for size in sizes]
    rows = [
        (
            f"{size:,}",
            *(
                f"{now:.0f} ({now / base:.1f})"
                for now, base in zip(times, measured[0], strict=True)
            ),
        )
        for size, times in zip(sizes, measured, strict=True)
    ]
    names = ("2p embedding", "2p hybrid", "3p embedding", "3p hybrid")
    return markdown_table(("entities", *(f"{name}, ms (ratio)" for name in names)), rows)


def page(dataset: Dataset, sizes: Sizes, *, quick: bool) -> str:
    """The result."""
    shared = Shared(dataset, quick=quick)
    answerer, model = open_answerer(shared)
    plans = plans_by_shape(test_queries(shared, sizes.shape_queries), sizes.shape_queries)
    return "\n".join(
        [
            "# How long answers take\n",
            "By `benchmarks/bench_answering.py`: the 10 best answers of queries of the test "
            f"split, facts of train and valid known; {model}.\n",
            markdown_table(("what", "value"), describe(("torch", "numpy"))),
            f"## One query at a time on WD50K, the median of {sizes.shape_queries}\n",
            f"The bar for hybrid is {BAR} ms, for shapes of up to three projections.\n",
            single(answerer, plans),
            f"## Mixed shapes at once, {sizes.shape_queries} queries of each shape, repeated to "
            "fill a batch\n",
            batches(answerer, plans, sizes.batches),
            f"## More and more entities (width {WIDTH}, as many random facts)\n",
            growth(sizes.entities),
        ]
    )


def main() -> None:
    quick = arguments(__doc__).parse_args().quick
    dataset = benchmark_data(quick=quick)
    write_result("answering", page(dataset, QUICK if quick else Sizes(), quick=quick), quick=quick)


if __name__ == "__main__":
    main()

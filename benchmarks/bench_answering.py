"""How long answers take: by shape and mode on WD50K, in batches, and as entities grow in number.

Uses the run of `hybrid_quality.py` if it is there; otherwise a model of the same size with its
first weights, which answers no quicker.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

import numpy as np
import torch
from hybrid_quality import QUERIES, RUN
from machine import DATA, describe, markdown_table, write_result

import nqe
from nqe.answering import Answerer, HybridOptions
from nqe.graph import Dataset, Graph
from nqe.graph.fact_columns import Facts
from nqe.graph.ragged import offsets
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.model import new_model
from nqe.query.plan import Plan
from nqe.query.shapes import SHAPES
from nqe.readers import read
from nqe.sampling import QueryTable, sample
from nqe.sampling.storage import load_queries
from nqe.settings import ModelSettings, SamplingSettings

A_SHAPE = 15
BATCHES = (1, 32, 1024)
BAR = 250
SIZES = (50_000, 500_000, 5_000_000)
WIDTH = 64


def milliseconds(answerer: Answerer, queries: Sequence[Plan | str], mode: str) -> float:
    """How long some answers take together."""
    start = time.perf_counter()
    answerer.answer_many(queries, mode)
    return 1000 * (time.perf_counter() - start)


def answerer_of(dataset: Dataset) -> Answerer:
    """A trained one, or one with its first weights."""
    if (RUN / "best").is_dir():
        return nqe.open(RUN, graph=dataset, facts="train,valid")
    names = dataset.vocabulary
    model = new_model(ModelSettings(), len(names.entities), len(names.relations), names)
    return Answerer(dataset, model, facts="train,valid")


def model_told() -> str:
    """Which model is timed."""
    trained = (RUN / "best").is_dir()
    return "the run of `hybrid_quality.py`" if trained else "a model with its first weights"


def queries_of(dataset: Dataset) -> QueryTable:
    """Test queries of all shapes."""
    if QUERIES.is_dir():
        return load_queries(QUERIES, "test")
    return sample(dataset, SamplingSettings(train=0, valid=0, test=100)).splits["test"]


def plans_by_shape(table: QueryTable, count: int) -> dict[str, list[Plan]]:
    """So many plans of each shape."""
    shapes = np.array(table.shape)
    chosen = {shape: np.flatnonzero(shapes == shape)[:count] for shape in SHAPES}
    return {
        shape: [table.plans.plan(row) for row in rows.tolist()] for shape, rows in chosen.items()
    }


def single(answerer: Answerer, plans: dict[str, list[Plan]]) -> str:
    """The median over queries asked one at a time."""
    rows = []
    for shape, some in plans.items():
        cells = [shape]
        for mode in ("exact", "embedding", "hybrid"):
            answerer.answer(some[0], mode)
            times = [milliseconds(answerer, [one], mode) for one in some]
            cells.append(f"{statistics.median(times):.1f}")
        rows.append(cells)
    return markdown_table(("shape", "exact, ms", "embedding, ms", "hybrid, ms"), rows)


def batches(answerer: Answerer, plans: dict[str, list[Plan]]) -> str:
    """Queries a second when so many of mixed shapes are asked at once."""
    mixed = [one for some in zip(*plans.values(), strict=True) for one in some]
    rows = []
    for size in BATCHES:
        batch = [mixed[place % len(mixed)] for place in range(max(size, 64))]
        cells = [f"{size:,}"]
        for mode in ("embedding", "hybrid"):
            starts = range(0, len(batch), size)
            spent = [milliseconds(answerer, batch[one : one + size], mode) for one in starts]
            cells.append(f"{1000 * size / statistics.mean(spent):.1f}")
        rows.append(cells)
    return markdown_table(("queries at once", "embedding, queries/s", "hybrid, queries/s"), rows)


def synthetic(entities: int) -> Graph:
    """A graph of so many entities with as many facts, over 20 relations."""
    rng = np.random.default_rng(0)
    names = Vocabulary(
        Names.of("entity", sorted(f"e{number}" for number in range(entities))),
        Names.of("relation", sorted(f"r{number}" for number in range(20))),
    )
    nothing = np.zeros(0, dtype=np.int64)
    facts = Facts(
        rng.integers(entities, size=entities),
        rng.integers(20, size=entities),
        rng.integers(entities, size=entities),
        offsets(np.zeros(entities, dtype=np.int64)),
        nothing,
        nothing,
        np.ones(entities, dtype=np.int64),
    )
    return Graph(names, facts.to_canonical())


def growth(sizes: Sequence[int]) -> str:
    """The time of a 2p and a 3p question as entities grow in number."""
    rows = []
    first: list[float] = []
    for size in sizes:
        torch.manual_seed(0)
        graph = synthetic(size)
        model = new_model(ModelSettings(width=WIDTH, layers=2, feed_forward=128), size, 20)
        answerer = Answerer(graph, model, options=HybridOptions(least=0.0))
        cells, times = [f"{size:,}"], []
        for query in (
            "?x: r1(?y, ?x) and r0(e1, ?y)",
            "?x: r2(?z, ?x) and r1(?y, ?z) and r0(e1, ?y)",
        ):
            for mode in ("embedding", "hybrid"):
                answerer.answer(query, mode)
                spent = [milliseconds(answerer, [query], mode) for _ in range(3)]
                times.append(statistics.median(spent))
        first = first or times
        for base, spent_here in zip(first, times, strict=True):
            cells.append(f"{spent_here:.0f} ({spent_here / base:.1f})")
        rows.append(cells)
        del answerer, model, graph
    names = ("2p embedding", "2p hybrid", "3p embedding", "3p hybrid")
    return markdown_table(("entities", *(f"{name}, ms (ratio)" for name in names)), rows)


def main() -> None:
    dataset = read(DATA / "wd50k")
    answerer, table = answerer_of(dataset), queries_of(dataset)
    plans = plans_by_shape(table, A_SHAPE)
    write_result(
        "answering",
        "\n".join(
            [
                "# How long answers take\n",
                "By `benchmarks/bench_answering.py`; the 10 best answers, facts train and valid; "
                f"{model_told()}.\n",
                markdown_table(("what", "value"), describe(("torch", "numpy"))),
                f"## One query at a time on WD50K, the median of {A_SHAPE}\n",
                f"The bar for hybrid is {BAR} ms, for shapes of up to three projections.\n",
                single(answerer, plans),
                f"## Mixed shapes at once, {A_SHAPE} queries a shape, repeated to fill a batch\n",
                batches(answerer, plans),
                f"## As entities grow in number (width {WIDTH}, as many random facts)\n",
                growth(SIZES),
            ]
        ),
    )


if __name__ == "__main__":
    main()

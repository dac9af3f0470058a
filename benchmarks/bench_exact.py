"""How fast exact answers are on WD50K, beside pyoxigraph over the same facts in the same run."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

import numpy as np
import pyoxigraph
from machine import (
    arguments,
    benchmark_data,
    describe,
    markdown_table,
    matrix_multiply_rate,
    use_one_core,
    write_result,
)

from nqe.graph import Graph
from nqe.query import SHAPES, Plan, execute, execute_many
from nqe.query.shapes import POSITIVE, parse_shape
from nqe.query.sparql import write_sparql
from nqe.sampling import Walker
from nqe.writers.rdf import ENTITY, list_statement_lines

SEED = 2023
REPEATS = 5
# pyoxigraph takes seconds where a step has many entities; sampled benchmarks leave those out too.
MOST = 1_000
SINGLE_BAR, BATCH_BAR, SECONDS_BAR = 5, 15, 10
Row = tuple[str, ...]


@dataclass(frozen=True)
class Sizes:
    """How many queries are measured."""

    shape_queries: int = 50
    batch: int = 10_000


QUICK = Sizes(2, 64)


@dataclass(frozen=True)
class Measured:
    """The times of one shape's queries, one at a time, in seconds."""

    plans: list[Plan]
    ours: float
    theirs: float
    theirs_total: float

    @property
    def ratio(self) -> float:
        """How many times faster than pyoxigraph."""
        return self.theirs / self.ours


def draw_plans(graph: Graph, name: str, match: str, count: int, seed: int) -> list[Plan]:
    """Random queries of a shape in which no step has too many entities."""
    rng, walker, plans = np.random.default_rng(seed), Walker(graph, match), []
    while len(plans) < count:
        plan = walker.draw(parse_shape(name), rng)
        if plan is not None:
            sizes = [len(answers.members) for answers in execute(plan, graph).sets]
            if max(sizes) <= MOST:
                plan.rows, plan.patterns  # noqa: B018 computed before the clock starts
                plans.append(plan)
    return plans


def least_seconds(work: Callable[[], object]) -> float:
    """The time of the fastest of several runs: the others were disturbed."""
    return min(seconds(work) for _ in range(REPEATS))


def seconds(work: Callable[[], object]) -> float:
    """The time of one run."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure_shape(graph: Graph, store: pyoxigraph.Store, plans: list[Plan]) -> Measured:
    """Time both engines on each query, and check that they give the same answers."""
    ours, theirs = [], []
    for plan in plans:
        text = write_sparql(plan.query(graph.vocabulary).graph, graph.vocabulary)
        found = {unquote(row[0].value.removeprefix(ENTITY)) for row in store.query(text)}
        if found != set(execute(plan, graph).ids):
            raise SystemExit(f"the engines disagree about {plan.query(graph.vocabulary)}")
        ours.append(least_seconds(lambda plan=plan: execute(plan, graph)))
        theirs.append(least_seconds(lambda text=text: list(store.query(text))))
    return Measured(plans, statistics.median(ours), statistics.median(theirs), sum(theirs))


def single_rows(positive: dict[str, Measured]) -> list[Row]:
    """The mean ratio over positive shapes, with and without `up`."""
    plain = [measured.ratio for name, measured in positive.items() if name != "up"]
    means = {
        "one at a time, geometric mean over positive shapes": statistics.geometric_mean(
            measured.ratio for measured in positive.values()
        ),
        "the same without `up`, whose union pyoxigraph joins late": statistics.geometric_mean(
            plain
        ),
    }
    return [
        (name, f"{mean:.1f} times", f"{SINGLE_BAR} times", verdict(mean >= SINGLE_BAR))
        for name, mean in means.items()
    ]


def batch_row(graph: Graph, measured: Sequence[Measured], words: str) -> Row:
    """All queries of some shapes in one batch, against pyoxigraph one at a time."""
    plans = [plan for shape in measured for plan in shape.plans]
    order = np.random.default_rng(SEED).permutation(len(plans))
    mixed = [plans[place] for place in order]
    together = least_seconds(lambda: execute_many(mixed, graph))
    ratio = sum(shape.theirs_total for shape in measured) / together
    name = f"one mixed batch of {len(mixed)} {words}"
    return (name, f"{ratio:.1f} times", f"{BATCH_BAR} times", verdict(ratio >= BATCH_BAR))


def large_batch_rows(graph: Graph, count: int) -> list[Row]:
    """Queries of all shapes with closed atoms, together and one by one."""
    plans = [
        plan
        for name in SHAPES
        for plan in draw_plans(graph, name, "closed", count // len(SHAPES), SEED + 1)
    ]
    together = least_seconds(lambda: execute_many(plans, graph))
    one_by_one = seconds(lambda: [execute(plan, graph) for plan in plans])
    return [
        (
            f"{len(plans):,} mixed queries of 16 shapes together",
            f"{together:.2f} s",
            f"{SECONDS_BAR} s",
            verdict(together <= SECONDS_BAR),
        ),
        ("the same one by one", f"{one_by_one:.2f} s", "", ""),
    ]


def verdict(passed: bool) -> str:
    """The word for a bar that was reached or missed."""
    return "pass" if passed else "fail"


def load_store(graph: Graph) -> pyoxigraph.Store:
    """pyoxigraph with the same facts as Wikidata-style statements."""
    store = pyoxigraph.Store()
    facts = "".join(list_statement_lines(graph)).encode()
    store.bulk_load(facts, format=pyoxigraph.RdfFormat.N_TRIPLES)
    return store


def page(graph: Graph, sizes: Sizes) -> str:
    """The result."""
    before = matrix_multiply_rate()
    store = load_store(graph)
    shapes = {
        name: measure_shape(
            graph, store, draw_plans(graph, name, "open", sizes.shape_queries, SEED)
        )
        for name in SHAPES
    }
    positive = {name: shapes[name] for name in SHAPES if name in POSITIVE}
    plain = [measured for name, measured in positive.items() if name != "up"]
    bars = [
        *single_rows(positive),
        batch_row(graph, list(positive.values()), "positive queries"),
        batch_row(graph, plain, "positive queries, without `up`"),
        *large_batch_rows(graph, sizes.batch),
    ]
    rows = [
        (name, f"{one.ours * 1e6:.0f}", f"{one.theirs * 1e6:.0f}", f"{one.ratio:.1f}")
        for name, one in shapes.items()
    ]
    return (
        "# Exact answers on WD50K\n\n"
        "`python benchmarks/bench_exact.py`, on one core. Random queries walked from WD50K (all "
        f"splits, {len(graph):,} facts), {sizes.shape_queries} of each shape, no step with more "
        f"than {MOST:,} entities; the least of {REPEATS} runs of each query, then the median of "
        "each shape. pyoxigraph holds the same facts as Wikidata-style statements and gets the "
        "SPARQL that `nqe sparql` writes, as text, since it has no prepared queries. All answers "
        "of both engines were compared, and they are equal.\n\n"
        + markdown_table(("what", "measured", "bar", ""), bars)
        + "\n## One at a time, open atoms\n\n"
        + markdown_table(("shape", "ours, µs", "pyoxigraph, µs", "times faster"), rows)
        + "\n## Where and when\n\n"
        + markdown_table(("what", "value"), describe(("numpy", "pyoxigraph")))
        + f"\nA 2048³ fp32 multiply on this core: {before:.0f} GF/s before, "
        f"{matrix_multiply_rate():.0f} after.\n"
    )


def main() -> None:
    quick = arguments(__doc__).parse_args().quick
    use_one_core()
    graph = benchmark_data(quick=quick).graph
    graph.index  # noqa: B018 built before the clock starts
    write_result("exact", page(graph, QUICK if quick else Sizes()), quick=quick)


if __name__ == "__main__":
    main()

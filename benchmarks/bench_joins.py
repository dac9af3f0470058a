"""How fast queries that are no trees are answered, beside pyoxigraph and with 10 million facts.

On WD50K, random queries of every pattern are answered by both engines, and their rows compared.
With 10 million synthetic facts, triangles with an anchor are answered.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pyoxigraph
from bench_exact import REPEATS, Row, load_store, verdict
from bench_size import NQE, PER_ENTITY, write_facts
from fact_walker import Walker
from join_patterns import PATTERNS, Draw, draw_queries
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
from nqe.query import bind, execute
from nqe.query.join_plan import JoinPlan
from nqe.query.sparql import write_sparql
from nqe.readers import read
from nqe.readers.rdf_names import read_iri

SEED = 19
LONG = 0.1  # seconds; what takes longer is measured once
# pyoxigraph takes seconds or minutes for queries that lead to more.
MOST_FACTS, LARGEST_RELATION = 1_000, 2_000
RATIO_BAR, MILLISECONDS_BAR = 3, 50
HUBS = 20
"""The entities that are objects most often, which are anchors, too."""


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    queries: int = 50
    """On WD50K, of each pattern."""
    facts: int = 10_000_000
    triangles: int = 200


QUICK = Sizes(2, 3_000, 6)


def measure_least(work: Callable[[], object]) -> float:
    """The processor's seconds in the fastest of several runs; other processes do not count."""
    times: list[float] = []
    while len(times) < REPEATS and sum(times) < LONG:
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


# Beside pyoxigraph


@dataclass(frozen=True)
class Measured:
    """The times of the queries of one pattern, in seconds, and how many had answers."""

    ours: list[float]
    theirs: list[float]
    answered: int

    @property
    def ratio(self) -> float:
        """How many times faster than pyoxigraph, by the medians."""
        return statistics.median(self.theirs) / statistics.median(self.ours)

    @property
    def row(self) -> Row:
        """The figures as a row of a table."""
        medians = (statistics.median(one) * 1e6 for one in (self.ours, self.theirs))
        longest = (f"{max(one) * 1e3:.1f}" for one in (self.ours, self.theirs))
        share = f"{self.answered} of {len(self.ours)}"
        return (share, *(f"{one:.0f}" for one in medians), f"{self.ratio:.1f}", *longest)


def measure_pattern(
    graph: Graph, store: pyoxigraph.Store, draw: Draw, walk: Walker, count: int
) -> Measured:
    """Time both engines on random queries, and check that they give the same rows."""
    ours, theirs, answered = [], [], 0
    for query in islice(draw_queries(graph, draw, walk, MOST_FACTS), count):
        plan, text = bind(query, graph), write_sparql(query.graph, graph.vocabulary)
        rows = set(execute(plan, graph).rows)
        if rows != set(ask(store, text)):
            raise SystemExit(f"the engines disagree about {query}")
        answered += bool(rows)
        ours.append(measure_least(lambda plan=plan: execute(plan, graph)))
        theirs.append(measure_least(lambda text=text: list(store.query(text))))
    return Measured(ours, theirs, answered)


def ask(store: pyoxigraph.Store, text: str) -> Iterator[tuple[str | int, ...]]:
    """The rows that pyoxigraph finds, as ids and counts."""
    for row in store.query(text):
        yield tuple(
            read_iri(term.value) if isinstance(term, pyoxigraph.NamedNode) else int(term.value)
            for term in row
        )


# With many facts


def make_graph(facts: int, place: Path) -> Graph:
    """The synthetic graph of `bench_size.py`."""
    text, folder = place / "facts.csv", place / "graph"
    write_facts(text, facts)
    subprocess.run([*NQE, "import", str(text), "-o", str(folder)], check=True, capture_output=True)
    return read(folder).graph


def draw_triangles(graph: Graph, anchors: Sequence[int], count: int) -> list[JoinPlan]:
    """Triangles of the most frequent relations, with an anchor each: the object of a fact."""
    forms = (
        "?x: {anchored} and P1(?x, ?y) and P2(?y, ?z) and P3(?z, ?x)",
        "?x: {anchored} and P2(?x, ?y) and P1(?z, ?y) and P1(?x, ?z)",
        "?x, ?y, ?z: {anchored} and P1(?x, ?y) and P1(?y, ?z) and P1(?x, ?z)",
    )
    chosen = np.random.default_rng(SEED).choice(anchors, size=count)
    plans = []
    for number, row in enumerate(chosen.tolist()):
        fact = graph.fact(row)
        text = forms[number % len(forms)].format(anchored=f"{fact.relation}(?x, {fact.object})")
        plan = bind(text, graph)
        assert isinstance(plan, JoinPlan), "a triangle is no tree"
        plans.append(plan)
    return plans


def measure_triangles(graph: Graph, count: int) -> list[Row]:
    """How long triangles take with anchors of any kind, and with those that most facts have."""
    objects = graph.facts.object
    often = np.bincount(objects, minlength=graph.entity_count)
    hubs = np.argpartition(often, -HUBS)[-HUBS:]
    kinds = {
        "the object of a random fact": np.arange(len(graph)),
        f"one of the {HUBS} entities that are objects most often": np.flatnonzero(
            np.isin(objects, hubs)
        ),
    }
    return [
        time_triangles(name, graph, draw_triangles(graph, rows, count))
        for name, rows in kinds.items()
    ]


def time_triangles(name: str, graph: Graph, plans: Sequence[JoinPlan]) -> Row:
    """The times of some queries, each of which is new to the engine."""
    execute(plans[0], graph)
    sizes = [len(execute(plan, graph)) for plan in plans]
    times = sorted(1000 * measure_least(lambda plan=plan: execute(plan, graph)) for plan in plans)
    median = statistics.median(times)
    return (
        name,
        f"{sum(map(bool, sizes))} of {len(sizes)}",
        f"{median:.2f} ms",
        f"{times[int(0.95 * len(times))]:.2f} ms",
        f"{times[-1]:.2f} ms",
        verdict(times[-1] < MILLISECONDS_BAR),
    )


# The page


def page(graph: Graph, sizes: Sizes) -> str:
    """The result."""
    before = matrix_multiply_rate()
    store, walk = load_store(graph), Walker(graph, SEED, LARGEST_RELATION)
    patterns = {
        name: measure_pattern(graph, store, draw, walk, sizes.queries)
        for name, draw in PATTERNS.items()
    }
    mean = statistics.geometric_mean(one.ratio for one in patterns.values())
    with tempfile.TemporaryDirectory() as place:
        triangles = measure_triangles(make_graph(sizes.facts, Path(place)), sizes.triangles)
    bar = ("geometric mean over patterns", f"{mean:.1f} times", f"{RATIO_BAR} times")
    columns = ("pattern", "with answers", "ours, µs", "pyoxigraph, µs", "times faster")
    longest = ("ours, longest, ms", "pyoxigraph, longest, ms")
    rows = [(name, *one.row) for name, one in patterns.items()]
    anchors = ("anchor", "with answers", "median", "95%", "longest", f"{MILLISECONDS_BAR} ms")
    return (
        "# Exact answers to queries that are no trees\n\n"
        "`python benchmarks/bench_joins.py`, on one core. Random queries walked from WD50K (all "
        f"splits, {len(graph):,} facts), {sizes.queries} of each pattern, from relations with at "
        f"most {LARGEST_RELATION:,} facts, no condition with more than {MOST_FACTS:,} facts to "
        "look at. Times are those of the processor, as the core may be shared: the least of "
        f"{REPEATS} runs of each query, or of as many as fit into {LONG} s, then the median of "
        "each pattern. "
        "Plans are bound before the clock starts. pyoxigraph holds the same facts as "
        "Wikidata-style statements and gets the SPARQL that `nqe sparql` writes, as text, since "
        "it has no prepared queries. All rows of both engines were compared, and they are equal."
        "\n\n"
        + markdown_table(
            ("one at a time", "measured", "bar", ""), [(*bar, verdict(mean >= RATIO_BAR))]
        )
        + "\n"
        + markdown_table((*columns, *longest), rows)
        + f"\n## Triangles with an anchor, {sizes.facts:,} facts\n\n"
        f"The synthetic facts of `bench_size.py`, {PER_ENTITY} for each entity, and triangles of "
        f"the three most frequent relations with an anchor on one variable, {sizes.triangles} for "
        "each kind of anchor.\n\n"
        + markdown_table(anchors, triangles)
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
    write_result("joins", page(graph, QUICK if quick else Sizes()), quick=quick)


if __name__ == "__main__":
    main()

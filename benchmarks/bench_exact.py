"""How fast exact answers are on WD50K, beside pyoxigraph over the same facts in the same run."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
import pyoxigraph
from machine import DATA, describe, markdown_table, matrix_multiply_rate, write_result

from nqe.graph import Graph
from nqe.query import SHAPES, Plan, execute, execute_many
from nqe.query.shapes import POSITIVE, parse_shape
from nqe.query.sparql import write_sparql
from nqe.readers import read
from nqe.sampling import Walker
from nqe.writers.rdf import ENTITY, list_statement_lines

SEED = 2023
A_SHAPE = 50
REPEATS = 5
BATCH = 10_000
# pyoxigraph takes seconds where a step has many entities; sampled benchmarks leave such out too.
MOST = 1_000
SINGLE_BAR, BATCH_BAR, SECONDS_BAR = 5, 15, 10


def drawn(graph: Graph, name: str, match: str, count: int, seed: int) -> list[Plan]:
    """Random queries of a shape in which no step has too many entities."""
    rng, walker, plans = np.random.default_rng(seed), Walker(graph, match), []
    while len(plans) < count:
        plan = walker.draw(parse_shape(name), rng)
        if plan is not None:
            sizes = [len(one.members) for one in execute(plan, graph).sets]
            if max(sizes) <= MOST:
                plan.rows, plan.patterns  # noqa: B018 bound plans have them ready
                plans.append(plan)
    return plans


def least_time(work: Callable[[], object]) -> float:
    """Seconds of the quickest of several runs: the others were disturbed."""
    return min(_seconds(work) for _ in range(REPEATS))


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(
    graph: Graph, store: pyoxigraph.Store, plans: Sequence[Plan]
) -> tuple[float, float, float]:
    """Median seconds of ours and of pyoxigraph's, and the sum of pyoxigraph's; answers checked."""
    ours, theirs = [], []
    for plan in plans:
        text = write_sparql(plan.query(graph.vocabulary).graph, graph.vocabulary)
        found = {row[0].value.removeprefix(ENTITY) for row in store.query(text)}
        if found != set(execute(plan, graph).ids):
            raise SystemExit(f"the engines disagree about {plan.query(graph.vocabulary)}")
        ours.append(least_time(lambda plan=plan: execute(plan, graph)))
        theirs.append(least_time(lambda text=text: list(store.query(text))))
    return statistics.median(ours), statistics.median(theirs), sum(theirs)


def main() -> None:
    if not (DATA / "wd50k").is_dir():
        sys.exit("skipped: WD50K is not beside the project, in ../shared/data")
    if hasattr(os, "sched_setaffinity"):  # not on macOS
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    before = matrix_multiply_rate()
    graph = read(DATA / "wd50k").graph
    graph.index  # noqa: B018 built before the clock starts
    store = pyoxigraph.Store()
    facts = "".join(list_statement_lines(graph)).encode()
    store.bulk_load(facts, format=pyoxigraph.RdfFormat.N_TRIPLES)

    rows, ratios, positive, theirs_total, theirs_without_up = [], {}, [], 0.0, 0.0
    for name in SHAPES:
        plans = drawn(graph, name, "open", A_SHAPE, SEED)
        ours, theirs, total = compare(graph, store, plans)
        rows.append((name, f"{ours * 1e6:.0f}", f"{theirs * 1e6:.0f}", f"{theirs / ours:.1f}"))
        if name in POSITIVE:
            ratios[name] = theirs / ours
            positive += plans
            theirs_total += total
            theirs_without_up += total if name != "up" else 0.0
    single = statistics.geometric_mean(ratios.values())
    without_up = statistics.geometric_mean(r for name, r in ratios.items() if name != "up")

    mixed = [positive[i] for i in np.random.default_rng(SEED).permutation(len(positive))]
    together = least_time(lambda: execute_many(mixed, graph))
    batch = theirs_total / together
    plain = [plan for plan in mixed if plan.shape_name != "up"]
    batch_without_up = theirs_without_up / least_time(lambda: execute_many(plain, graph))

    many = [
        plan
        for name in SHAPES
        for plan in drawn(graph, name, "closed", BATCH // len(SHAPES), SEED + 1)
    ]
    seconds = least_time(lambda: execute_many(many, graph))
    one_by_one = _seconds(lambda: [execute(plan, graph) for plan in many])

    bars = [
        (
            "one at a time, geometric mean over positive shapes",
            f"{single:.1f} times",
            f"{SINGLE_BAR} times",
            single >= SINGLE_BAR,
        ),
        (
            "the same without `up`, whose union pyoxigraph joins late",
            f"{without_up:.1f} times",
            f"{SINGLE_BAR} times",
            without_up >= SINGLE_BAR,
        ),
        (
            f"one mixed batch of {len(mixed)} positive queries",
            f"{batch:.1f} times",
            f"{BATCH_BAR} times",
            batch >= BATCH_BAR,
        ),
        (
            f"one mixed batch of {len(plain)}, without `up`",
            f"{batch_without_up:.1f} times",
            f"{BATCH_BAR} times",
            batch_without_up >= BATCH_BAR,
        ),
        (
            f"{len(many):,} mixed queries of 16 shapes together",
            f"{seconds:.2f} s",
            f"{SECONDS_BAR} s",
            seconds <= SECONDS_BAR,
        ),
        ("the same one by one", f"{one_by_one:.2f} s", "", True),
    ]
    text = (
        "# Exact answers on WD50K\n\n"
        "`python benchmarks/bench_exact.py`, on one core. Random queries walked from WD50K (all "
        f"splits, {len(graph):,} facts), {A_SHAPE} a shape, no step with more than {MOST:,} "
        f"entities; the least of {REPEATS} runs a query, then the median a shape. pyoxigraph holds "
        "the same facts as Wikidata-style statements and gets the SPARQL that `nqe sparql` writes, "
        "as text, since it has no prepared queries. Every answer set was compared: all equal.\n\n"
        + markdown_table(
            ("what", "measured", "bar", ""),
            [(a, b, c, "pass" if ok else "fail") for a, b, c, ok in bars],
        )
        + "\n## One at a time, open atoms\n\n"
        + markdown_table(("shape", "ours, µs", "pyoxigraph, µs", "times quicker"), rows)
        + "\n## Where and when\n\n"
        + markdown_table(("what", "value"), describe(("numpy", "pyoxigraph")))
        + f"\nA 2048³ fp32 multiply on this core: {before:.0f} GF/s before, "
        f"{matrix_multiply_rate():.0f} after.\n"
    )
    print(text)
    write_result("exact", text)


if __name__ == "__main__":
    main()

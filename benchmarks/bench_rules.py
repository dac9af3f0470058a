"""Mining rules from WD50K and from a million facts, and scoring queries by them.

Mining is the command `nqe rules` in a process of its own, from the start of Python to the saved
folder. Queries are those of link prediction on the valid split, in batches, by rules of train.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import machine
import numpy as np
from bench_size import NQE, Done, run, write_facts

from nqe.graph import Dataset
from nqe.graph.pattern import Patterns
from nqe.readers import read
from nqe.rules import Rules, load_rules
from nqe.rules.strength import combine
from nqe.sampling.one_hop import make_link_queries

WORKERS = (2, 1)
BATCH = 512
SEED = 17
BARS = {"mining": 180.0, "mining_gb": 2.0, "query_ms": 2.0, "million": 900.0}


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    facts: int = 1_000_000
    queries: int = 20_480


QUICK = Sizes(2_000, 600)


@dataclass(frozen=True)
class Scored:
    """How long scoring took."""

    queries: int
    open_seconds: float
    """From saved rules to rules over the facts of the graph."""
    milliseconds: float
    """Per query."""
    predictions: float
    """The mean number of entities that rules predict for a query."""


def mine(graph: Path, folder: Path, workers: int) -> Done:
    """Mine the rules of a graph by the command, and save them."""
    options = ("--workers", str(workers), "--top", "1")
    return run([*NQE, "rules", str(graph), "-o", str(folder), *options])


def score(dataset: Dataset, folder: Path, count: int) -> Scored:
    """Score queries of link prediction on valid by saved rules."""
    patterns = draw_queries(dataset, count)
    start = time.perf_counter()
    book = load_rules(folder).to_book(dataset.known("train"))
    opened = time.perf_counter() - start
    book.fire(patterns[0])  # what is computed once is computed now
    start, predictions = time.perf_counter(), 0
    for batch in patterns:
        predictions += len(combine(book.fire(batch), book))
    spent = time.perf_counter() - start
    queries = sum(map(len, patterns))
    return Scored(queries, opened, 1000 * spent / queries, predictions / queries)


def draw_queries(dataset: Dataset, count: int) -> list[Patterns]:
    """Some queries of link prediction on valid, in batches of patterns."""
    plans = make_link_queries(dataset.split("valid").facts, dataset.graph).plans
    order = np.random.default_rng(SEED).permutation(len(plans))[:count]
    parts = (plans.take(order[first : first + BATCH]) for first in range(0, len(order), BATCH))
    return [
        Patterns.without_sets(
            part.relation, part.closed, part.asked, part.slot_start, part.attribute, part.filler
        )
        for part in parts
    ]


def mine_synthetic(place: Path, facts: int) -> tuple[Done, Rules]:
    """Mine the rules of synthetic facts."""
    text, graph, folder = place / "facts.csv", place / "synthetic", place / "synthetic-rules"
    write_facts(text, facts)
    read(text).save(graph)
    done = mine(graph, folder, WORKERS[0])
    return done, load_rules(folder)


def make_bars(mined: dict[int, Done], scored: Scored, million: Done) -> list[tuple[str, ...]]:
    """The bars, and whether each is met."""
    first = mined[WORKERS[0]]
    found = [
        (f"mining, {WORKERS[0]} workers", first.seconds, BARS["mining"], "s"),
        ("memory of the mining", first.peak_gb, BARS["mining_gb"], "GB"),
        ("scoring a query", scored.milliseconds, BARS["query_ms"], "ms"),
        ("mining the synthetic facts", million.seconds, BARS["million"], "s"),
    ]
    return [
        (what, f"{value:.2f} {unit}", f"{bar:g} {unit}", "pass" if value < bar else "fail")
        for what, value, bar, unit in found
    ]


def list_forms(rules: Rules) -> list[tuple[str, str]]:
    """How many rules there are of each form."""
    table = rules.table
    forms = {
        f"walks of {length} edge(s)": table.is_walk & (table.length == length)
        for length in (1, 2, 3)
    }
    forms["with a constant"] = table.constant >= 0
    forms["answers alone"] = ~table.is_walk & (table.length == 0)
    return [(name, f"{int(chosen.sum()):,}") for name, chosen in forms.items()]


def report(
    dataset: Dataset,
    mined: dict[int, Done],
    rules: dict[int, Rules],
    scored: Scored,
    synthetic: tuple[Done, Rules],
    rates: list[float],
) -> str:
    """The page of all results."""
    million, others = synthetic
    same = len({one.digest for one in rules.values()}) == 1
    rows = [
        (f"{workers}", f"{done.seconds:.1f} s ({done.cpu:.1f})", f"{done.peak_gb:.2f} GB")
        for workers, done in mined.items()
    ]
    busy = f"{rates[0]:.0f} GF/s before, {rates[1]:.0f} GF/s after"
    surroundings = [*machine.describe(("numpy", "pyarrow")), ("2048³ fp32 multiply", busy)]
    return f"""# Rules: mining and scoring

By `benchmarks/bench_rules.py`. Mining is the command `nqe rules GRAPH -o FOLDER`, from the start of
Python to the saved rules, with the seconds that it computed in brackets.

{len(dataset.split("train")):,} train facts:

{machine.markdown_table(("workers", "mining", "most memory"), rows)}
The rules are {"the same" if same else "NOT the same"} whatever the number of workers:

{machine.markdown_table(("rules", "number"), list_forms(rules[WORKERS[0]]))}
Scoring {scored.queries:,} queries of link prediction on valid took {scored.milliseconds:.2f} ms per
query, in batches of {BATCH}, by one thread. Rules predict {scored.predictions:,.0f} entities for a
query on average. Opening the saved rules over the train facts took {scored.open_seconds:.1f} s.

{others.mined_from.fact_count:,} synthetic facts (those of `bench_size.py`):
{million.seconds:.0f} s ({million.cpu:.0f}), {million.peak_gb:.2f} GB, {len(others):,} rules.

{
        machine.markdown_table(
            ("bar", "measured", "less than", ""),
            [
                *make_bars(mined, scored, million),
                ("the same rules by 1 and 2 workers", "", "", "pass" if same else "fail"),
            ],
        )
    }
{machine.markdown_table(("on", ""), surroundings)}"""


def main() -> None:
    """Measure everything, and write the page."""
    quick = machine.arguments(__doc__).parse_args().quick
    sizes = QUICK if quick else Sizes()
    dataset = machine.benchmark_data(quick=quick)
    rates = [machine.matrix_multiply_rate()]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        dataset.save(place / "graph")
        mined, rules = {}, {}
        for workers in WORKERS:
            saved = place / f"rules-{workers}"
            mined[workers] = mine(place / "graph", saved, workers)
            rules[workers] = load_rules(saved)
            print(workers, mined[workers], file=sys.stderr, flush=True)
        scored = score(dataset, place / f"rules-{WORKERS[0]}", sizes.queries)
        print(scored, file=sys.stderr, flush=True)
        synthetic = mine_synthetic(place, sizes.facts)
    rates.append(machine.matrix_multiply_rate())
    text = report(dataset, mined, rules, scored, synthetic, rates)
    machine.write_result("rules", text, quick=quick)


if __name__ == "__main__":
    main()

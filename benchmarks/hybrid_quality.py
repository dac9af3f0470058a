"""Embedding against hybrid answers on the sampled WD50K-NFOL test queries, and calibration.

`python benchmarks/hybrid_quality.py` samples the queries and trains a model on all shapes for 40
minutes (both once, see `trained`). It then ranks the hard answers of test queries three times: by
the embedding runner, by the hybrid runner without any facts, and by the hybrid runner with the
train and valid facts known. `--beams` compares options of the hybrid runner instead, on
validation queries.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from machine import (
    ROOT,
    arguments,
    benchmark_data,
    describe,
    markdown_table,
    write_result,
)
from trained import Shared

import nqe
from nqe.answering import Calibrated, HybridOptions, HybridRunner, calibrate
from nqe.answering.reliability import plot_reliability
from nqe.evaluation import Report, evaluate
from nqe.evaluation.evaluator import Runner
from nqe.model import EmbeddingRunner, load
from nqe.query.shapes import SHAPES
from nqe.sampling import QueryTable
from nqe.sampling.storage import load_queries

FIGURE = ROOT / "docs" / "figures" / "reliability.svg"
WITH_VARIABLE = ("2p", "3p", "pi", "ip", "up", "2cp", "3cp", "inp", "pin", "pni")
BARS = {"hybrid, no facts": 1.05, "hybrid, train+valid": 1.3}
EMBEDDING = "embedding"
SEVERAL = 2
"""With at least this many missing facts, hybrid must not be below embedding."""


def some_queries(folder: Path, split: str, count: int) -> QueryTable:
    """The first queries of each shape."""
    table = load_queries(folder, split)
    shapes = np.array(table.shape)
    return table.take(np.concatenate([np.flatnonzero(shapes == name)[:count] for name in SHAPES]))


def hybrid(shared: Shared, facts: str, options: HybridOptions | None = None) -> Runner:
    """The hybrid runner with these facts known."""
    return HybridRunner(
        nqe.open(shared.use_run(), graph=shared.dataset, facts=facts, options=options)
    )


def mean(report: Report, shapes: Sequence[str] = WITH_VARIABLE) -> float:
    """The mean MRR over shapes."""
    by_shape = report.group("shape")
    return float(np.mean([by_shape[name].mrr for name in shapes]))


# Options of the hybrid runner, on the validation split


def beams(shared: Shared, count: int) -> str:
    """The quality and the time of beams, joins and least probabilities."""
    table, rows = some_queries(shared.use_queries(), "valid", count), []
    trials = [HybridOptions(beam=beam) for beam in (8, 16, 32, 64, 128)]
    trials += [HybridOptions(join="max"), HybridOptions(least=1e-2), HybridOptions(least=1e-3)]
    for options in trials:
        start = time.perf_counter()
        report = Report.of(evaluate(hybrid(shared, "train", options), table))
        seconds = (time.perf_counter() - start) / len(table)
        name = f"beam {options.beam}, {options.join}, least {options.least:g}"
        rows.append((name, f"{mean(report):.4f}", f"{1000 * seconds:.0f}"))
    return markdown_table(("options", "validation MRR, variable shapes", "ms per query"), rows)


def beams_page(shared: Shared, count: int) -> str:
    """The result of `--beams`."""
    return "\n".join(
        [
            "# Beams and joins of the hybrid runner\n",
            f"By `benchmarks/hybrid_quality.py --beams --count {count}`: {count} validation "
            "queries per shape, train facts known; mean MRR of "
            f"{' '.join(WITH_VARIABLE)}.\n",
            markdown_table(("what", "value"), describe(("torch", "numpy"))),
            beams(shared, count),
        ]
    )


# Embedding and hybrid, on the test split


def rank_test_queries(
    shared: Shared, table: QueryTable
) -> tuple[dict[str, Report], dict[str, float]]:
    """The report of each runner, and its seconds per query."""
    runners: dict[str, Runner] = {
        EMBEDDING: EmbeddingRunner(load(shared.use_run())),
        "hybrid, no facts": hybrid(shared, "none"),
        "hybrid, train+valid": hybrid(shared, "train,valid"),
    }
    reports, seconds = {}, {}
    for name, runner in runners.items():
        start = time.perf_counter()
        reports[name] = Report.of(evaluate(runner, table))
        seconds[name] = (time.perf_counter() - start) / len(table)
    return reports, seconds


def shape_rows(reports: dict[str, Report]) -> list[tuple[str, ...]]:
    """MRR with its interval, one row per shape; a hybrid below embedding's interval is marked."""
    rows: list[tuple[str, ...]] = []
    first = reports[EMBEDDING].group("shape")
    for shape in SHAPES:
        cells = []
        for report in reports.values():
            metrics = report.group("shape")[shape]
            low, high = metrics.intervals["mrr"]
            worse = " worse" if metrics.mrr < first[shape].intervals["mrr"][0] else ""
            cells.append(f"{metrics.mrr:.3f} ({low:.3f}, {high:.3f}){worse}")
        rows.append((shape, f"{first[shape].queries:,}", *cells))
    return rows


def ratio_rows(reports: dict[str, Report]) -> list[tuple[str, ...]]:
    """Means over the shapes in which a projection takes a variable, and over all shapes."""
    base = mean(reports[EMBEDDING])
    return [
        (
            name,
            f"{mean(report):.4f}",
            f"{mean(report) / base:.2f}",
            str(BARS.get(name, "")),
            f"{mean(report, tuple(SHAPES)):.4f}",
        )
        for name, report in reports.items()
    ]


def missing_rows(reports: dict[str, Report]) -> list[tuple[str, ...]]:
    """MRR by the number of facts that an answer needs and the known facts lack."""
    groups = {name: report.group("missing") for name, report in reports.items()}
    first = groups[EMBEDDING]
    rows = [
        (key, f"{metrics.queries:,}", *(f"{group[key].mrr:.4f}" for group in groups.values()))
        for key, metrics in first.items()
    ]
    several = [key for key in first if int(key) >= SEVERAL]
    counts = [first[key].queries for key in several]
    if not several:
        return rows
    means = (
        np.average([group[key].mrr for key in several], weights=counts) for group in groups.values()
    )
    return [*rows, (f"{SEVERAL} or more", f"{sum(counts):,}", *(f"{value:.4f}" for value in means))]


def calibration_rows(found: Calibrated) -> list[tuple[str, ...]]:
    """The reliability before and after calibrating."""
    return [
        (name, f"{value.error:.4f}", f"{value.brier:.4f}", f"{value.base:.4f}")
        for name, value in (("before", found.before), ("after", found.after))
    ]


def page(shared: Shared, table: QueryTable, calibrated: Calibrated) -> str:
    """The result on the test split."""
    reports, seconds = rank_test_queries(shared, table)
    names = tuple(reports)
    minutes = shared.settings.train.minutes or 0.0
    return "\n".join(
        [
            "# Embedding and hybrid answers on WD50K-NFOL\n",
            f"By `benchmarks/hybrid_quality.py`: one model trained on all 16 shapes for "
            f"{minutes:g} minutes (train split), {len(table):,} queries of the test split, hard "
            "answers, filtered, per query; 95% bootstrap intervals. The options of the hybrid "
            "runner were chosen on the validation split (hybrid-beams.md).\n",
            markdown_table(("what", "value"), describe(("torch", "numpy"))),
            f"Peak memory of the training {shared.memory} GB (bar 4).\n",
            f"## Test split, means over {' '.join(WITH_VARIABLE)}\n",
            markdown_table(
                ("runner", "MRR", "times embedding", "bar", "all 16"), ratio_rows(reports)
            ),
            "## Test split, by shape\n",
            markdown_table(("shape", "queries", *names), shape_rows(reports)),
            "## Test split, by missing facts\n",
            markdown_table(("missing", "queries", *names), missing_rows(reports)),
            "## Time, all ranks included\n",
            markdown_table(
                ("runner", "ms per query"),
                [(name, f"{1000 * value:.0f}") for name, value in seconds.items()],
            ),
            f"## Calibration: fitted on the validation split, measured on the {calibrated.split} "
            "split\n",
            "One-hop queries, half of them with an anchor swapped.\n",
            markdown_table(
                ("", "expected calibration error", "Brier score", "base rate's"),
                calibration_rows(calibrated),
            ),
        ]
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--count", type=int, default=400, help="queries of each shape")
    parser.add_argument("--beams", action="store_true", help="compare beams and joins instead")
    options = parser.parse_args()
    shared = Shared(benchmark_data(quick=options.quick), quick=options.quick)
    if options.beams:
        write_result("hybrid-beams", beams_page(shared, options.count), quick=options.quick)
        return
    calibrated = calibrate(shared.use_run(), shared.dataset)
    if not options.quick:
        plot_reliability({"before": calibrated.before, "after": calibrated.after}, FIGURE)
    table = some_queries(shared.use_queries(), "test", options.count)
    write_result("hybrid", page(shared, table, calibrated), quick=options.quick)


if __name__ == "__main__":
    main()

"""Embedding against hybrid answers on the sampled WD50K-NFOL test queries, and calibration.

`python benchmarks/hybrid_quality.py` samples the queries and trains a model on all shapes for
40 minutes, once (kept in build/hybrid), and ranks the hard answers of so many test queries a
shape three times: by the paper's vectors, by the hybrid runner without any facts, and with the
train and valid facts known. `--beams` compares beams and joins on validation queries instead.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from machine import DATA, ROOT, describe, markdown_table, peak_memory, write_result

import nqe
from nqe.answering import Calibrated, HybridOptions, HybridRunner, calibrate
from nqe.answering.reliability import plot_reliability
from nqe.evaluation import Report, evaluate
from nqe.evaluation.evaluator import Ranking, Runner
from nqe.graph import Dataset
from nqe.model import EmbeddingRunner, load
from nqe.query.shapes import SHAPES
from nqe.readers import read
from nqe.sampling import QueryTable, sample, save_queries
from nqe.sampling.presets import PRESETS
from nqe.sampling.storage import load_queries
from nqe.settings import RunSettings, TrainSettings
from nqe.training import fit_weights

HOME = ROOT / "build" / "hybrid"
RUN, QUERIES = HOME / "all-shapes", HOME / "wd50k-nfol"
FIGURE = ROOT / "docs" / "figures" / "reliability.svg"
MEMORY = RUN / "memory.txt"
MINUTES = 40.0
WITH_VARIABLE = ("2p", "3p", "pi", "ip", "up", "2cp", "3cp", "inp", "pin", "pni")
BARS = {"hybrid, no facts": 1.05, "hybrid, train+valid": 1.3}
EMBEDDING = "embedding"
SEVERAL = 2
"""Missing facts from which on hybrid must not be below embedding."""


def prepared(dataset: Dataset) -> None:
    """The queries and the trained model, unless they are there."""
    if not QUERIES.is_dir():
        save_queries(sample(dataset, PRESETS["wd50k-nfol"]), QUERIES, "wd50k")
    settings = RunSettings(train=TrainSettings(minutes=MINUTES, evaluate_minutes=10))
    if not MEMORY.is_file():
        fit_weights(dataset, RUN, settings=settings, name="wd50k", resume=RUN.is_dir())
        MEMORY.write_text(f"{peak_memory():.2f}", encoding="utf-8")


def some(split: str, count: int) -> QueryTable:
    """So many queries of each shape."""
    table = load_queries(QUERIES, split)
    shapes = np.array(table.shape)
    return table.take(np.concatenate([np.flatnonzero(shapes == one)[:count] for one in SHAPES]))


def hybrid(dataset: Dataset, facts: str, options: HybridOptions | None = None) -> Runner:
    """The hybrid runner with these facts known."""
    return HybridRunner(nqe.open(RUN, graph=dataset, facts=facts, options=options))


def mean(report: Report, shapes: Sequence[str] = WITH_VARIABLE) -> float:
    """The mean MRR over shapes."""
    by_shape = report.group("shape")
    return float(np.mean([by_shape[one].mrr for one in shapes]))


def beams(dataset: Dataset, count: int) -> str:
    """Beams, joins and least weights, on validation queries."""
    table, rows = some("valid", count), []
    trials = [HybridOptions(beam=beam) for beam in (8, 16, 32, 64, 128)]
    trials += [HybridOptions(join="max"), HybridOptions(least=1e-2), HybridOptions(least=1e-3)]
    for options in trials:
        began = time.perf_counter()
        report = Report.of(evaluate(hybrid(dataset, "train", options), table))
        seconds = (time.perf_counter() - began) / len(table)
        name = f"beam {options.beam}, {options.join}, least {options.least:g}"
        rows.append((name, f"{mean(report):.4f}", f"{1000 * seconds:.0f}"))
    return markdown_table(("options", "MRR, variable shapes", "ms a query"), rows)


def beams_text(dataset: Dataset, count: int) -> str:
    """The result for them."""
    return "\n".join(
        [
            "# Beams and joins of the hybrid runner\n",
            f"By `benchmarks/hybrid_quality.py --beams --count {count}`: {count} validation "
            f"queries a shape, train facts known; mean MRR of {' '.join(WITH_VARIABLE)}.\n",
            markdown_table(("what", "value"), describe(("torch", "numpy"))),
            beams(dataset, count),
        ]
    )


def shape_rows(reports: dict[str, Report]) -> list[tuple[str, ...]]:
    """A row a shape, with intervals; where a hybrid is below embedding's it says so."""
    rows: list[tuple[str, ...]] = []
    first = reports[EMBEDDING].group("shape")
    for shape in SHAPES:
        cells = []
        for report in reports.values():
            one = report.group("shape")[shape]
            low, high = one.intervals["mrr"]
            worse = " worse" if one.mrr < first[shape].intervals["mrr"][0] else ""
            cells.append(f"{one.mrr:.3f} ({low:.3f}, {high:.3f}){worse}")
        rows.append((shape, f"{first[shape].queries:,}", *cells))
    return rows


def ratio_rows(reports: dict[str, Report]) -> list[tuple[str, ...]]:
    """Means over the shapes in which a projection takes a variable, and over all."""
    base = mean(reports[EMBEDDING])
    return [
        (
            name,
            f"{mean(one):.4f}",
            f"{mean(one) / base:.2f}",
            str(BARS.get(name, "")),
            f"{mean(one, tuple(SHAPES)):.4f}",
        )
        for name, one in reports.items()
    ]


def missing_rows(reports: dict[str, Report]) -> list[tuple[str, ...]]:
    """By the number of facts that an answer needs and the known facts lack."""
    groups = {name: one.group("missing") for name, one in reports.items()}
    rows = [
        (key, f"{one.queries:,}", *(f"{group[key].mrr:.4f}" for group in groups.values()))
        for key, one in groups[EMBEDDING].items()
    ]
    several = [key for key in groups[EMBEDDING] if int(key) >= SEVERAL]
    counts = [groups[EMBEDDING][key].queries for key in several]
    means = (
        np.average([group[key].mrr for key in several], weights=counts) for group in groups.values()
    )
    return [*rows, (f"{SEVERAL} or more", f"{sum(counts):,}", *(f"{one:.4f}" for one in means))]


def calibration_rows(found: Calibrated) -> list[tuple[str, ...]]:
    """What reliability was before and after."""
    return [
        (name, f"{one.error:.4f}", f"{one.brier:.4f}", f"{one.base:.4f}")
        for name, one in (("before", found.before), ("after", found.after))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=400, help="queries a shape")
    parser.add_argument("--beams", action="store_true", help="compare beams and joins instead")
    options = parser.parse_args()
    dataset = read(DATA / "wd50k")
    prepared(dataset)
    if options.beams:
        write_result("hybrid-beams", beams_text(dataset, options.count))
        return
    calibrated = calibrate(RUN, dataset)
    plot_reliability({"before": calibrated.before, "after": calibrated.after}, FIGURE)
    table = some("test", options.count)
    runners: dict[str, Runner] = {
        EMBEDDING: EmbeddingRunner(load(RUN)),
        "hybrid, no facts": hybrid(dataset, "none"),
        "hybrid, train+valid": hybrid(dataset, "train,valid"),
    }
    reports, times = {}, [time.perf_counter()]
    for name, runner in runners.items():
        ranking: Ranking = evaluate(runner, table)
        reports[name] = Report.of(ranking)
        times.append(time.perf_counter())
    seconds = [last - first for first, last in pairwise(times)]
    write_result("hybrid", text(reports, seconds, calibrated, len(table)))


def text(
    reports: dict[str, Report], seconds: list[float], calibrated: Calibrated, count: int
) -> str:
    """The whole result."""
    names = tuple(reports)
    spent = zip(names, (f"{1000 * one / count:.0f}" for one in seconds), strict=True)
    return "\n".join(
        [
            "# Embedding and hybrid answers on WD50K-NFOL\n",
            f"By `benchmarks/hybrid_quality.py`: one model trained on all 16 shapes for "
            f"{MINUTES:g} minutes (train split), {count:,} test queries, hard answers, filtered, "
            "per query; 95% bootstrap intervals.\n",
            markdown_table(("what", "value"), describe(("torch", "numpy"))),
            f"Peak memory of the training {MEMORY.read_text(encoding='utf-8')} GB (bar 4).\n",
            f"## Means over {' '.join(WITH_VARIABLE)}\n",
            markdown_table(
                ("runner", "MRR", "times embedding", "bar", "all 16"), ratio_rows(reports)
            ),
            "## By shape\n",
            markdown_table(("shape", "queries", *names), shape_rows(reports)),
            "## By missing links\n",
            markdown_table(("missing", "queries", *names), missing_rows(reports)),
            "## Time, all ranks included\n",
            markdown_table(("runner", "ms a query"), list(spent)),
            f"## Calibration on one-hop {calibrated.split} queries, half of them swapped\n",
            markdown_table(
                ("", "expected calibration error", "Brier score", "base rate's"),
                calibration_rows(calibrated),
            ),
        ]
    )


if __name__ == "__main__":
    main()

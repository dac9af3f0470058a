"""Embedding against hybrid answers on the sampled WD50K-NFOL test queries, and calibration.

`python benchmarks/hybrid_quality.py` samples the queries and trains a model on all shapes (both
once, see `trained`). It then ranks the hard answers of test queries three times: by the embedding
runner, by the hybrid runner without any facts, and by the hybrid runner with the train and valid
facts known. Beside it stands what an earlier version reached on the same queries
(`results/hybrid-before.json`). `--beams` compares options of the hybrid runner instead, on
validation queries.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from machine import (
    RESULTS,
    ROOT,
    arguments,
    benchmark_data,
    describe,
    markdown_table,
    write_result,
)
from trained import Shared

import nqe
from nqe.answering import HybridOptions, HybridRunner, calibrate
from nqe.answering.calibration_storage import load_calibration
from nqe.answering.neural import NeuralEngine
from nqe.answering.question_curve import UNMOVED
from nqe.answering.question_fitting import Questions, predict, swap_half
from nqe.answering.reliability import ALL, Reliability, measure_reliability
from nqe.evaluation import Report, evaluate
from nqe.evaluation.evaluator import Runner
from nqe.figures import create_figure
from nqe.model import EmbeddingRunner, load
from nqe.query.shapes import NEGATIVE, SHAPES
from nqe.run_folders import checkpoint_of
from nqe.sampling import QueryTable
from nqe.sampling.storage import load_queries

FIGURE = ROOT / "docs" / "figures" / "reliability.svg"
WITH_VARIABLE = ("2p", "3p", "pi", "ip", "up", "2cp", "3cp", "inp", "pin", "pni")
EMBEDDING, ALONE, FACTS = "embedding", "hybrid, no facts", "hybrid, train+valid"
BARS = {EMBEDDING: 1.0, ALONE: 1.15, FACTS: 1.6}
"""The least mean over WITH_VARIABLE, as a multiple of the earlier version's embedding."""
NEGATION_BAR, SEVERAL_BAR, ERROR_BAR, MEAN_ERROR_BAR = 1.3, 1.15, 0.05, 0.03
SEVERAL = 2
"""With at least this many missing facts, hybrid is to be better than embedding."""
MANY = 300
"""The bar for the calibration error of a shape holds if it has at least this many predictions."""
BEFORE = RESULTS / "hybrid-before.json"
Earlier = dict[str, dict[str, dict[str, float]]]
"""By runner, by kind of group (shape, missing), by group: the MRR of an earlier version."""


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
    trials += [HybridOptions(join="max"), HybridOptions(asked=1e-3), HybridOptions(asked=5e-2)]
    trials += [HybridOptions(least=least) for least in (1e-5, 1e-4, 1e-2)]
    for options in trials:
        start = time.perf_counter()
        report = Report.of(evaluate(hybrid(shared, "train", options), table))
        seconds = (time.perf_counter() - start) / len(table)
        name = (
            f"beam {options.beam}, {options.join}, asked {options.asked:g}, least {options.least:g}"
        )
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
        ALONE: hybrid(shared, "none"),
        FACTS: hybrid(shared, "train,valid"),
    }
    reports, seconds = {}, {}
    for name, runner in runners.items():
        start = time.perf_counter()
        reports[name] = Report.of(evaluate(runner, table))
        seconds[name] = (time.perf_counter() - start) / len(table)
        print(f"{name}: {mean(reports[name]):.4f}", flush=True)
    return reports, seconds


def read_earlier(quick: bool) -> Earlier:
    """What the earlier version reached; nothing of that in the quick form."""
    if quick:
        return {}
    found: Earlier = json.loads(BEFORE.read_text(encoding="utf-8"))["runners"]
    return found


def shape_rows(reports: dict[str, Report], earlier: Earlier) -> list[tuple[str, ...]]:
    """MRR with its interval, by shape; one below the earlier version's is marked as worse."""
    rows: list[tuple[str, ...]] = []
    for shape in SHAPES:
        cells = []
        for name, report in reports.items():
            metrics = report.group("shape")[shape]
            low, high = metrics.intervals["mrr"]
            before = earlier.get(name, {}).get("shape", {}).get(shape)
            now = f"{metrics.mrr:.3f} ({low:.3f}, {high:.3f})"
            worse = " worse" if before is not None and high < before else ""
            cells += ["" if before is None else f"{before:.3f}", now + worse]
        rows.append((shape, f"{reports[EMBEDDING].group('shape')[shape].queries:,}", *cells))
    return rows


def mean_of(earlier: Earlier, name: str, shapes: Sequence[str]) -> float | None:
    """The earlier version's mean over shapes."""
    return float(np.mean([earlier[name]["shape"][one] for one in shapes])) if earlier else None


def ratio_rows(reports: dict[str, Report], earlier: Earlier) -> list[tuple[str, ...]]:
    """Means over the shapes in which a projection takes a variable, and over all shapes."""
    base = mean_of(earlier, EMBEDDING, WITH_VARIABLE) or mean(reports[EMBEDDING])
    rows = [
        (
            name,
            _figure(mean_of(earlier, name, WITH_VARIABLE)),
            f"{mean(report):.4f}",
            f"{mean(report) / base:.2f}",
            str(BARS[name]),
            f"{mean(report, tuple(SHAPES)):.4f}",
        )
        for name, report in reports.items()
    ]
    negation = mean_of(earlier, FACTS, NEGATIVE)
    now = mean(reports[FACTS], NEGATIVE)
    ratio = "" if negation is None else f"{now / negation:.2f} of that before"
    name = f"{FACTS}: {' '.join(NEGATIVE)}"
    return [*rows, (name, _figure(negation), f"{now:.4f}", ratio, str(NEGATION_BAR), "")]


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


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
    cells = [f"{value:.4f}" for value in means]
    return [*rows, (f"{SEVERAL} or more (bar {SEVERAL_BAR} times)", f"{sum(counts):,}", *cells)]


# Calibration, on questions of the test split of which half have an anchor swapped


def measure_calibration(
    shared: Shared, table: QueryTable
) -> tuple[dict[str, Reliability], dict[str, Reliability], list[str]]:
    """The reliability by shape with one-hop curves alone and in full, and what they give."""
    full = nqe.open(shared.use_run(), graph=shared.dataset, facts="train,valid").neural
    calibration = full.calibration
    alone = replace(
        full, calibration=replace(calibration, facts_questions=UNMOVED, alone_questions=UNMOVED)
    )
    rng = np.random.default_rng(0)
    questions = swap_half(table, shared.dataset, "test", "train,valid", rng)
    measured = [measure_reliability(engine, questions) for engine in (alone, full)]
    shares = [share_of_hard_answers(engine, questions) for engine in (alone, full)]
    words = [f"{100 * share:.1f}%" for share in shares]
    return measured[0], measured[1], words


def share_of_hard_answers(engine: NeuralEngine, questions: Questions) -> float:
    """The share of the hard answers that get a probability of 0.5 or more."""
    predicted, _ = predict(engine, questions, 0.5)
    hard = sum(
        len(np.setdiff1d(questions.right[row], questions.stated[row]))
        for row in range(len(questions))
    )
    return float(predicted.right.sum()) / max(hard, 1)


def calibration_rows(
    before: dict[str, Reliability], after: dict[str, Reliability]
) -> list[tuple[str, ...]]:
    """The reliability by shape, and the mean of the errors of shapes with enough predictions."""
    rows = [
        (
            shape,
            f"{one.count:,}",
            f"{before[shape].error:.3f}",
            f"{one.error:.3f}{_mark(one)}",
            f"{one.brier:.3f}",
            f"{one.base:.3f}{' lower' if one.brier > one.base else ''}",
        )
        for shape, one in after.items()
    ]
    enough = [name for name, one in after.items() if one.count >= MANY and name != ALL]
    if not enough:
        return rows
    means = [np.mean([found[name].error for name in enough]) for found in (before, after)]
    last = f"mean of {len(enough)} shapes (bar {MEAN_ERROR_BAR})"
    return [*rows, (last, "", *(f"{value:.3f}" for value in means), "", "")]


def _mark(one: Reliability) -> str:
    return " over the bar" if one.error > ERROR_BAR and one.count >= MANY else ""


def plot_shapes(after: dict[str, Reliability], path: Path) -> None:
    """Draw one small reliability diagram per shape."""
    figure = create_figure(10, 10)
    axes = figure.subplots(4, 4, sharex=True, sharey=True).ravel()
    for axis, (name, one) in zip(axes, after.items(), strict=False):
        axis.plot([0, 1], [0, 1], color="#999999", linewidth=1, linestyle="--")
        if one.bins:
            predicted, right, _ = zip(*one.bins, strict=True)
            axis.plot(predicted, right, marker="o", markersize=3)
        axis.set(xlim=(0, 1), ylim=(0, 1), title=f"{name}: {one.count:,}, error {one.error:.3f}")
    figure.supxlabel("predicted probability")
    figure.supylabel("share right")
    figure.savefig(path, format="svg")


def page(shared: Shared, table: QueryTable, questions: QueryTable, *, quick: bool) -> str:
    """The result on the test split: of queries that are ranked, and questions for calibration."""
    earlier = read_earlier(quick)
    reports, seconds = rank_test_queries(shared, table)
    before, after, shares = measure_calibration(shared, questions)
    if not quick:
        plot_shapes(after, FIGURE)
    names = [cell for name in reports for cell in (f"{name}, before", name)]
    minutes = shared.settings.train.minutes or 0.0
    return "\n".join(
        [
            "# Embedding and hybrid answers on WD50K-NFOL\n",
            f"By `benchmarks/hybrid_quality.py`: one model trained on all 16 shapes for "
            f"{minutes:g} minutes (train split), {len(table):,} queries of the test split (preset "
            f"wd50k-nfol, seed {shared.sampling.seed}), hard answers, filtered, per query; 95% "
            "bootstrap intervals. `before` is commit e43a5e0: its own model and its own hybrid "
            "runner on the same queries (hybrid-before.json). The options of the hybrid runner "
            "were chosen on the validation split (hybrid-beams.md).\n",
            markdown_table(("what", "value"), describe(("torch", "numpy"))),
            f"Peak memory of the training {shared.memory} GB (bar 4).\n",
            f"## Test split, means over {' '.join(WITH_VARIABLE)}\n",
            markdown_table(
                ("runner", "before", "MRR", "times embedding before", "bar", "all 16"),
                ratio_rows(reports, earlier),
            ),
            "## Test split, by shape\n",
            markdown_table(("shape", "queries", *names), shape_rows(reports, earlier)),
            "## Test split, by missing facts\n",
            markdown_table(("missing", "queries", *reports), missing_rows(reports)),
            "## Time, all ranks included\n",
            markdown_table(
                ("runner", "ms per query"),
                [(name, f"{1000 * value:.0f}") for name, value in seconds.items()],
            ),
            "## Calibration: fitted on the validation split, measured on the test split\n",
            f"{len(questions):,} test queries, half of them with an anchor swapped; train and "
            "valid known; all predictions over 0.05. `one-hop` is with the curves of single "
            f"projections alone. Of the hard answers, {shares[0]} get 0.5 or more with those, and "
            f"{shares[1]} in full.\n",
            markdown_table(
                ("shape", "predictions", "error, one-hop", "error", "Brier score", "base rate's"),
                calibration_rows(before, after),
            ),
        ]
    )


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--count", type=int, default=250, help="queries of each shape")
    parser.add_argument("--questions", type=int, default=1_500, help="of each shape, to calibrate")
    parser.add_argument("--beams", action="store_true", help="compare beams and joins instead")
    options = parser.parse_args()
    shared = Shared(benchmark_data(quick=options.quick), quick=options.quick)
    if options.beams:
        write_result("hybrid-beams", beams_page(shared, options.count), quick=options.quick)
        return
    if load_calibration(checkpoint_of(shared.use_run())) is None:
        calibrate(shared.use_run(), shared.dataset)
    table, questions = (
        some_queries(shared.use_queries(), "test", count)
        for count in (options.count, options.questions)
    )
    text = page(shared, table, questions, quick=options.quick)
    write_result("hybrid", text, quick=options.quick)


if __name__ == "__main__":
    main()

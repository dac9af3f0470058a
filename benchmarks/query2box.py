"""The public Query2Box queries over FB15k-237: nine shapes, beside the published results.

`python benchmarks/query2box.py --train` trains a model for an hour on 2 cores, and goes on with a
training that was interrupted. `--validate` compares options of the hybrid runner on validation
queries. Without either, the test queries are ranked by the embedding runner and by the hybrid
runner with several sets of known facts; a runner that is done is not run again. Validation and
test train the model first if it is not there, and calibrate it.

The data are in `query2box_data`; which facts are known, and the settings of the model, in
`nqe.reproduction.query2box`, whose command `nqe reproduce query2box` computes the same table.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from cache import use_values
from machine import arguments, describe, markdown_table, write_result
from query2box_data import MINUTES, Benchmark, open_benchmark

import nqe
from nqe.answering import Calibrated, HybridOptions, HybridRunner, calibrate
from nqe.evaluation import Report, evaluate
from nqe.evaluation.evaluator import Runner
from nqe.evaluation.metrics import Metrics
from nqe.model import EmbeddingRunner, load
from nqe.reproduction.query2box import PUBLISHED
from nqe.sampling import QueryTable

OPTIONS = HybridOptions()
"""The options on the test split: the defaults, until `--validate` shows better ones."""
TRIALS = (
    HybridOptions(),
    HybridOptions(beam=16),
    HybridOptions(beam=256),
    HybridOptions(join="max"),
    HybridOptions(least=1e-3),
)
BAR, AIM = 0.29, 0.33
METRICS = {"hits@3": "Hits@3", "mrr": "MRR"}
Trial = tuple[str, HybridOptions] | None
"""The facts that the hybrid runner knows, and its options; None is the embedding runner."""
COLUMNS = ("runner", *METRICS.values(), "ms per query")
TEST_RUNNERS: dict[str, Trial] = {
    "embedding": None,
    "hybrid, no facts": ("none", OPTIONS),
    "hybrid, train": ("train", OPTIONS),
    "hybrid, train+valid": ("train,valid", OPTIONS),
}
AVERAGE = "AVG_p"
"""The plain mean over all shapes here, none of which has a negation."""


# Ranking


def open_runner(benchmark: Benchmark, trial: Trial) -> Runner:
    """The embedding runner, or the hybrid runner with some facts known."""
    run = benchmark.use_run()
    if trial is None:
        return EmbeddingRunner(load(run))
    facts, options = trial
    return HybridRunner(nqe.open(run, graph=benchmark.seen, facts=facts, options=options))


@dataclass(frozen=True)
class Result:
    """The report of a runner, and its seconds per query."""

    report: Report
    seconds: float

    def show(self, metric: str) -> str:
        """The average of a metric over the shapes with its interval, in percent."""
        return show(self.report.averages[AVERAGE], metric)


def show(metrics: Metrics, metric: str) -> str:
    """A metric with its interval, in percent."""
    low, high = metrics.intervals[metric]
    return f"{100 * metrics[metric]:.1f} ({100 * low:.1f}, {100 * high:.1f})"


def rank(benchmark: Benchmark, trial: Trial, table: QueryTable) -> dict[str, Any]:
    """The report of a runner and its seconds per query, as JSON data."""
    runner, start = open_runner(benchmark, trial), time.perf_counter()
    report = Report.of(evaluate(runner, table))
    seconds = (time.perf_counter() - start) / len(table)
    return {"report": report.to_json(), "seconds": seconds}


def use_result(
    benchmark: Benchmark, split: str, name: str, trial: Trial, table: QueryTable
) -> Result:
    """The result of a runner on a split, ranked if that was not done with the same code."""
    facts, options = trial or (None, None)
    asked = {"split": split, "queries": len(table), "facts": facts}
    stamp = benchmark.stamp(asked | {"options": options and asdict(options)})
    path = benchmark.home / f"{split}-{name.replace(',', '').replace(' ', '-')}.json"
    found = use_values(path, stamp, partial(rank, benchmark, trial, table))
    result = Result(Report.from_json(found["report"]), found["seconds"])
    print(f"{split}, {name}: Hits@3 {result.show('hits@3')}", file=sys.stderr)
    return result


# The pages


def average_rows(results: Mapping[str, Result]) -> list[tuple[str, ...]]:
    """The averages over the nine shapes."""
    return [
        (name, *(result.show(metric) for metric in METRICS), f"{1000 * result.seconds:.1f}")
        for name, result in results.items()
    ]


def published_rows() -> list[tuple[str, ...]]:
    """The published averages, and what is to be reached."""
    rows = {**PUBLISHED, "bar": BAR, "aim": AIM}
    return [(name, f"{100 * value:.1f}", "", "") for name, value in rows.items()]


def group_rows(results: Mapping[str, Result], by: str, metric: str) -> list[tuple[str, ...]]:
    """A metric of each runner, one row per group."""
    groups = [result.report.group(by) for result in results.values()]
    return [
        (key, f"{found.queries:,}", *(show(group[key], metric) for group in groups))
        for key, found in groups[0].items()
    ]


def training_rows(benchmark: Benchmark) -> Iterator[tuple[str, str]]:
    """How the model was trained."""
    model, train = benchmark.settings.model, benchmark.settings.train
    yield "time", f"{train.minutes:g} minutes" if train.minutes else f"{train.steps} steps"
    yield "facts", f"train alone, {len(benchmark.seen.splits['train']):,}"
    yield "shapes", f"{' '.join(train.shapes)}, {train.one_hop_share:.0%} of them 1p"
    yield "width, layers, dropout", f"{model.width}, {model.layers}, {model.dropout:g}"
    yield "loss", f"{train.loss} softmax, batch {train.batch:,}"
    yield "peak memory", f"{benchmark.memory} GB"


PROTOCOL = (
    "queries per shape, drawn at random; hard answers, each ranked among the entities that are no "
    "answers; the mean over a query's hard answers, then over the queries of a shape, then over "
    "the nine shapes, as in Query2Box; in percent, with 95% bootstrap intervals. Equal scores get "
    "their mean rank."
)


def page(
    benchmark: Benchmark, split: str, text: str, results: Mapping[str, Result], rest: list[str]
) -> str:
    """A page with the results of runners on a split; `rest` comes after the means."""
    columns = ("shape", "queries", *results)
    tables = [
        part
        for metric, label in METRICS.items()
        for part in (
            f"## {label} by shape\n",
            markdown_table(columns, group_rows(results, "shape", metric)),
        )
    ]
    return "\n".join(
        [
            f"# Query2Box queries over FB15k-237, {split} split\n",
            text,
            markdown_table(("what", "value"), describe(("torch", "numpy"))),
            "## The model\n",
            markdown_table(("what", "value"), training_rows(benchmark)),
            *rest,
            *tables,
        ]
    )


def validation_page(benchmark: Benchmark, count: int) -> str:
    """The runners and the options of the hybrid runner, on the validation split."""
    table = benchmark.data.draw("valid", count)
    trials: dict[str, Trial] = {"embedding": None, "hybrid, no facts": ("none", OPTIONS)}
    for one in TRIALS:
        trials[f"hybrid, train, beam {one.beam}, {one.join}, least {one.least:g}"] = ("train", one)
    results = {
        name: use_result(benchmark, "valid", name, trial, table) for name, trial in trials.items()
    }
    text = (
        f"By `benchmarks/query2box.py --validate --count {count}`: at most {count:,} {PROTOCOL} "
        "The calibration was fitted on facts of the same split.\n"
    )
    means = ["## Means over the nine shapes\n", markdown_table(COLUMNS, average_rows(results))]
    return page(benchmark, "validation", text, results, means)


def test_page(benchmark: Benchmark, count: int, calibrated: Calibrated) -> str:
    """The runners on the test split, beside the published averages."""
    table = benchmark.data.draw("test", count)
    results = {
        name: use_result(benchmark, "test", name, trial, table)
        for name, trial in TEST_RUNNERS.items()
    }
    text = (
        f"By `benchmarks/query2box.py --count {count}`: at most {count:,} {PROTOCOL} The hard "
        "answers of the test split are those that train and valid do not give. The published "
        "methods learnt from train and look up no facts when they answer: `hybrid, no facts` is "
        "made as CQD-Beam is, `hybrid, train` uses the same facts but looks them up, and "
        "`hybrid, train+valid` uses more facts than they do. For "
        "210 of the 22,812 queries of 1p the files leave out answers of valid, which count as "
        "wrong, as in Query2Box: with train+valid known they come first. "
        f"The hybrid runner has beam {OPTIONS.beam}, {OPTIONS.join} and least {OPTIONS.least:g}; "
        "query2box-validation.md compares others on the validation split. The settings of the "
        "model follow from the speed of short runs; no other long run was compared.\n"
    )
    rows = [*average_rows(results), *published_rows()]
    means = [
        "## Means over the nine shapes\n",
        markdown_table(COLUMNS, rows),
        f"Expected calibration error of one-hop predictions ({calibrated.split} split): "
        f"{calibrated.before.error:.4f} before calibrating, {calibrated.after.error:.4f} after.\n",
        "## Hits@3 by missing facts\n",
        "With train and valid known.\n",
        markdown_table(("missing", "queries", *results), group_rows(results, "missing", "hits@3")),
    ]
    return page(benchmark, "test", text, results, means)


def main() -> None:
    parser = arguments(__doc__)
    steps = parser.add_mutually_exclusive_group()
    steps.add_argument("--train", action="store_true", help="train the model, and no more")
    steps.add_argument("--validate", action="store_true", help="compare options instead")
    parser.add_argument("--count", type=int, default=1000, help="at most this many of each shape")
    parser.add_argument(
        "--minutes", type=float, default=MINUTES, help="of training; another time writes no result"
    )
    options = parser.parse_args()
    trial = options.quick or options.minutes != MINUTES
    benchmark = open_benchmark(options.minutes, quick=options.quick)
    run = benchmark.use_run()
    if options.train:
        return
    calibrated = calibrate(run, benchmark.seen)
    if options.validate:
        text = validation_page(benchmark, options.count)
        write_result("query2box-validation", text, quick=trial)
        return
    text = test_page(benchmark, options.count, calibrated)
    write_result("query2box", text, quick=trial)


if __name__ == "__main__":
    main()

"""Hybrid answers of WD50K's test queries that are no trees, by pattern and by missing links.

`python benchmarks/beyond_trees.py --run RUN` samples the preset `beyond-trees` from WD50K (once;
it is kept in build/) and ranks the hard rows by hybrid over train and valid: each target in turn,
the others fixed to the row's. Without `--run` the model of `trained` is used, which is trained if
it is not there. `--alone` ranks them without any facts known, too. Triangles are also timed, one at
a time. `--count` and `--rows` rank fewer queries of each pattern, and fewer rows of each query.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from cache import Stamp, use_folder
from machine import (
    ROOT,
    arguments,
    benchmark_data,
    describe,
    markdown_table,
    matrix_multiply_rate,
    write_result,
)
from trained import Shared

import nqe
from nqe import version
from nqe.answering.question_runner import HybridQuestionRunner
from nqe.cores import usable_cores
from nqe.evaluation import Report, rank_rows
from nqe.evaluation.groupings import OF_ROWS
from nqe.graph import Dataset
from nqe.query import bind
from nqe.sampling import PRESETS, RowQuery, load_row_queries, sample_rows, save_row_queries
from nqe.settings import SamplingSettings

FACTS, ALONE = "train,valid", "none"
TIMED = "triangle"
LATENCY_BAR = 500
"""The most ms that a triangle over WD50K may take by hybrid, in the median, on two cores."""


def use_queries(dataset: Dataset, *, quick: bool) -> tuple[Path, SamplingSettings]:
    """The folder of the query set, sampled if it is not there, and its settings."""
    settings = PRESETS["beyond-trees"]
    if quick:
        settings = replace(settings, valid=0, test=2, max_answers=20)
    folder = ROOT / "build" / ("beyond-trees-quick" if quick else "beyond-trees") / "queries"
    stamp = Stamp(dataset.fingerprint, asdict(settings), {"sampler": version.SAMPLER_VERSION})
    use_folder(
        folder, stamp, lambda: save_row_queries(sample_rows(dataset, settings), folder, "wd50k")
    )
    return folder, settings


def take_first(queries: Sequence[RowQuery], count: int | None) -> list[RowQuery]:
    """The first queries of each pattern."""
    by_pattern: dict[str, list[RowQuery]] = {}
    for one in queries:
        by_pattern.setdefault(one.pattern, []).append(one)
    return [one for found in by_pattern.values() for one in found[:count]]


def open_runner(run: Path, dataset: Dataset, facts: str) -> HybridQuestionRunner:
    """The runner by hybrid with these facts known."""
    return HybridQuestionRunner(nqe.open(run, graph=dataset, facts=facts))


def rank(
    runner: HybridQuestionRunner, queries: Sequence[RowQuery], most_rows: int
) -> tuple[Report, float]:
    """The report of a runner, and the minutes that it took."""
    start = time.perf_counter()
    vocabulary = runner.answerer.graph.vocabulary
    ranking = rank_rows(runner, queries, vocabulary, most_rows=most_rows)
    minutes = (time.perf_counter() - start) / 60
    report = Report.of(ranking, by=OF_ROWS)
    print(f"{runner.answerer.facts}: MRR {report.all.mrr:.4f} in {minutes:.1f} min", flush=True)
    return report, minutes


def time_triangles(
    runner: HybridQuestionRunner, queries: Sequence[RowQuery], count: int
) -> list[float]:
    """The ms that each of some triangles takes, from its text to its answers."""
    texts = [one.query.text for one in queries if one.pattern == TIMED][:count]
    found = []
    for text in [texts[0], *texts]:  # the first one is asked twice, as it prepares what is kept
        start = time.perf_counter()
        runner.run([bind(text, runner.answerer.graph)])
        found.append(1000 * (time.perf_counter() - start))
    return found[1:]


def group_rows(reports: dict[str, Report], grouping: str) -> list[tuple[str, ...]]:
    """MRR with its interval and Hits@1, 3 and 10, by group."""
    first = reports[FACTS]
    groups = {**first.group(grouping), "all": first.all}
    rows = []
    for name, metrics in groups.items():
        low, high = metrics.intervals["mrr"]
        hits = [f"{metrics[f'hits@{k}']:.3f}" for k in (1, 3, 10)]
        cells = (f"{metrics.queries:,}", f"{metrics.answers:,}")
        shown = (f"{metrics.mrr:.3f} ({low:.3f}, {high:.3f})", *hits)
        rows.append((name, *cells, *shown, *_list_others(reports, grouping, name)))
    return rows


def _list_others(reports: dict[str, Report], grouping: str, name: str) -> list[str]:
    """The MRR of the other reports for one group."""
    others = [report for facts, report in reports.items() if facts != FACTS]
    found = [{**one.group(grouping), "all": one.all} for one in others]
    return [f"{groups[name].mrr:.3f}" if name in groups else "" for groups in found]


def page(
    run: Path,
    settings: SamplingSettings,
    queries: Sequence[RowQuery],
    reports: dict[str, Report],
    minutes: dict[str, float],
    times: Sequence[float],
    most_rows: int,
) -> str:
    """The result."""
    others = tuple(f"MRR, {facts} known" for facts in reports if facts != FACTS)
    columns = ("queries", "ranks", f"MRR, {FACTS} known", "Hits@1", "Hits@3", "Hits@10", *others)
    taken = ", ".join(f"{facts} {value:.0f}" for facts, value in minutes.items())
    return "\n".join(
        [
            "# Hybrid answers beyond trees on WD50K\n",
            f"By `benchmarks/beyond_trees.py`: {len(queries):,} test queries (preset "
            f"`beyond-trees`, seed {settings.seed}), hard rows, filtered, per query, realistic "
            "ties; 95% bootstrap intervals. Each target of a row is ranked in turn, the others "
            f"fixed to the row's; at most {most_rows} hard rows per query are ranked.\n",
            markdown_table(
                ("what", "value"),
                [
                    *describe(("torch", "numpy")),
                    ("cores used", f"{usable_cores()}"),
                    ("matrix multiply, GF/s", f"{matrix_multiply_rate():.0f}"),
                    ("minutes of ranking, by facts known", taken),
                    *_describe_run(run),
                ],
            ),
            "## By pattern\n",
            markdown_table(("pattern", *columns), group_rows(reports, "shape")),
            "## By missing links\n",
            markdown_table(("missing links", *columns), group_rows(reports, "missing")),
            "## Time of a triangle by hybrid\n",
            f"One at a time, from the text, {FACTS} known.\n",
            markdown_table(
                ("triangles", "median, ms", "90 % are below, ms", "bar for the median, ms"),
                [
                    (
                        str(len(times)),
                        f"{statistics.median(times):.0f}",
                        f"{np.quantile(times, 0.9):.0f}",
                        str(LATENCY_BAR),
                    )
                ],
            ),
        ]
    )


def _describe_run(run: Path) -> list[tuple[str, str]]:
    """What the manifest of a run says about its model, without its place."""
    manifest = run / "manifest.json"
    if not manifest.is_file():
        return [("run", run.name)]
    settings = json.loads(manifest.read_text(encoding="utf-8")).get("settings") or {}
    model = settings.get("model", {})
    names = [name for name in ("kind", "width", "layers", "context") if name in model]
    shown = ", ".join(f"{name} {model[name]}" for name in names)
    return [("run", run.name), ("model", shown)]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--run", type=Path, help="a RUN that was trained on WD50K")
    parser.add_argument("--count", type=int, help="queries of each pattern; all by default")
    parser.add_argument("--rows", type=int, default=5, help="the most hard rows of each query")
    parser.add_argument("--triangles", type=int, default=100, help="triangles to time")
    parser.add_argument("--alone", action="store_true", help="rank without any facts, too")
    options = parser.parse_args()
    dataset = benchmark_data(quick=options.quick)
    folder, settings = use_queries(dataset, quick=options.quick)
    run = options.run or Shared(dataset, quick=options.quick).use_run()
    every = load_row_queries(folder, "test")
    queries = take_first(every, options.count)
    known = open_runner(run, dataset, FACTS)
    times = time_triangles(known, every, options.triangles)
    print(f"median triangle: {statistics.median(times):.0f} ms", flush=True)
    runners = {FACTS: known}
    if options.alone:
        runners[ALONE] = open_runner(run, dataset, ALONE)
    found = {facts: rank(runner, queries, options.rows) for facts, runner in runners.items()}
    reports = {facts: report for facts, (report, _) in found.items()}
    minutes = {facts: value for facts, (_, value) in found.items()}
    text = page(run, settings, queries, reports, minutes, times, options.rows)
    write_result("beyond-trees", text, quick=options.quick)


if __name__ == "__main__":
    main()

"""The experiments on logical queries: train each row, rank the test queries, keep the results.

A row whose result is in the folder of results is never computed again, even if its RUN is gone.
A RUN that was interrupted is continued. Everything is checked before any work begins, and each
result is written as soon as it is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nqe.graph.dataset import Dataset
from nqe.reproduction.graphs import describe_graph
from nqe.reproduction.jobs import Job, OnResult, compute_missing
from nqe.reproduction.machine import Origin
from nqe.reproduction.presets import Preset, build_row_settings
from nqe.reproduction.query_sets import BenchmarkQueries, use_queries
from nqe.reproduction.results import Result, check_result, name_result
from nqe.reproduction.row_evaluation import rank_queries
from nqe.reproduction.rows import ROWS, Row
from nqe.reproduction.runs import PlannedRun, announce_run, describe_training, train_run
from nqe.reproduction.watching import NoWatcher, Watcher
from nqe.sampling.query_table import QueryTable

RUNS, RESULTS, QUERIES = "runs", "results", "queries"
"""The folders in the output folder of an experiment."""


@dataclass(frozen=True)
class Experiment:
    """A benchmark over a graph: its rows and seeds, and where everything is kept."""

    benchmark: str
    dataset: Dataset
    place: str
    """Where the graph is, as the user named it."""
    preset: Preset
    output: Path
    rows: Sequence[Row]
    seeds: int = 1
    results: Path | None = None
    """The folder of results; by default one in the output folder."""
    queries: Path | None = None
    """The query set to use; by default one in the output folder."""

    @property
    def results_folder(self) -> Path:
        """Where the results are."""
        return self.results or self.output / RESULTS

    @property
    def jobs(self) -> list[Job]:
        """All rows of the first seed, then all of the next; those of a run follow each other."""
        order = {row: number for number, row in enumerate(ROWS)}
        rows = sorted(self.rows, key=lambda row: (order[row.run_row], order[row.name]))
        return [Job(self.benchmark, row.name, seed) for seed in range(self.seeds) for row in rows]

    def plan_run(self, job: Job, queries: BenchmarkQueries) -> PlannedRun:
        """The run that answers for a row."""
        row = ROWS[ROWS[job.row].run_row]
        name = name_result(self.benchmark, row.name, job.seed)
        settings = build_row_settings(self.preset, row, job.seed)
        return PlannedRun(self.output / RUNS / name, settings, queries.folder)


def reproduce(
    experiment: Experiment,
    watcher: Watcher | None = None,
    on_result: OnResult = lambda: None,
) -> list[Result]:
    """Compute the results that are missing, and return all of them in the order of the jobs."""
    watcher = watcher or NoWatcher()
    queries = _use_queries(experiment, watcher)
    _check(experiment, queries)
    work = _Work(experiment, queries, watcher)
    folder = experiment.results_folder
    return compute_missing(experiment.jobs, folder, work.compute, watcher, on_result)


def _use_queries(experiment: Experiment, watcher: Watcher) -> BenchmarkQueries:
    with watcher.watch_work("queries") as progress:
        return use_queries(
            experiment.dataset,
            experiment.benchmark,
            experiment.preset,
            experiment.output / QUERIES,
            given=experiment.queries,
            place=experiment.place,
            progress=progress,
        )


def _check(experiment: Experiment, queries: BenchmarkQueries) -> None:
    """Refuse what cannot be done or continued, before any work is done."""
    folder, digest = experiment.results_folder, queries.digest
    for job in experiment.jobs:
        run, found = experiment.plan_run(job, queries), job.find(folder)
        if found is None:
            run.check(experiment.dataset)
        else:
            check_result(folder, found, run.settings, digest)


@dataclass(frozen=True)
class _Work:
    """Computes results."""

    experiment: Experiment
    queries: BenchmarkQueries
    watcher: Watcher

    @cached_property
    def test(self) -> QueryTable:
        """The test queries."""
        return self.queries.load_test()

    @cached_property
    def origin(self) -> Origin:
        """With what the results are computed."""
        return Origin.find()

    def compute(self, job: Job, where: str) -> Result:
        """Train the run of a row, unless it is there, and rank the test queries."""
        experiment, run = self.experiment, self.experiment.plan_run(job, self.queries)
        row, dataset = ROWS[job.row], experiment.dataset
        self.watcher.note(f"{where}: {announce_run(run, row.run_of)}")
        train_run(run, dataset, experiment.place, self.watcher)
        ranked = rank_queries(row, run.folder, dataset, self.test, self.watcher)
        return Result(
            benchmark=experiment.benchmark,
            row=job.row,
            seed=job.seed,
            preset=experiment.preset.name,
            graph=describe_graph(dataset, experiment.place),
            queries=self.queries.digest,
            settings=run.settings,
            scores=ranked.scores,
            missing=ranked.missing,
            training=describe_training(run.folder),
            origin=self.origin,
            facts=ranked.facts,
        )

"""The experiment on the public Query2Box queries over FB15k-237: nine shapes, four runners.

Which facts are known was checked for every query by the exact engine. The hard answers of a
validation query are those that train+valid gives and train does not. The hard answers of a test
query are those that all three splits give and train+valid does not. So a model may know
train+valid at test time, but the published methods learnt from train alone and look up no facts.
Models here are trained on train and calibrated on valid, and see no test facts.

Every fact has two entities, so closed and open atoms mean the same. The queries are read as open
ones and asked as closed ones, on which the model is trained: it has different vectors for the
two. A reverse relation of Query2Box is read as its relation with the subject asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from nqe.answering.calibration_fitting import calibrate
from nqe.answering.open_run import OpenedRun
from nqe.documents import compute_digest
from nqe.errors import NqeError
from nqe.evaluation import Report, Runner, evaluate
from nqe.graph.dataset import Dataset
from nqe.reproduction.given_runs import GIVEN, GivenRuns, check_same
from nqe.reproduction.graphs import describe_graph
from nqe.reproduction.jobs import Job, OnResult, compute_missing
from nqe.reproduction.machine import Origin
from nqe.reproduction.results import HARD, HITS, Result, Scores, name_result
from nqe.reproduction.row_evaluation import open_hybrid
from nqe.reproduction.runs import PlannedRun, announce_run, describe_training, train_run
from nqe.reproduction.watching import NoWatcher, Watcher
from nqe.sampling.exchange import add_missing_links, read_tuple_queries
from nqe.sampling.query_table import QueryTable
from nqe.settings import ModelSettings, RunSettings, TrainSettings, build_run_settings

BENCHMARK = "query2box"
SHAPES = ("1p", "2p", "3p", "2i", "3i", "ip", "pi", "2u", "up")
"""Query2Box's 1c 2c 3c 2i 3i ic ci 2u uc."""
PUBLISHED = {"GQE": 0.228, "Query2Box": 0.268, "CQD-Beam": 0.290}
"""The published averages of Hits@3 over the nine shapes."""


@dataclass(frozen=True)
class AnswersBy:
    """What answers beside the model; by default, nothing."""

    facts: str | None = None
    """The splits whose facts are known; None is the model alone."""
    with_rules: bool = False


RUNNERS = {
    "embedding": AnswersBy(),
    "hybrid without facts": AnswersBy("none"),
    "hybrid on train": AnswersBy("train"),
    "hybrid on train+valid": AnswersBy("train,valid"),
    "hybrid with rules on train": AnswersBy("train", True),
    "hybrid with rules on train+valid": AnswersBy("train,valid", True),
}
"""The rows by name, in the order of the table."""
SETTINGS = RunSettings(
    model=ModelSettings(width=256, feed_forward=512),
    train=TrainSettings(
        shapes=SHAPES,
        open_share=0.0,
        one_hop_share=0.8,
        loss="full",
        minutes=60.0,
        evaluate_minutes=5.0,
    ),
)
QUICK = RunSettings(
    ModelSettings(width=16, layers=1, heads=2, feed_forward=16),
    replace(SETTINGS.train, minutes=None, steps=4, batch=64, evaluate_steps=4, valid_queries=20),
)
QUERY2BOX_PRESETS = {"full": (SETTINGS, 1_000), "quick": (QUICK, 2)}
"""By preset: the settings of the run, and at most how many test queries there are per shape."""


@dataclass(frozen=True, eq=False)
class Query2Box:
    """The public queries, the facts that may be known, and all facts."""

    seen: Dataset
    """Train and valid: no model may see a test fact."""
    truth: Dataset
    """All facts, from which missing links are counted."""
    queries: Mapping[str, QueryTable]
    """The validation and the test queries."""

    @classmethod
    def read(cls, folder: Path) -> Query2Box:
        """Read the public files."""
        return cls.of(*read_tuple_queries(folder))

    @classmethod
    def of(cls, dataset: Dataset, queries: Mapping[str, QueryTable]) -> Query2Box:
        """Queries about a data set, asked with closed atoms."""
        seen = {name: dataset.splits[name] for name in ("train", "valid")}
        held_out = {name: close_atoms(queries[name]) for name in ("valid", "test")}
        return cls(Dataset(dataset.vocabulary, seen), dataset, held_out)

    def draw(self, split: str, count: int, seed: int = 0) -> QueryTable:
        """At most `count` queries of each shape, drawn at random, with their missing links."""
        table, rng = self.queries[split], np.random.default_rng(seed)
        shapes = np.array(table.shape)
        drawn = [rng.permutation(np.flatnonzero(shapes == name))[:count] for name in SHAPES]
        some = table.take(np.sort(np.concatenate(drawn)))
        return add_missing_links(self.truth, {split: some})[split]


def close_atoms(table: QueryTable) -> QueryTable:
    """The same queries with closed atoms, which mean the same in a graph of triples."""
    plans = table.plans
    closed = (plans.relation >= 0).astype(plans.closed.dtype)
    return replace(table, plans=replace(plans, closed=closed))


@dataclass(frozen=True)
class Query2BoxExperiment:
    """The Query2Box queries: how they are answered, and where everything is kept."""

    data: Query2Box
    place: str
    output: Path
    preset: str = "full"
    settings: RunSettings = SETTINGS
    count: int = 1_000
    """At most this many test queries of each shape."""
    seeds: int = 1
    results: Path | None = None
    given: Sequence[Path] = ()
    """Runs to use instead of training."""
    rows: Sequence[str] = field(default_factory=lambda: tuple(RUNNERS))

    @property
    def results_folder(self) -> Path:
        """Where the results are."""
        return self.results or self.output / "results"

    @property
    def benchmark(self) -> str:
        """The name of the benchmark in results and tables."""
        return BENCHMARK

    @property
    def jobs(self) -> list[Job]:
        """All rows of the first seed, then all of the next."""
        return [Job(BENCHMARK, row, seed) for seed in range(self.seeds) for row in self.rows]

    @cached_property
    def digest(self) -> str:
        """What identifies the queries that are ranked."""
        about = {"fingerprint": self.data.truth.fingerprint, "count": self.count}
        return compute_digest(about)[:32]

    def name_run(self, job: Job) -> str:
        """The name of the run that answers."""
        return name_result(BENCHMARK, "model", job.seed)

    def build_settings(self, seed: int) -> RunSettings:
        """The settings of the run with a seed."""
        return build_run_settings({"train": {"seed": seed}}, base=self.settings)

    @cached_property
    def given_runs(self) -> GivenRuns:
        """The given runs."""
        wanted = {self.name_run(job): self.build_settings(job.seed) for job in self.jobs}
        return GivenRuns.match(self.given, wanted)

    def plan_run(self, job: Job) -> PlannedRun:
        """The run that answers."""
        name, settings = self.name_run(job), self.build_settings(job.seed)
        return self.given_runs.plan(name, PlannedRun(self.output / "runs" / name, settings, None))


def choose_runners(names: Sequence[str] | None) -> list[str]:
    """The rows with these names; all if none are named."""
    for name in names or ():
        if name not in RUNNERS:
            raise NqeError(f"unknown row '{name:.100}'; choose some of {', '.join(RUNNERS)}")
    return [name for name in RUNNERS if names is None or name in names]


def reproduce_query2box(
    experiment: Query2BoxExperiment,
    watcher: Watcher | None = None,
    on_result: OnResult = lambda: None,
) -> list[Result]:
    """Compute the results that are missing, and return all of them in the order of the jobs."""
    watcher = watcher or NoWatcher()
    folder = experiment.results_folder
    for job in experiment.jobs:
        found, run = job.find(folder), experiment.plan_run(job)
        if found is None:
            run.check(experiment.data.seen)
        else:
            check_same(folder, found, run.settings, experiment.digest)
    work = _Work(experiment, watcher)
    return compute_missing(experiment.jobs, folder, work.compute, watcher, on_result)


@dataclass(frozen=True)
class _Work:
    """Computes results."""

    experiment: Query2BoxExperiment
    watcher: Watcher

    @cached_property
    def origin(self) -> Origin:
        """With what the results are computed."""
        return Origin.find()

    @cached_property
    def test(self) -> QueryTable:
        """The test queries."""
        return self.experiment.data.draw("test", self.experiment.count)

    def compute(self, job: Job, where: str) -> Result:
        """Train the run, unless it is there, and rank the test queries."""
        experiment, run = self.experiment, self.experiment.plan_run(job)
        self.watcher.note(f"{where}: {announce_run(run)}")
        train_run(run, experiment.data.seen, experiment.place, self.watcher)
        row = RUNNERS[job.row]
        report = self._rank(row, run.folder)
        shapes = report.group("shape")
        is_given = experiment.given_runs.has(experiment.name_run(job))
        return Result(
            benchmark=BENCHMARK,
            row=job.row,
            seed=job.seed,
            preset=experiment.preset,
            graph=describe_graph(experiment.data.truth, experiment.place),
            queries=experiment.digest,
            settings=run.settings,
            scores={HARD: Scores.of(shapes), HITS: Scores.of(shapes, HITS)},
            missing=Scores.of(report.group("missing")),
            training=describe_training(run.folder),
            origin=self.origin,
            facts=row.facts,
            extra={GIVEN: True} if is_given else {},
        )

    def _rank(self, row: AnswersBy, run: Path) -> Report:
        runner = self._open(row, run)
        with self.watcher.watch_work("queries") as progress:
            return Report.of(evaluate(runner, self.test, progress=progress), split="test")

    def _open(self, row: AnswersBy, run: Path) -> Runner:
        seen, calibration = self.experiment.data.seen, OpenedRun.load(run).calibration
        if row.facts is None:
            return OpenedRun.load(run).open_runner(seen)
        if calibration is None or (calibration.rules is not None) != row.with_rules:
            with self.watcher.watch_work("parts") as progress:
                calibrate(run, seen, with_rules=row.with_rules, progress=progress)
        return open_hybrid(run, seen, row.facts)

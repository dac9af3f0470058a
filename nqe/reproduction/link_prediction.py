"""The experiment of link prediction: rows trained on train or on train and valid, two filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from nqe.answering.calibration_fitting import ONE_HOP
from nqe.answering.calibration_queries import draw_calibration_queries
from nqe.answering.join_fitting import fit_evidence
from nqe.answering.joined_runner import JoinedRunner
from nqe.answering.joining import JoinWeights, RuleEvidence
from nqe.answering.open_run import OpenedRun
from nqe.answering.run_rules import use_run_rules
from nqe.errors import NqeError
from nqe.evaluation import Bootstrap, Report, Runner, predict_links
from nqe.evaluation.link_prediction import LOOSE as LOOSE_FILTER
from nqe.evaluation.link_prediction import STRICT
from nqe.evaluation.published_results import find_link_benchmark
from nqe.graph.dataset import Dataset
from nqe.model.model import Model
from nqe.reproduction.given_runs import GIVEN, GivenRuns, check_same
from nqe.reproduction.graphs import describe_graph
from nqe.reproduction.jobs import Job, OnResult, compute_missing
from nqe.reproduction.machine import Origin
from nqe.reproduction.presets import with_minutes
from nqe.reproduction.results import HARD, LOOSE, Result, Scores, name_result
from nqe.reproduction.rows import Changes
from nqe.reproduction.runs import PlannedRun, announce_run, describe_training, train_run
from nqe.reproduction.watching import NoWatcher, Watcher
from nqe.rules.rules import Rules
from nqe.settings import ModelSettings, RunSettings, TrainSettings, build_run_settings

BENCHMARK = "link-prediction"
SPLIT = "test"
TRAIN, BOTH = "train", "train,valid"
PARTS = ("all", "subject_object", "value")
WEIGHTS = "weights"
"""The entry of a result with the fitted weights of rules."""
MODELS: dict[str, Changes] = {
    "NQE": {},
    "NQE with context": {
        "model": {"context": 16, "dropout": 0.3},
        "train": {"smoothing": 0.2},
    },
}
"""The models by name, and in what their settings differ from the defaults."""


@dataclass(frozen=True)
class LinkRow:
    """A row: a model, the splits it learns from, and whether rules answer beside it."""

    model: str
    facts: str
    with_rules: bool

    @property
    def name(self) -> str:
        """Its name in the table."""
        rules = " and rules" if self.with_rules else ""
        return f"{self.model}{rules} on {self.facts.replace(',', '+')}"

    @property
    def run_name(self) -> str:
        """The name of the row whose run answers: the one without rules."""
        return replace(self, with_rules=False).name


LINK_ROWS = {
    row.name: row
    for row in (
        LinkRow(model, facts, with_rules)
        for facts, model, with_rules in product((TRAIN, BOTH), MODELS, (False, True))
    )
}
"""All rows by name, in the order of the table; weights of rules are fitted by those on train."""
LINK_PRESETS = {
    "full": with_minutes(RunSettings(), 40.0),
    "quick": RunSettings(
        ModelSettings(width=16, layers=1, heads=2, feed_forward=16),
        TrainSettings(batch=64, steps=10, evaluate_steps=5, valid_queries=40),
    ),
}
"""The settings that all rows share, by preset."""


@dataclass(frozen=True)
class LinkExperiment:
    """Link prediction over a graph: its rows and seeds, and where everything is kept."""

    dataset: Dataset
    place: str
    output: Path
    preset: str = "full"
    settings: RunSettings = field(default_factory=lambda: LINK_PRESETS["full"])
    rows: Sequence[LinkRow] = tuple(LINK_ROWS.values())
    seeds: int = 1
    results: Path | None = None
    given: Sequence[Path] = ()
    """Runs to use for the rows that they fit, instead of training."""

    @property
    def results_folder(self) -> Path:
        """Where the results are."""
        return self.results or self.output / "results"

    @property
    def benchmark(self) -> str:
        """The name of the benchmark in results and tables."""
        return f"{BENCHMARK} {name_data(self.place)}"

    @property
    def jobs(self) -> list[Job]:
        """All rows of the first seed, then all of the next."""
        return [
            Job(self.benchmark, row.name, seed) for seed in range(self.seeds) for row in self.rows
        ]

    def build_settings(self, row: LinkRow, seed: int) -> RunSettings:
        """The settings of the run that answers for a row."""
        changes = MODELS[row.model]
        own = {"shapes": ["1p"], "facts": row.facts, "seed": seed, **changes.get("train", {})}
        return build_run_settings({**changes, "train": own}, row.name, self.settings)

    @cached_property
    def given_runs(self) -> GivenRuns:
        """The given runs, by the result that each answers for without rules."""
        wanted = {
            name_result(self.benchmark, row.run_name, seed): self.build_settings(row, seed)
            for row in self.rows
            for seed in range(self.seeds)
        }
        return GivenRuns.match(self.given, wanted)

    def name_run(self, job: Job) -> str:
        """The name of the run that answers for a row."""
        return name_result(self.benchmark, LINK_ROWS[job.row].run_name, job.seed)

    def is_given(self, job: Job) -> bool:
        """Whether that run is one of those that the user gave."""
        return self.given_runs.has(self.name_run(job))

    def plan_run(self, job: Job) -> PlannedRun:
        """The run that answers for a row."""
        name, settings = self.name_run(job), self.build_settings(LINK_ROWS[job.row], job.seed)
        return self.given_runs.plan(name, PlannedRun(self.output / "runs" / name, settings, None))


def name_data(place: str) -> str:
    """The name of a data set: that of the published one, or of its folder."""
    return find_link_benchmark(place) or Path(place).resolve().name


def choose_link_rows(names: Sequence[str] | None) -> list[LinkRow]:
    """The rows with these names, in any case; all if none are named."""
    by_name = {name.lower(): row for name, row in LINK_ROWS.items()}
    unknown = [name for name in names or () if name.lower() not in by_name]
    if unknown:
        raise NqeError(f"unknown row '{unknown[0]:.100}'; choose some of {', '.join(LINK_ROWS)}")
    wanted = by_name if names is None else {name.lower() for name in names}
    return [row for name, row in by_name.items() if name in wanted]


def reproduce_links(
    experiment: LinkExperiment,
    watcher: Watcher | None = None,
    on_result: OnResult = lambda: None,
) -> list[Result]:
    """Compute the results that are missing, and return all of them in the order of the jobs."""
    watcher = watcher or NoWatcher()
    for job in experiment.jobs:
        _check(experiment, job)
    work = _Work(experiment, watcher)
    folder = experiment.results_folder
    return compute_missing(experiment.jobs, folder, work.compute, watcher, on_result)


def _check(experiment: LinkExperiment, job: Job) -> None:
    """Refuse what cannot be done or continued."""
    found, run = job.find(experiment.results_folder), experiment.plan_run(job)
    if found is not None:
        check_same(experiment.results_folder, found, run.settings, None)
        return
    run.check(experiment.dataset)
    row = LINK_ROWS[job.row]
    fitted = replace(row, facts=TRAIN)
    will_be_there = fitted in experiment.rows or _find_fitted(experiment, job) is not None
    if row.with_rules and row.facts != TRAIN and not will_be_there:
        raise NqeError(
            f"{row.name} needs the weights of rules that {fitted.name} fits, as nothing is left "
            "to fit them on; compute that row as well"
        )


def _find_fitted(experiment: LinkExperiment, job: Job) -> Result | None:
    """The result that has the weights of rules for a row that can fit none."""
    fitted = replace(LINK_ROWS[job.row], facts=TRAIN)
    return replace(job, row=fitted.name).find(experiment.results_folder)


@dataclass(frozen=True)
class _Work:
    """Computes results."""

    experiment: LinkExperiment
    watcher: Watcher

    @cached_property
    def origin(self) -> Origin:
        """With what the results are computed."""
        return Origin.find()

    def compute(self, job: Job, where: str) -> Result:
        """Train the run of a row, unless it is there, and rank every entity of the test facts."""
        experiment, row = self.experiment, LINK_ROWS[job.row]
        run = experiment.plan_run(job)
        run_of = row.run_name if row.with_rules else None
        self.watcher.note(f"{where}: {announce_run(run, run_of)}")
        train_run(run, experiment.dataset, experiment.place, self.watcher)
        runner, extra = self._open(job, run)
        return Result(
            benchmark=experiment.benchmark,
            row=row.name,
            seed=job.seed,
            preset=experiment.preset,
            graph=describe_graph(experiment.dataset, experiment.place),
            queries=None,
            settings=run.settings,
            scores={HARD: self._rank(runner, STRICT), LOOSE: self._rank(runner, LOOSE_FILTER)},
            missing=Scores({}),
            training=describe_training(run.folder),
            origin=self.origin,
            extra=extra | ({GIVEN: True} if experiment.is_given(job) else {}),
        )

    def _open(self, job: Job, run: PlannedRun) -> tuple[Runner, dict[str, Any]]:
        """The runner of a row, and what its result keeps beside the scores."""
        row, dataset = LINK_ROWS[job.row], self.experiment.dataset
        opened = OpenedRun.load(run.folder)
        if not row.with_rules:
            return opened.open_runner(dataset), {}
        with self.watcher.watch_work("parts") as progress:
            rules = use_run_rules(run.folder, dataset, progress)
        if rules is None:
            raise NqeError(f"{run.folder}: no RUN, so it has no place for rules; give a RUN")
        weights = self._find_weights(job, opened.model, rules)
        evidence = RuleEvidence(rules, dataset.known(row.facts), weights)
        return JoinedRunner(opened.model, evidence), {WEIGHTS: weights.to_json()}

    def _find_weights(self, job: Job, model: Model, rules: Rules) -> JoinWeights:
        """The weights of rules: fitted, or those of the row that was trained on train alone."""
        if LINK_ROWS[job.row].facts == TRAIN:
            return fit_rule_weights(model, self.experiment.dataset, rules)
        fitted = _find_fitted(self.experiment, job)
        if fitted is None:
            raise NqeError(f"{job}: the weights of rules are missing; compute the row on train")
        return _read_weights(fitted, model)

    def _rank(self, runner: Runner, filter: str) -> Scores:
        with self.watcher.watch_work("queries") as progress:
            report = predict_links(
                runner,
                self.experiment.dataset,
                SPLIT,
                bootstrap=Bootstrap(),
                relations=False,
                filter=filter,
                progress=progress,
            )
        return _list_parts(report)


def _read_weights(fitted: Result, model: Model) -> JoinWeights:
    """The weights of rules in a result."""
    try:
        weights = JoinWeights.from_json(fitted.extra[WEIGHTS])
        if len(weights.weight) != model.relation_count:
            raise ValueError(f"{len(weights.weight)} relations")
    except (LookupError, TypeError, ValueError) as error:
        raise NqeError(
            f"{fitted.name}: its weights of rules are damaged ({error}); delete that result so "
            "that it is computed again"
        ) from error
    return weights


def fit_rule_weights(model: Model, dataset: Dataset, rules: Rules) -> JoinWeights:
    """Fit the weights of rules beside a model on validation facts, with train known."""
    rng = np.random.default_rng(0)
    table, stated = draw_calibration_queries(dataset, "valid", TRAIN, ONE_HOP, rng)
    return fit_evidence(model, table, stated, rules, dataset.known(TRAIN))[1]


def _list_parts(report: Report) -> Scores:
    parts = {"all": report.all, **report.group("part")}
    return Scores.of({name: parts[name] for name in PARTS if name in parts})

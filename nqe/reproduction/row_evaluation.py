"""Ranks the test queries of a benchmark by a row: its model alone, or with facts and rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nqe.answering.answerer import Answerer
from nqe.answering.calibration_fitting import calibrate
from nqe.answering.hybrid_runner import HybridRunner
from nqe.answering.open_run import OpenedRun
from nqe.evaluation import Report, Runner, evaluate
from nqe.graph.dataset import Dataset
from nqe.reproduction.results import EASY, HARD, Scores
from nqe.reproduction.rows import EMBEDDING, RULES, Row
from nqe.reproduction.watching import Watcher
from nqe.sampling.query_table import QueryTable

SPLIT = "test"


@dataclass(frozen=True)
class Ranked:
    """What ranking the test queries gave."""

    scores: Mapping[str, Scores]
    """MRR by shape of hard answers, and of easy ones for a model alone."""
    missing: Scores
    facts: str | None
    """The splits that were known; None for a model alone."""


def rank_queries(
    row: Row, run: Path, dataset: Dataset, queries: QueryTable, watcher: Watcher
) -> Ranked:
    """Rank the answers of test queries by the model of a run, as a row says."""
    runner, facts = open_row_runner(row, run, dataset, watcher)
    hard = _report(runner, queries, "hard", watcher)
    scores = {HARD: Scores.of(hard.group("shape"))}
    if row.ranks_easy_answers:
        scores[EASY] = Scores.of(_report(runner, queries, "easy", watcher).group("shape"))
    return Ranked(scores, Scores.of(hard.group("missing")), facts)


def open_row_runner(
    row: Row, run: Path, dataset: Dataset, watcher: Watcher
) -> tuple[Runner, str | None]:
    """The runner of a row, and the splits whose facts it knows."""
    if row.mode == EMBEDDING:
        return OpenedRun.load(run).open_runner(dataset), None
    with watcher.watch_work("parts") as progress:
        calibrate(run, dataset, with_rules=row.mode == RULES, progress=progress)
    facts = dataset.known_splits(SPLIT)
    return open_hybrid(run, dataset, facts), facts


def open_hybrid(run: Path, dataset: Dataset, facts: str) -> HybridRunner:
    """The hybrid runner of a calibrated run over some facts."""
    opened = OpenedRun.load(run)
    answerer = Answerer(
        dataset,
        opened.model,
        facts=facts,
        rules=opened.rules,
        calibration=opened.calibration,
    )
    return HybridRunner(answerer)


def _report(runner: Runner, queries: QueryTable, answers: str, watcher: Watcher) -> Report:
    with watcher.watch_work("queries") as progress:
        ranking = evaluate(runner, queries, answers=answers, progress=progress)
    return Report.of(ranking, split=SPLIT)

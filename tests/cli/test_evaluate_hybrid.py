"""`nqe evaluate --mode hybrid`: a RUN evaluated over the known facts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from answering_commands import ATLAS, RunNqe, check_refused
from helpers import well

import nqe
from nqe.answering import HybridRunner
from nqe.run_folders import RULES
from nqe.sampling import load_queries


def test_a_run_is_evaluated_by_hybrid_beside_embedding(run_nqe: RunNqe, runs: Path) -> None:
    shutil.copytree(runs / "atlas.run", runs / "evaluated.run")
    words = ("evaluate", "evaluated.run", "atlas.queries", "--json")
    hybrid, embedding = [
        json.loads(well(run_nqe(*words, "--mode", mode))) for mode in ("hybrid", "embedding")
    ]
    assert (hybrid["mode"], hybrid["facts"]) == ("hybrid", "train,valid")
    assert (embedding["mode"], embedding["facts"]) == ("embedding", None)
    assert hybrid["all"]["queries"] == embedding["all"]["queries"]
    run = run_nqe(*words, "--mode", "hybrid", "--split", "valid", "--facts", "none")
    assert json.loads(well(run))["facts"] == "none"
    kept = sorted(path.name for path in (runs / "evaluated.run" / "reports").iterdir())
    assert kept == ["test-atlas.queries-hybrid.json", "test-atlas.queries.json"]
    run = run_nqe(*words, "--mode", "hybrid", "--split", "valid")
    assert json.loads(well(run))["facts"] == "train"


def test_hybrid_is_evaluated_with_the_rules_of_the_run(run_nqe: RunNqe, runs: Path) -> None:
    shutil.copytree(runs / "plain.run", runs / "ruled.run")
    nqe.mine_rules(ATLAS, "train").save(runs / "ruled.run" / RULES)
    table = load_queries(runs / "atlas.queries", "test")
    words = ("atlas.queries", "--mode", "hybrid", "--facts", "train", "--json")
    found = []
    for run in ("plain.run", "ruled.run"):
        runner = HybridRunner(nqe.open(runs / run, facts="train"))
        report = json.loads(well(run_nqe("evaluate", run, *words)))
        assert report["all"]["mrr"] == nqe.Report.of(nqe.evaluate(runner, table)).all.mrr
        found.append(report["all"]["mrr"])
    assert found[0] < found[1]


WRONG: dict[str, tuple[tuple[str, ...], str]] = {
    "hybrid link prediction": (
        ("evaluate", "atlas.run", "atlas", "--link-prediction", "--mode", "hybrid", "--facts=all"),
        "--facts has no meaning with --link-prediction; leave it out",
    ),
}


@pytest.mark.parametrize(("words", "sentence"), WRONG.values(), ids=WRONG)
def test_an_impossible_command_fails_with_one_sentence_and_writes_nothing(
    words: tuple[str, ...], sentence: str, run_nqe: RunNqe, runs: Path
) -> None:
    check_refused(run_nqe, runs, words, sentence)

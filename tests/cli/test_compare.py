"""The command `nqe compare`: runs side by side, and which runs it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from random_models import new_run, refuse_command, run_command

from nqe.evaluation import METRICS

pytestmark = pytest.mark.usefixtures("random_models")


def test_runs_are_compared(random_queries: Path, tmp_path: Path) -> None:
    runs = [new_run(tmp_path, f"run_{letter}") for letter in "ab"]
    mrr = {}
    for run in runs:
        data = json.loads(run_command("evaluate", run, random_queries, "--json"))
        mrr[run.name] = round(100 * data["by_shape"]["1p"]["mrr"], 2)
    data = json.loads(run_command("compare", *runs, "--json"))
    assert data["title"] == "MRR on test (hard answers, per query, realistic ties, %)"
    assert {row["run"]: row["1p"] for row in data["rows"]} == mrr
    out = run_command("compare", *runs, "--benchmark", "wd50k-nfol", "--format", "markdown")
    assert "| NQE (paper) | **55.90** |" in out
    again = new_run(tmp_path / "other")
    run_command("evaluate", again, random_queries)
    data = json.loads(run_command("compare", *runs, again, "--json"))
    assert [row["run"] for row in data["rows"]] == [str(runs[0]), "run_b", str(again)]


def test_runs_are_compared_by_any_metric(random_queries: Path, tmp_path: Path) -> None:
    runs = [new_run(tmp_path, f"run_{letter}") for letter in "ab"]
    reports = [json.loads(run_command("evaluate", run, random_queries, "--json")) for run in runs]
    for name, metric in METRICS.items():
        data = json.loads(run_command("compare", *runs, "--measure", name, "--json"))
        factor = 100 if metric.in_percent else 1
        assert [row["2p"] for row in data["rows"]] == [
            round(factor * report["by_shape"]["2p"][name], 2) for report in reports
        ]
    lines = run_command("compare", *runs, "--measure", "hits@10").splitlines()
    assert [line.split("\t")[0] for line in lines[2:]] == ["run", "run_a", "run_b"]
    assert any(cell.endswith("*") for line in lines for cell in line.split("\t"))
    sentence = refuse_command("compare", *runs, "--measure", "auc")
    assert sentence == f"unknown measure 'auc'; choose one of {', '.join(METRICS)}"


def test_the_help_names_every_metric() -> None:
    words = run_command("compare", "--help").replace(",", " ").replace(".", " ").split()
    assert set(METRICS) <= set(words)


def test_link_prediction_is_compared(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    run_command("evaluate", run, "atlas", "--link-prediction")
    data = json.loads(run_command("compare", run, "--json"))
    assert data["title"] == "MRR of link prediction on test (per answer, realistic ties, %)"
    [row] = data["rows"]
    assert list(row) == ["run", "all", "subject_object", "value"]
    assert row["run"] == "run_a (trained on train)"


def test_runs_without_a_common_report_are_refused(random_queries: Path, tmp_path: Path) -> None:
    runs = [new_run(tmp_path, f"run_{letter}") for letter in "ab"]
    assert "has no reports; run `nqe evaluate`" in refuse_command("compare", *runs)
    run_command("evaluate", runs[0], random_queries)
    run_command("evaluate", runs[1], random_queries, "--split", "valid")
    assert "have no report in common" in refuse_command("compare", *runs)
    assert "no such run" in refuse_command("compare", runs[0], tmp_path / "nowhere")
    sentence = refuse_command("compare", runs[0], "--published")
    assert "do not belong to a published benchmark; choose" in sentence

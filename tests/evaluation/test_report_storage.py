"""Reports saved in a run: they come back, the shared one is found, damaged ones are refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from sample_reports import link_report_of, report_of
from scorers import MatrixRunner, Question, table_of

from nqe.errors import NqeError, StorageError
from nqe.evaluation import Report, evaluate
from nqe.evaluation import report as report_module
from nqe.evaluation.query_selection import QuerySelection
from nqe.evaluation.report_storage import (
    VERSION,
    list_reports,
    load_report,
    load_shared_reports,
    save_link_report,
    save_query_report,
    save_report,
)


@pytest.mark.parametrize(
    "report", [report_of({"1p": 2, "2in": 3}, run="r"), link_report_of(3, run="r")]
)
def test_a_saved_report_comes_back(tmp_path: Path, report: Report) -> None:
    path = save_report(tmp_path, "test-q.queries", report)
    assert path == tmp_path / "reports" / "test-q.queries.json"
    assert list_reports(tmp_path) == {"test-q.queries": path}
    assert load_report(path) == report


def test_the_standard_report_is_saved_whatever_is_shown(tmp_path: Path) -> None:
    ranking = evaluate(MatrixRunner(torch.zeros(2, 9)), table_of([Question(hard=[0, 1])] * 2))
    shown = Report.of(ranking, split="valid", ties="optimistic", per="answer")
    path = save_query_report(tmp_path, QuerySelection("a/q.queries", "valid"), ranking, shown)
    assert path is not None
    assert path.name == "valid-q.queries.json"
    assert load_report(path) == Report.of(ranking, split="valid")
    hybrid = Report.of(ranking, split="valid", about={"mode": "hybrid"})
    path = save_query_report(tmp_path, QuerySelection("q.queries", "valid"), ranking, hybrid)
    assert path is not None
    assert path.name == "valid-q.queries-hybrid.json"


def test_the_bootstrap_runs_once_if_the_shown_report_is_the_standard_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranking = evaluate(MatrixRunner(torch.zeros(1, 9)), table_of([Question(hard=[0])]))
    shown = Report.of(ranking)
    monkeypatch.setattr(report_module, "resample_means", None)
    assert save_query_report(tmp_path, QuerySelection("q.queries"), ranking, shown) is not None


def test_only_hard_answers_of_a_whole_split_are_saved(tmp_path: Path) -> None:
    queries = table_of([Question(hard=[0], easy=[1])])
    hard, easy = (
        evaluate(MatrixRunner(torch.zeros(1, 9)), queries, answers=answers)
        for answers in ("hard", "easy")
    )
    whole = QuerySelection("q.queries")
    assert save_query_report(tmp_path, whole, easy, Report.of(easy)) is None
    for part in (QuerySelection("q", shapes=("1p",)), QuerySelection("q", limit=3)):
        assert save_query_report(tmp_path, part, hard, Report.of(hard)) is None
    assert list(tmp_path.iterdir()) == []


def test_link_prediction_is_saved_with_realistic_ties_only(tmp_path: Path) -> None:
    report = link_report_of(2)
    path = save_link_report(tmp_path, "data/atlas", report)
    assert path is not None
    assert path.name == "test-atlas-link-prediction.json"
    other = Report.from_json(report.to_json() | {"ties": "optimistic"})
    assert save_link_report(tmp_path, "data/atlas", other) is None


def test_the_report_that_all_runs_have_is_found(tmp_path: Path) -> None:
    runs = [tmp_path / "a", tmp_path / "b"]
    for run in runs:
        save_report(run, "test-q", report_of({"1p": 1}))
    save_report(runs[0], "valid-q", report_of({"1p": 2}))
    assert list(load_shared_reports(runs)) == ["a", "b"]
    assert load_shared_reports(runs[:1], "valid-q") == {"a": report_of({"1p": 2})}
    with pytest.raises(NqeError, match=r"several reports in common .*; choose one with --report"):
        load_shared_reports(runs[:1])
    with pytest.raises(NqeError, match=r"no report in common .*; evaluate them on the same"):
        load_shared_reports(runs, "valid-q")


def test_runs_of_the_same_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    runs = [tmp_path / "x" / "a", tmp_path / "y" / "a", tmp_path / "b"]
    for run in runs:
        save_report(run, "test-q", report_of({"1p": 1}))
    assert list(load_shared_reports(runs)) == [str(runs[0]), str(runs[1]), "b"]


def test_a_run_without_reports_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NqeError, match="has no reports; run `nqe evaluate`"):
        load_shared_reports([tmp_path])
    with pytest.raises(NqeError, match="no such run; give folders"):
        load_shared_reports([tmp_path / "nowhere"])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "damaged"),
        ("[]", "not a JSON object"),
        ('{"format": "nqe-report", "version": 9}', "format version 9, which this nqe does not"),
        ('{"format": "nqe-report", "version": 2, "report": {}}', "not a report"),
        ('{"format": "nqe-report", "version": 2}', "without the report itself"),
        ('{"format": "nqe-report", "version": 3, "report": {}}', "its digest is missing"),
        ('{"format": "nqe-report", "version": 2, "report": {"all": NaN}}', "not a finite number"),
        ('{"format": "nqe-report", "version": 1, "kind": "queries"}', "without the report itself"),
        ('{"format": "nqe-report", "version": 1, "kind": "answers"}', "format version 1"),
    ],
)
def test_a_damaged_report_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(StorageError, match=f"{sentence}.*; create it again with `nqe evaluate`"):
        load_report(path)


def test_a_changed_figure_is_noticed(tmp_path: Path) -> None:
    path = save_report(tmp_path, "test-q", report_of({"1p": 2}))
    path.write_text(re.sub(r'("mrr": )[0-9.]+', r"\g<1>0.99", path.read_text(), count=1))
    with pytest.raises(StorageError, match="does not fit its digest"):
        load_report(path)


def older_metrics(report: Report) -> dict[str, Any]:
    """What version 1 wrote of a group."""
    names = ("mrr", "hits@1", "hits@3", "hits@10")
    data = report.all.to_json()
    intervals = {name: data["intervals"][name] for name in names}
    counts = {"queries": data["queries"], "answers": data["answers"]}
    return {**{name: data[name] for name in names}, **counts, "intervals": intervals}


def test_a_report_of_queries_in_the_older_format_is_read(tmp_path: Path) -> None:
    report = report_of({"1p": 2}, run="r")
    metrics = older_metrics(report)
    data = report.to_json() | {
        "all": metrics,
        "averages": {"AVG_p": metrics},
        **{f"by_{name}": dict.fromkeys(group, metrics) for name, group in report.groups.items()},
    }
    path = tmp_path / "r.json"
    older = {"format": "nqe-report", "version": 1, "kind": "queries", "report": data}
    path.write_text(json.dumps(older))
    loaded = load_report(path)
    assert loaded.split == "test"
    assert loaded.group("shape")["1p"].mrr == 0.5
    assert list(loaded.all.values) == ["mrr", "hits@1", "hits@3", "hits@10"]


def test_a_report_of_links_in_the_older_format_is_refused_with_the_command(tmp_path: Path) -> None:
    path = tmp_path / "a.run" / "reports" / "r.json"
    path.parent.mkdir(parents=True)
    data = {"all": {"mrr": 0.5}, "split": "valid", "dataset": "atlas"}
    older = {"format": "nqe-report", "version": 1, "kind": "link-prediction", "report": data}
    path.write_text(json.dumps(older))
    command = f"nqe evaluate {tmp_path / 'a.run'} atlas --link-prediction --split valid"
    with pytest.raises(StorageError, match=f"older nqe .*; create it again with `{command}`"):
        load_report(path)


def test_the_written_version_is_the_current_one(tmp_path: Path) -> None:
    path = save_report(tmp_path, "test-q", report_of({"1p": 1}))
    assert json.loads(path.read_text())["version"] == VERSION == 3

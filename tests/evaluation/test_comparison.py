"""Runs side by side in one table, and beside published rows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sample_reports import link_report_of, report_of

from nqe.errors import NqeError
from nqe.evaluation import METRICS, Metrics, compare
from nqe.evaluation.published_results import BENCHMARKS


def test_runs_are_rows_and_shapes_columns_with_the_best_marked() -> None:
    sheet = compare({"a": report_of({"1p": 1, "2in": 4}), "b": report_of({"1p": 2, "2in": 2})})
    assert sheet.title == "MRR on test (hard answers, per query, realistic ties, %)"
    assert sheet.columns == ("run", "1p", "2in", "AVG_p", "AVG_n")
    assert sheet.rows == (("a", 100.0, 25.0, 100.0, 25.0), ("b", 50.0, 50.0, 50.0, 50.0))
    assert sheet.best == {(0, 1), (1, 2), (0, 3), (1, 4)}


def test_runs_are_shown_with_the_published_rows_of_their_benchmark() -> None:
    mine = report_of({"1p": 1, "2p": 4}, benchmark="wd50k-qe")
    sheet = compare({"mine": mine}, published=True)
    assert [row[0] for row in sheet.rows] == [
        *(f"{name} (paper)" for name in BENCHMARKS["wd50k-qe"]),
        "mine",
    ]
    assert sheet.rows[3] == ("NQE (paper)", 47.69, 50.31, 49.0)
    assert sheet.best == {(4, 1), (3, 2), (4, 3)}


def test_a_benchmark_can_be_named_and_an_unknown_one_is_refused() -> None:
    mine = report_of({"1p": 1})
    assert len(compare({"a": mine}, published=True, benchmark="wd50k-nfol").rows) == 7
    with pytest.raises(NqeError, match=r"published benchmark; choose the one .* wd50k-nfol"):
        compare({"a": mine}, published=True)
    with pytest.raises(NqeError, match="unknown benchmark 'fb15k'; choose one of wd50k-nfol"):
        compare({"a": mine}, published=True, benchmark="fb15k")
    with pytest.raises(NqeError, match="no hits@1 is published; compare by mrr"):
        compare({"a": mine}, published=True, measure="hits@1")


def test_runs_are_compared_by_any_metric() -> None:
    assert compare({"a": report_of({"1p": 3})}, measure="hits@3").rows == (("a", 100.0, 100.0),)
    # Random scores would have rank 15.5 among 30 candidates.
    values = {
        name: compare({"a": report_of({"1p": 3})}, measure=name).rows[0][1] for name in METRICS
    }
    assert values == {
        "mrr": 33.33,
        "hits@1": 0.0,
        "hits@3": 100.0,
        "hits@10": 100.0,
        "mean_rank": 3.0,
        "adjusted_mean_rank": 0.19,
        "adjusted_mean_rank_index": 86.21,
    }


def test_the_lowest_mean_rank_is_the_best() -> None:
    reports = {"a": report_of({"1p": 3}), "b": report_of({"1p": 5})}
    sheet = compare(reports, measure="mean_rank")
    assert sheet.title == "Mean rank on test (hard answers, per query, realistic ties)"
    assert sheet.best == {(0, 1), (0, 2)}
    assert compare(reports, measure="adjusted_mean_rank").best == {(0, 1), (0, 2)}
    assert compare(reports, measure="adjusted_mean_rank_index").best == {(0, 1), (0, 2)}


def test_an_unknown_measure_is_refused_with_the_known_ones() -> None:
    known = "mrr, hits@1, hits@3, hits@10, mean_rank, adjusted_mean_rank, adjusted_mean_rank_index"
    with pytest.raises(NqeError, match=f"unknown measure 'auc'; choose one of {known}"):
        compare({"a": report_of({"1p": 3})}, measure="auc")


def test_a_report_from_before_a_metric_existed_is_refused() -> None:
    report = report_of({"1p": 3})
    older = replace(report, all=Metrics({"mrr": 1 / 3, "hits@1": 0.0}, 1, 1))
    assert compare({"a": older}).rows == (("a", 33.33, 33.33),)
    with pytest.raises(NqeError, match=r"a: its report has no mean_rank.*; create it again"):
        compare({"a": older}, measure="mean_rank")


def test_reports_of_different_queries_are_not_compared() -> None:
    one, other = report_of({"1p": 1}, fingerprint="a"), report_of({"1p": 1}, fingerprint="b")
    with pytest.raises(NqeError, match="a and b were evaluated on different queries"):
        compare({"a": one, "b": other})
    one, other = (report_of({"1p": 1}, fingerprint="a", digest=name) for name in "ab")
    with pytest.raises(NqeError, match="a and b were evaluated on different queries"):
        compare({"a": one, "b": other})
    with pytest.raises(NqeError, match="have no common columns"):
        compare({"a": one, "b": link_report_of(1)})


def test_no_reports_are_refused() -> None:
    with pytest.raises(NqeError, match="no reports to compare; give at least one"):
        compare({})


def test_reports_of_different_splits_are_not_compared() -> None:
    reports = {split: report_of({"1p": 1}, split) for split in ("valid", "test")}
    with pytest.raises(NqeError, match="different queries; evaluate both on the same split"):
        compare(reports)


def test_link_prediction_is_compared_by_parts_of_the_fact() -> None:
    report = link_report_of(2, trained_on="train", benchmark="wd50k")
    sheet = compare({"r": report}, published=True)
    assert sheet.title == "MRR of link prediction on test (per answer, realistic ties, %)"
    assert sheet.columns == ("run", "all", "subject_object", "value")
    assert sheet.rows[-1] == ("r (trained on train)", 75.0, 100.0, 50.0)
    assert sheet.rows[0] == ("StarE (paper; training splits unknown)", None, 34.9, None)


def test_an_average_equals_the_one_in_the_report_to_the_last_digit() -> None:
    report = report_of({"1p": 3, "2p": 6, "3p": 7, "2in": 9, "3in": 11, "inp": 13})
    [row] = compare({"a": report}).rows
    assert row[-2:] == tuple(round(100 * one.mrr, 2) for one in report.averages.values())

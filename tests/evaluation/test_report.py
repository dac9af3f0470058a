"""Reports: the means of an example computed by hand, groups, intervals, JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from scorers import MatrixRunner, Question, table_of

from nqe.errors import NqeError, StorageError
from nqe.evaluation import Bootstrap, Metrics, Ranking, Report, evaluate
from nqe.evaluation.metrics import METRICS

NO_BOOTSTRAP = Bootstrap(samples=0)


def ranking_of(questions: list[Question], ranks: list[list[int]]) -> Ranking:
    """A ranking in which the hard answers have the given ranks; entities from 50 on are wrong."""
    matrix = torch.full((len(questions), 100), -100.0)
    matrix[:, 50:] = -torch.arange(50.0)
    for query, (question, places) in enumerate(zip(questions, ranks, strict=True)):
        for answer, rank in zip(question.hard, places, strict=True):
            matrix[query, answer] = 1.5 - rank
    return evaluate(MatrixRunner(matrix), table_of(questions))


@pytest.fixture
def worked() -> Ranking:
    """Three queries with the ranks 1 and 4; 2; and 10, 1 and 5."""
    return ranking_of(
        [
            Question(hard=[0, 1], missing=[1, 2], shape="2p", asked=0),
            Question(hard=[2], missing=[2], shape="2p", asked=2, arity=3),
            Question(hard=[3, 4, 5], missing=[1, 1, 0], shape="2in", asked=0, arity=3),
        ],
        [[1, 4], [2], [10, 1, 5]],
    )


def hits_of(metrics: Metrics) -> list[float]:
    return [metrics[f"hits@{k}"] for k in (1, 3, 10)]


def test_every_query_has_the_same_weight_by_default(worked: Ranking) -> None:
    report = Report.of(worked, bootstrap=NO_BOOTSTRAP)
    of_2p = report.groups["shape"]["2p"]
    first, second, third = (1 + 1 / 4) / 2, 1 / 2, (1 / 10 + 1 + 1 / 5) / 3
    assert of_2p.mrr == pytest.approx((first + second) / 2)
    assert hits_of(of_2p) == pytest.approx([(1 / 2 + 0) / 2, (1 / 2 + 1) / 2, 1])
    assert (of_2p.queries, of_2p.answers) == (2, 3)
    assert of_2p["mean_rank"] == pytest.approx(((1 + 4) / 2 + 2) / 2)
    assert hits_of(report.groups["shape"]["2in"]) == pytest.approx([1 / 3, 1 / 3, 1])
    assert report.all.mrr == pytest.approx((first + second + third) / 3)
    assert report.all.intervals == {}


def test_every_answer_has_the_same_weight_on_request(worked: Ranking) -> None:
    report = Report.of(worked, per="answer", bootstrap=NO_BOOTSTRAP)
    assert report.groups["shape"]["2p"].mrr == pytest.approx((1 + 1 / 4 + 1 / 2) / 3)
    assert report.all.mrr == pytest.approx((1 + 1 / 4 + 1 / 2 + 1 / 10 + 1 + 1 / 5) / 6)
    assert hits_of(report.all) == pytest.approx([2 / 6, 3 / 6, 1])
    assert report.all["mean_rank"] == pytest.approx((1 + 4 + 2 + 10 + 1 + 5) / 6)


def test_by_missing_links_a_query_counts_with_the_answers_in_the_group(worked: Ranking) -> None:
    links = Report.of(worked, bootstrap=NO_BOOTSTRAP).group("missing")
    assert list(links) == ["0", "1", "2"]
    assert links["0"].mrr == pytest.approx(1 / 5)
    assert links["1"].mrr == pytest.approx((1 + (1 / 10 + 1) / 2) / 2)
    assert links["2"].mrr == pytest.approx((1 / 4 + 1 / 2) / 2)
    assert [(one.queries, one.answers) for one in links.values()] == [(1, 1), (2, 3), (2, 2)]


def test_groups_by_slot_and_arity_contain_their_queries(worked: Ranking) -> None:
    report = Report.of(worked, bootstrap=NO_BOOTSTRAP)
    assert {name: one.queries for name, one in report.group("slot").items()} == {
        "subject": 2,
        "value": 1,
    }
    assert {name: one.queries for name, one in report.group("arity").items()} == {"2": 1, "3": 2}


def test_averages_are_plain_means_over_the_shapes_that_are_present() -> None:
    shapes = ["2p", "2p", "2p", "1p", "2in", "And(P(), P(), P(), P())"]
    questions = [Question(hard=[0], shape=shape) for shape in shapes]
    report = Report.of(ranking_of(questions, [[1], [1], [1], [2], [4], [9]]))
    assert list(report.group("shape")) == ["1p", "2p", "2in", "And(P(), P(), P(), P())"]
    assert report.averages["AVG_p"].mrr == pytest.approx((1 + 1 / 2) / 2)
    assert report.averages["AVG_n"].mrr == pytest.approx(1 / 4)
    assert report.averages["AVG_p"].queries == 4


def test_an_average_without_any_of_its_shapes_is_left_out() -> None:
    questions = [Question(hard=[0], shape="2p")]
    assert list(Report.of(ranking_of(questions, [[1]])).averages) == ["AVG_p"]


def test_answers_whose_missing_links_were_not_counted_form_no_group() -> None:
    ranking = ranking_of([Question(hard=[0], missing=[-1])], [[3]])
    assert Report.of(ranking).group("missing") == {}


def test_the_tie_policy_changes_the_metrics() -> None:
    ranking = evaluate(MatrixRunner(torch.zeros(1, 4)), table_of([Question(hard=[0])]))
    reports = {ties: Report.of(ranking, ties=ties) for ties in ("optimistic", "pessimistic")}
    assert {ties: report.all.mrr for ties, report in reports.items()} == {
        "optimistic": 1,
        "pessimistic": 1 / 4,
    }
    assert all(report.ties == ties for ties, report in reports.items())
    assert Report.of(ranking).all.mrr == 1 / 2.5


def random_ranking() -> Ranking:
    random = np.random.default_rng(5)
    questions = [
        Question(hard=range(random.integers(1, 4)), shape=("1p", "2in")[i % 2]) for i in range(300)
    ]
    return ranking_of(questions, [random.integers(1, 40, len(q.hard)).tolist() for q in questions])


@pytest.mark.parametrize("per", ["query", "answer"])
def test_the_interval_contains_the_mean_and_is_the_same_for_the_same_seed(per: str) -> None:
    ranking = random_ranking()
    first, again = (Report.of(ranking, per=per) for _ in range(2))
    assert first == again
    other = Report.of(ranking, per=per, bootstrap=Bootstrap(seed=1))
    assert other.all.intervals != first.all.intervals
    for metrics in (first.all, *first.groups["shape"].values(), *first.averages.values()):
        assert list(metrics.intervals) == list(METRICS)
        for name, (low, high) in metrics.intervals.items():
            assert low < metrics[name] < high
            assert high - low < (5 if name == "mean_rank" else 0.25)


def test_an_interval_of_a_higher_level_is_wider() -> None:
    ranking = random_ranking()
    wide, narrow = (Report.of(ranking, bootstrap=Bootstrap(level=at)) for at in (0.99, 0.5))
    for name in METRICS:
        (low, high), (inner_low, inner_high) = wide.all.intervals[name], narrow.all.intervals[name]
        assert low < inner_low < inner_high < high


def test_a_report_comes_back_from_json(worked: Ranking) -> None:
    report = Report.of(worked, split="test", about={"run": "r"})
    data = json.loads(json.dumps(report.to_json()))
    assert Report.from_json(data) == report
    assert data["split"] == "test"
    assert set(data["by_shape"]["2p"]) == {
        *("mrr", "hits@1", "hits@3", "hits@10"),
        *("mean_rank", "adjusted_mean_rank", "adjusted_mean_rank_index"),
        *("queries", "answers", "intervals"),
    }
    assert set(data["all"]["intervals"]) == set(METRICS)
    assert Metrics.from_json(data["all"]) == report.all


def test_what_is_not_a_report_and_unknown_names_are_refused(worked: Ranking) -> None:
    with pytest.raises(StorageError, match=r"not a report .*; create it again with `nqe evaluate`"):
        Report.from_json({"answers": "hard"})
    with pytest.raises(NqeError, match="unknown average per 'shape'; choose one of query, answer"):
        Report.of(worked, per="shape")
    with pytest.raises(NqeError, match="unknown grouping 'colour'; choose one of shape, slot"):
        Report.of(worked).group("colour")
    with pytest.raises(NqeError, match="no query has hard answers to rank; choose"):
        Report.of(ranking_of([Question(hard=[])], [[]]))

"""Metrics by name: their definitions, and what they are for random and for perfect scores."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scorers import MatrixRunner, Question, table_of

from nqe.errors import NqeError
from nqe.evaluation import METRICS, Bootstrap, Metrics, Report, evaluate
from nqe.evaluation.metrics import adjust_means, measure_answers

NO_BOOTSTRAP = Bootstrap(samples=0)

rank_lists = st.lists(
    st.integers(2, 60).flatmap(lambda c: st.tuples(st.integers(2, 2 * c), st.just(c))),
    min_size=1,
    max_size=12,
)


def metrics_of(ranks: list[float], candidates: list[int]) -> dict[str, float]:
    """The metrics of answers that all have the same weight."""
    values = measure_answers(np.array(ranks, dtype=float), np.array(candidates))
    return dict(zip(METRICS, adjust_means(values.mean(0)).tolist(), strict=True))


def test_metrics_follow_their_formulas() -> None:
    metrics = metrics_of([1, 3.5, 10, 40], [50, 50, 20, 100])
    assert metrics["mrr"] == pytest.approx((1 + 1 / 3.5 + 1 / 10 + 1 / 40) / 4)
    assert [metrics[f"hits@{k}"] for k in (1, 3, 10)] == [1 / 4, 1 / 4, 3 / 4]
    mean_rank, expected = (1 + 3.5 + 10 + 40) / 4, (51 / 2 + 51 / 2 + 21 / 2 + 101 / 2) / 4
    assert metrics["mean_rank"] == mean_rank
    assert metrics["adjusted_mean_rank"] == pytest.approx(mean_rank / expected)
    index = 1 - (mean_rank - 1) / (expected - 1)
    assert metrics["adjusted_mean_rank_index"] == pytest.approx(index)


@given(pairs=rank_lists)
def test_the_metrics_of_any_ranks_stay_in_their_ranges(pairs: list[tuple[int, int]]) -> None:
    # Realistic ranks are whole or half numbers from 1 to the number of candidates.
    metrics = metrics_of([rank / 2 for rank, _ in pairs], [count for _, count in pairs])
    assert 0 < metrics["mrr"] <= 1
    assert 0 <= metrics["hits@1"] <= metrics["hits@3"] <= metrics["hits@10"] <= 1
    assert metrics["mean_rank"] >= 1
    assert 0 < metrics["adjusted_mean_rank"] < 2
    assert -1 <= metrics["adjusted_mean_rank_index"] <= 1 + 1e-12


@given(counts=st.lists(st.integers(2, 60), min_size=1, max_size=12))
def test_the_adjusted_index_is_one_for_perfect_ranks_and_minus_one_for_the_worst(
    counts: list[int],
) -> None:
    assert metrics_of([1] * len(counts), counts)["adjusted_mean_rank_index"] == 1
    worst = metrics_of(list(map(float, counts)), counts)
    assert worst["adjusted_mean_rank_index"] == pytest.approx(-1)


@given(counts=st.lists(st.integers(2, 60), min_size=1, max_size=12))
def test_the_adjusted_index_is_zero_if_all_scores_are_equal(counts: list[int]) -> None:
    metrics = metrics_of([(count + 1) / 2 for count in counts], counts)
    assert metrics["adjusted_mean_rank_index"] == pytest.approx(0)
    assert metrics["adjusted_mean_rank"] == pytest.approx(1)


@pytest.mark.parametrize("per", ["query", "answer"])
def test_random_scores_have_an_adjusted_index_near_zero(per: str) -> None:
    random = np.random.default_rng(3)
    questions = [
        Question(hard=range(random.integers(1, 5)), easy=range(10, 10 + random.integers(0, 20)))
        for _ in range(2_000)
    ]
    scores = torch.from_numpy(random.random((2_000, 40)))
    # Rounded scores have many ties, which realistic ranks must not be biased by.
    for matrix in (scores, scores.mul(4).floor()):
        report = Report.of(
            evaluate(MatrixRunner(matrix), table_of(questions)), per=per, bootstrap=NO_BOOTSTRAP
        )
        assert abs(report.all["adjusted_mean_rank_index"]) < 0.05
        assert abs(report.all["adjusted_mean_rank"] - 1) < 0.05


def test_the_candidates_of_an_answer_are_itself_and_all_wrong_entities() -> None:
    questions = [
        Question(hard=[0], easy=[1, 2]),
        Question(hard=[3, 4], easy=[4, 5]),
        Question(hard=[6]),
    ]
    ranking = evaluate(MatrixRunner(torch.zeros(3, 10)), table_of(questions))
    assert ranking.candidates.tolist() == [8, 8, 8, 10]
    assert Report.of(ranking).all["adjusted_mean_rank"] == 1


def test_an_answer_without_competitors_says_nothing() -> None:
    ranking = evaluate(MatrixRunner(torch.zeros(1, 3)), table_of([Question(hard=[0, 1, 2])]))
    assert ranking.candidates.tolist() == [1, 1, 1]
    metrics = Report.of(ranking).all
    assert metrics["adjusted_mean_rank_index"] == 0
    assert metrics["adjusted_mean_rank"] == metrics.mrr == 1


def test_an_unknown_metric_is_refused_with_the_known_ones() -> None:
    metrics = Metrics({"mrr": 0.5, "mean_rank": 3.0}, queries=1, answers=1)
    with pytest.raises(NqeError, match="unknown metric 'auc'; choose one of mrr, mean_rank"):
        metrics["auc"]

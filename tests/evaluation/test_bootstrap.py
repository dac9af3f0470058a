"""The bootstrap: the spread of resampled means, and the weight of each query."""

from __future__ import annotations

import numpy as np
import pytest

from nqe.evaluation.bootstrap import find_intervals, resample_means


def test_the_spread_of_resampled_means_is_the_error_of_the_mean() -> None:
    value = np.random.default_rng(1).normal([3, -1], [2, 5], (400, 2))
    means = resample_means(value, np.ones(400), 4_000, np.random.default_rng(2))
    assert means.std(0) == pytest.approx(value.std(0) / 20, rel=0.05)
    assert means.mean(0) == pytest.approx(value.mean(0), abs=0.02)


def test_a_query_counts_by_its_weight_whenever_it_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    value, weight = random.normal(size=(7, 2)), random.uniform(1, 9, 7)
    # Three samples per block, and one in the last.
    monkeypatch.setattr("nqe.evaluation.bootstrap.MAX_DRAWS", 21)
    means = resample_means(value, weight, 10, np.random.default_rng(4))
    drawn = np.random.default_rng(4)
    for first in range(0, 10, 3):
        for number, row in enumerate(drawn.integers(0, 7, (min(3, 10 - first), 7), np.int32)):
            assert means[first + number] == pytest.approx(value[row].sum(0) / weight[row].sum())


def test_an_interval_contains_the_given_share_of_the_means() -> None:
    means = np.stack([np.arange(101.0), 10 * np.arange(101.0)], axis=1)
    assert find_intervals(means, 0.9) == [pytest.approx((5, 95)), pytest.approx((50, 950))]
    assert find_intervals(means[:0], 0.9) == []

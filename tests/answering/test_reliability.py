"""Reliability: probabilities against outcomes, on numbers calculated by hand."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nqe.answering.reliability import Reliability, plot_reliability

PREDICTED = np.array([0.9, 0.1, 0.6, 0.2])
RIGHT = np.array([1.0, 0.0, 1.0, 1.0])


def test_a_small_example_agrees_with_a_calculation_by_hand() -> None:
    one = Reliability.of(PREDICTED, RIGHT, count=2)
    # The lower half has mean 0.15 and half of it is right; the upper has mean 0.75, all right.
    assert one.bins == (pytest.approx((0.15, 0.5, 2)), pytest.approx((0.75, 1.0, 2)))
    assert one.error == pytest.approx((2 * 0.35 + 2 * 0.25) / 4)
    assert one.brier == pytest.approx((0.01 + 0.01 + 0.16 + 0.64) / 4)
    assert one.base == pytest.approx(0.75 * 0.25)


def test_json_names_the_columns_of_the_bins() -> None:
    data = Reliability.of(PREDICTED, RIGHT, count=2).to_json()
    assert set(data) == {"error", "brier", "base_brier", "bins"}
    assert data["bins"][0] == {
        "probability": pytest.approx(0.15),
        "right": pytest.approx(0.5),
        "count": 2,
    }


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_bins_have_equal_sizes(pairs: list[tuple[float, bool]]) -> None:
    predicted, right = (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True))
    one = Reliability.of(predicted, right)
    counts = [count for _, _, count in one.bins]
    assert sum(counts) == len(pairs)
    assert max(counts) - min(counts) <= 1
    means = [mean for mean, _, _ in one.bins]
    assert all(a <= b + 1e-12 for a, b in pairwise(means))
    assert 0 <= one.error <= 1
    assert 0 <= one.brier <= 1


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_perfect_probabilities_have_no_error(right: list[bool]) -> None:
    truth = np.array(right, dtype=np.float64)
    perfect = Reliability.of(truth, truth)
    assert perfect.error == perfect.brier == 0
    share = Reliability.of(np.full(len(truth), truth.mean()), truth, count=1)
    assert share.error == pytest.approx(0)
    assert share.brier == pytest.approx(share.base)


def test_a_diagram_is_drawn(tmp_path: Path) -> None:
    plot_reliability({"before": Reliability.of(PREDICTED, RIGHT)}, tmp_path / "diagram.svg")
    assert "<svg" in (tmp_path / "diagram.svg").read_text(encoding="utf-8")

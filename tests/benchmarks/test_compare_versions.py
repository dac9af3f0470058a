"""Comparing two checkouts: when a measurement is called slower."""

from __future__ import annotations

import pytest
from compare_versions import Comparison, compared, median_interval

NINE = [0.99, 1.0, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 3.0]


def test_the_interval_of_nine_is_from_the_second_lowest_to_the_second_highest() -> None:
    assert median_interval(list(reversed(NINE))) == (1.0, 1.06)


@pytest.mark.parametrize(
    ("count", "expected"), [(1, None), (5, None), (6, (1, 6)), (8, (1, 8)), (20, (6, 15))]
)
def test_the_interval_is_as_narrow_as_95_percent_allow(
    count: int, expected: tuple[int, int] | None
) -> None:
    assert median_interval(range(1, count + 1)) == expected


@pytest.mark.parametrize(
    ("factor", "verdict"), [(1.0, "the same"), (1.01, "slower"), (0.9, "faster")]
)
def test_slower_and_faster_need_the_whole_interval(factor: float, verdict: str) -> None:
    after = tuple(factor * ratio for ratio in NINE)
    assert Comparison("load", (1.0,) * 9, after).verdict == verdict


def test_ratios_are_taken_pair_by_pair() -> None:
    [comparison] = compared([{"load": 1.0}, {"load": 4.0}], [{"load": 2.0}, {"load": 4.0}])
    assert comparison.ratios == [2.0, 1.0]
    assert comparison.row == ("load", "2500.0", "3000.0", "1.500", "", "too few pairs")

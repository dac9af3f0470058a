"""Calibrations: from scores to probabilities, on disk and back."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from answering_cases import countries, fact_lists, graph_of, odd_calibration
from hypothesis import given
from hypothesis import strategies as st

from nqe.answering import Calibration
from nqe.answering.calibration import FILE, MOST, mean_answers
from nqe.errors import StorageError
from nqe.graph import Fact
from nqe.query.plan import STEP
from nqe.sampling.one_hop import closed_queries

score_lists = st.lists(st.integers(-60, 60), min_size=2, max_size=12, unique=True).map(
    lambda halves: [one / 2 for one in halves]
)
calibrations = st.builds(
    lambda temperature, slope, offset: Calibration(
        temperature, slope, 1.0, offset, np.ones((1, 3), np.float32), np.zeros((1, 3), np.float32)
    ),
    st.floats(0.5, 3),
    st.floats(0.1, 2),
    st.floats(-5, 5),
)


def probabilities(calibration: Calibration, scores: list[float], slot: int = 0) -> list[float]:
    row = torch.tensor([scores], dtype=torch.float32)
    calibration.to_probabilities(row, calibration.shift(np.array([0]), np.array([slot])))
    told: list[float] = row[0].tolist()
    return told


@given(calibrations, score_lists)
def test_what_scores_higher_is_no_less_likely(
    calibration: Calibration, scores: list[float]
) -> None:
    told = probabilities(calibration, scores)
    in_order = [told[place] for place in np.argsort(scores, kind="stable")]
    assert all(one <= other + 1e-6 for one, other in pairwise(in_order))


@given(calibrations, score_lists)
def test_nothing_predicted_is_certain(calibration: Calibration, scores: list[float]) -> None:
    told = probabilities(calibration, scores)
    assert all(0 <= one <= np.float32(MOST) for one in told)


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=4), st.integers(0, 4))
def test_probabilities_are_those_of_the_formula(scores: list[float], slot: int) -> None:
    by, place = odd_calibration(), (0, min(slot, 2))
    powers = [math.exp(score / by.temperature) for score in scores]
    odds = [one / (sum(powers) - one) for one in powers]
    shift = by.cardinality * math.log(by.answers[place]) + by.offset + float(by.own[place])
    expected = [1 / (1 + one**-by.slope * math.exp(-shift)) for one in odds]
    capped = [min(one, MOST) for one in expected]
    assert probabilities(by, scores, slot) == pytest.approx(capped, abs=2e-4)


def test_the_plain_calibration_multiplies_odds_by_the_number_of_answers() -> None:
    plain = Calibration.plain(np.full((1, 3), 2, dtype=np.float32))
    softmax = torch.tensor([2.0, 1.0, 0.0, -1.0]).softmax(0).double()
    odds = 2 * softmax / (1 - softmax)
    told = probabilities(plain, [2.0, 1.0, 0.0, -1.0])
    assert told == pytest.approx((odds / (1 + odds)).tolist(), abs=1e-5)


@given(fact_lists)
def test_the_mean_number_of_answers_is_counted_over_the_closed_queries(facts: list[Fact]) -> None:
    graph = graph_of(facts)
    table = closed_queries(graph.facts)
    asked: dict[tuple[int, int], list[int]] = {}
    for row in range(len(table)):
        [step] = table.steps[row].tolist()
        place = step[STEP.RELATION], min(step[STEP.ASKED], 2)
        asked.setdefault(place, []).append(len(table.easy[row]))
    every = [count for counts in asked.values() for count in counts]
    means = mean_answers(graph.facts, graph.relation_count)
    for place in np.ndindex(means.shape):
        expected = np.mean(asked.get(place, every))
        assert means[place] == pytest.approx(expected, rel=1e-5)


def test_without_facts_every_query_has_one_answer() -> None:
    nothing = countries().known("none")
    assert mean_answers(nothing.facts, 3).tolist() == [[1, 1, 1]] * 3


def test_a_calibration_is_the_same_after_saving_and_loading(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    odd_calibration().save(one)
    loaded = Calibration.load(one)
    assert loaded is not None
    loaded.save(other)
    assert (one / FILE).read_bytes() == (other / FILE).read_bytes()
    assert np.array_equal(loaded.own, odd_calibration().own)
    assert loaded.answers.dtype == loaded.own.dtype == np.float32
    assert probabilities(loaded, [1, 2]) == probabilities(odd_calibration(), [1, 2])


def test_a_checkpoint_without_a_calibration_has_none(tmp_path: Path) -> None:
    assert Calibration.load(tmp_path) is None


@pytest.mark.parametrize("damage", ["", "{", "[]", "{}", '"x"', "\xff", "cut", "less", "more"])
def test_a_damaged_calibration_is_told_of(tmp_path: Path, damage: str) -> None:
    odd_calibration().save(tmp_path)
    path = tmp_path / FILE
    text = path.read_text(encoding="utf-8")
    data = json.loads(text)
    less = {name: value for name, value in data.items() if name != "slope"}
    others = {
        "cut": text[:40],
        "less": json.dumps(less),
        "more": json.dumps(data | {"own": [[1], [2, 3]]}),
    }
    path.write_bytes(others.get(damage, damage).encode("latin-1"))
    with pytest.raises(StorageError, match=r"calibration\.json: damaged \(.*\); calibrate the"):
        Calibration.load(tmp_path)

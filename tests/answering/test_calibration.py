"""Calibrations: from scores to probabilities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from answering_cases import (
    countries,
    fact_lists,
    graph_of,
    odd_calibration,
    odd_curve,
    untrained,
)
from hypothesis import assume, given
from hypothesis import strategies as st

from nqe.answering import Answerer, Calibration
from nqe.answering.calibration import Curve, compute_mean_answers
from nqe.answering.probability import MAX_PREDICTED
from nqe.graph import Fact
from nqe.sampling.one_hop import make_closed_queries

score_lists = st.lists(st.integers(-60, 60), min_size=2, max_size=12, unique=True).map(
    lambda halves: [one / 2 for one in halves]
)
curves = st.builds(
    lambda temperature, slope, offset: Curve(
        temperature,
        (-2.0, 0.0, 1.0),
        (offset - slope, offset, offset + 2 * slope),
        1.0,
        0.0,
        0.0,
        0.0,
        np.ones((1, 3), np.float32),
        np.zeros((1, 3), np.float32),
    ),
    st.floats(0.5, 3),
    st.floats(0.1, 2),
    st.floats(-5, 5),
)


def probabilities(
    curve: Curve,
    scores: Sequence[float],
    slot: int = 0,
    stated: Sequence[int] = (),
    elsewhere: Sequence[int] = (),
) -> list[float]:
    row = torch.tensor(scores, dtype=torch.float64) / curve.temperature
    row[list(stated)] = -torch.inf
    shift = curve.compute_shift(np.array([0]), np.array([slot]), np.array([len(stated)]))
    logs = row.log_softmax(0) if len(stated) < len(row) else row
    away = np.isin(np.arange(len(row)), elsewhere)
    predicted: list[float] = curve.to_probabilities(logs.numpy(), shift, away).tolist()
    return predicted


@given(curves, score_lists)
def test_a_higher_score_is_never_less_likely(curve: Curve, scores: list[float]) -> None:
    predicted = probabilities(curve, scores)
    in_order = [predicted[place] for place in np.argsort(scores, kind="stable")]
    assert all(one <= other + 1e-6 for one, other in pairwise(in_order))


@given(curves, score_lists)
def test_no_prediction_is_certain(curve: Curve, scores: list[float]) -> None:
    predicted = probabilities(curve, scores)
    assert all(0 <= one <= np.float32(MAX_PREDICTED) for one in predicted)


@given(st.lists(st.floats(-3, 3), min_size=3, max_size=5), st.integers(0, 4), st.booleans())
def test_probabilities_are_those_of_the_formula(
    scores: list[float], slot: int, first_is_stated: bool
) -> None:
    by, place = odd_curve(5), (0, min(slot, 2))
    stated = [0] if first_is_stated else []
    powers = [
        0 if number in stated else math.exp(score / by.temperature)
        for number, score in enumerate(scores)
    ]
    known = by.stated * math.log(1 + len(stated)) + by.nothing * (not stated)
    shift = by.cardinality * math.log(by.answers[place]) + known + by.own[place]
    predicted = probabilities(by, scores, slot, stated, elsewhere=[1])
    for number, power in enumerate(powers):
        others = sum(powers) - power
        if number in stated:
            assert predicted[number] < 1e-12
        elif others > 0.01 * power:
            [bent] = by.bend(np.array([math.log(power / others)]))
            odds = math.exp(bent + shift + (by.elsewhere if number == 1 else 0))
            assert predicted[number] == pytest.approx(
                min(odds / (1 + odds), MAX_PREDICTED), abs=1e-6
            )


def test_bend_goes_through_its_knots_and_on_at_both_ends() -> None:
    curve = odd_curve(5)  # knots -3, -1, 0.5 with heights -2, -1, 1.5
    at = np.array([-5.0, -3.0, -2.0, -1.0, 0.5, 1.1])
    assert curve.bend(at).tolist() == pytest.approx([-3.0, -2.0, -1.5, -1.0, 1.5, 2.5])
    assert curve.unbend(curve.bend(at)).tolist() == pytest.approx(at.tolist())


@given(st.floats(1e-5, 0.99), st.floats(-3, 3))
def test_the_least_log_is_that_of_the_least_probability(probability: float, moved: float) -> None:
    curve, shift = odd_curve(6), np.array([moved])
    logs = curve.find_least_logs(np.array([probability]), shift)
    assume(logs[0] < -1e-3)
    seen = np.zeros(1, dtype=bool)
    [found] = curve.to_probabilities(logs, shift, seen)
    assert found == pytest.approx(min(probability, MAX_PREDICTED), rel=1e-3)


def test_if_every_entity_is_stated_nothing_is_predicted() -> None:
    assert max(probabilities(odd_curve(5), [1, 2, 3], stated=[0, 1, 2])) < 1e-12


def test_the_plain_calibration_multiplies_odds_by_the_number_of_answers() -> None:
    plain = Calibration.plain(np.full((1, 3), 2, dtype=np.float32))
    softmax = torch.tensor([2.0, 1.0, 0.0, -1.0]).softmax(0).double()
    odds = 2 * softmax / (1 - softmax)
    assert plain.curve(graph_of([])) is plain.facts
    predicted = probabilities(plain.facts, [2.0, 1.0, 0.0, -1.0])
    assert predicted == pytest.approx((odds / (1 + odds)).tolist(), abs=1e-5)


@given(fact_lists)
def test_the_mean_number_of_answers_is_counted_over_the_closed_queries(facts: list[Fact]) -> None:
    graph = graph_of(facts)
    table = make_closed_queries(graph.facts)
    asked: dict[tuple[int, int], list[int]] = {}
    for row in range(len(table)):
        [step] = table.plans.plan(row).steps
        place = step.relation, min(step.asked, 2)
        asked.setdefault(place, []).append(len(table.easy[row]))
    every = [count for counts in asked.values() for count in counts]
    means = compute_mean_answers(graph.facts, graph.relation_count)
    for place in np.ndindex(means.shape):
        expected = np.mean(asked.get(place, every))
        assert means[place] == pytest.approx(expected, rel=1e-5)


def test_without_facts_every_query_has_one_answer() -> None:
    nothing = countries().known("none")
    assert compute_mean_answers(nothing.facts, 3).tolist() == [[1, 1, 1]] * 3


def test_without_facts_another_curve_is_used() -> None:
    both = odd_calibration()
    assert both.curve(countries().known("none")) is both.alone
    assert both.curve(countries().known("train")) is both.facts


def test_if_twice_as_many_facts_are_missing_the_odds_of_a_prediction_are_twice_as_high() -> None:
    both, known = odd_calibration(), countries().known("train")
    held_out = replace(both, missing=0.1)
    usual, more = (held_out.curve(known, missing) for missing in (None, 0.2))
    assert usual is both.facts
    before, after = (np.array(probabilities(curve, [1.0, 0.5, -1.0])) for curve in (usual, more))
    assert (after / (1 - after)).tolist() == pytest.approx((2 * before / (1 - before)).tolist())
    assert held_out.curve(countries().known("none"), 0.2) is both.alone


def test_splits_that_are_not_known_say_how_many_facts_are_missing() -> None:
    dataset = countries()
    train, valid, test = (len(dataset.splits[name]) for name in ("train", "valid", "test"))
    model, calibration = untrained(dataset.vocabulary), odd_calibration()
    answerer = Answerer(dataset, model, facts="train", calibration=calibration)
    cases = {"train": (valid + test) / train, "train,valid": test / (train + valid), "all": None}
    for facts, missing in cases.items():
        assert answerer.with_facts(facts).neural.missing == missing
    assert Answerer(dataset.graph, model, calibration=calibration).neural.missing is None

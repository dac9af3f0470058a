"""The clock of training: progress, rate of queries, and when to validate and save."""

from __future__ import annotations

from dataclasses import replace

import pytest
from toy_dataset import settings

from nqe.settings import TrainSettings
from nqe.training.clock import REPORT_SECONDS, Clock
from nqe.training.forecast import Forecast
from nqe.training.run_folder import State

TRAIN: TrainSettings = settings(rate=0.5, warm_up=0.2).train


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which tests can change."""
    now = [1_000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_the_time_before_a_resume_counts(now: list[float]) -> None:
    clock = Clock(990.0, 100, 10, replace(TRAIN, minutes=1.0), State(step=5, seconds=20.0))
    assert clock.seconds == 30
    assert clock.progress(5) == 0.5
    now[0] += 30
    assert clock.progress(5) == 1


def test_a_report_has_the_mean_loss_and_the_rate_without_pauses(now: list[float]) -> None:
    clock = Clock(1_000.0, 100, 10, TRAIN, State())
    assert clock.take_report() is None
    for loss in (1.0, 2.0):
        now[0] += 2
        clock.count_step(10, loss)
    with clock.pause(2, validates=True):
        now[0] += 100
    assert not clock.report_is_due()
    assert clock.take_report() == {"loss": 1.5, "queries_per_second": 5.0}
    assert clock.take_report() is None
    now[0] += REPORT_SECONDS
    assert not clock.report_is_due()
    clock.count_step(10, 1.0)
    assert clock.report_is_due()


def test_validating_and_saving_are_due_once(now: list[float]) -> None:
    clock = Clock(1_000.0, 100, 10, replace(TRAIN, evaluate_steps=3, save_steps=2), State())
    due = [clock.validation_is_due(State(step=step)) for step in range(7)]
    assert due == [False, False, False, True, False, False, True]
    assert not clock.validation_is_due(State(step=3, validated=3))
    assert [clock.saving_is_due(State(step=step)) for step in range(4)] == [
        False,
        False,
        True,
        False,
    ]
    with clock.pause(2, validates=False):
        pass
    assert not clock.saving_is_due(State(step=2))
    clock = Clock(
        now[0], 100, 10, replace(TRAIN, evaluate_steps=None, evaluate_minutes=1.0), State()
    )
    assert not clock.validation_is_due(State(step=3))
    now[0] += 60
    assert clock.validation_is_due(State(step=3))
    with clock.pause(3, validates=True):
        now[0] += 5
    assert not clock.validation_is_due(State(step=4))


def take_steps(clock: Clock, now: list[float], count: int, seconds: float) -> None:
    for _ in range(count):
        now[0] += seconds
        clock.count_step(10, 1.0)


def test_a_time_budget_is_forecast_in_steps_and_epochs(now: list[float]) -> None:
    clock = Clock(1_000.0, 100, 50, replace(TRAIN, minutes=10.0), State())
    take_steps(clock, now, 1, 8.0)
    assert clock.forecast(1) is None
    take_steps(clock, now, 4, 2.0)
    assert clock.forecast(5) is None
    take_steps(clock, now, 1, 2.0)
    # Of 600 seconds 18 are gone, and a step takes 2; the first one was slower.
    assert clock.forecast(6) == Forecast(6 + 291, 297 / 50, 600.0, has_budget=True)


def test_a_number_of_steps_is_forecast_in_time(now: list[float]) -> None:
    clock = Clock(1_000.0, 100, 50, replace(TRAIN, minutes=None), State())
    take_steps(clock, now, 11, 1.0)
    assert clock.forecast(11) == Forecast(100, 2.0, 100.0, has_budget=False)


def test_a_forecast_counts_what_was_done_before_a_resume(now: list[float]) -> None:
    budget = Clock(1_000.0, 100, 50, replace(TRAIN, minutes=2.0), State(step=30, seconds=60.0))
    take_steps(budget, now, 11, 1.0)
    assert budget.forecast(41) == Forecast(41 + 49, 90 / 50, 120.0, has_budget=True)
    steps = Clock(now[0], 100, 50, replace(TRAIN, minutes=None), State(step=30, seconds=60.0))
    take_steps(steps, now, 11, 2.0)
    assert steps.forecast(41) == Forecast(100, 2.0, 60.0 + 22 + 59 * 2, has_budget=False)


def test_pauses_do_not_change_a_forecast_of_steps(now: list[float]) -> None:
    clock = Clock(1_000.0, 100, 50, replace(TRAIN, minutes=None), State())
    take_steps(clock, now, 11, 1.0)
    with clock.pause(11, validates=True):
        now[0] += 30
    assert clock.forecast(11) == Forecast(100, 2.0, 41.0 + 89, has_budget=False)


def test_a_first_step_that_takes_long_is_forecast_from_at_once(now: list[float]) -> None:
    clock = Clock(1_000.0, 100, 500, replace(TRAIN, minutes=10.0), State())
    take_steps(clock, now, 1, 40.0)
    assert clock.forecast(1) == Forecast(1 + 14, 15 / 500, 600.0, has_budget=True)

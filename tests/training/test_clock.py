"""The clock of training: progress, rate of queries, and when to validate and save."""

from __future__ import annotations

from dataclasses import replace

import pytest
from toy_dataset import settings

from nqe.settings import TrainSettings
from nqe.training.clock import REPORT_SECONDS, Clock
from nqe.training.run_folder import State

TRAIN: TrainSettings = settings(rate=0.5, warm_up=0.2).train


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which tests can change."""
    now = [1_000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_the_time_before_a_resume_counts(now: list[float]) -> None:
    clock = Clock(990.0, 100, replace(TRAIN, minutes=1.0), State(step=5, seconds=20.0))
    assert clock.seconds == 30
    assert clock.progress(5) == 0.5
    now[0] += 30
    assert clock.progress(5) == 1


def test_a_report_has_the_mean_loss_and_the_rate_without_pauses(now: list[float]) -> None:
    clock = Clock(1_000.0, 100, TRAIN, State())
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
    clock = Clock(1_000.0, 100, replace(TRAIN, evaluate_steps=3, save_steps=2), State())
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
    clock = Clock(now[0], 100, replace(TRAIN, evaluate_steps=None, evaluate_minutes=1.0), State())
    assert not clock.validation_is_due(State(step=3))
    now[0] += 60
    assert clock.validation_is_due(State(step=3))
    with clock.pause(3, validates=True):
        now[0] += 5
    assert not clock.validation_is_due(State(step=4))

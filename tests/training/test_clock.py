"""How far a training is, what is due, how the rate goes, and how signals are held back."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_dataset import settings, towns

from nqe.errors import NqeError
from nqe.model.checkpoint import LAST
from nqe.settings import TrainSettings
from nqe.training import fit_weights
from nqe.training.clock import TELL_SECONDS, Pace
from nqe.training.interrupts import Interrupts
from nqe.training.learning_rate import rate
from nqe.training.run_folder import State

TRAIN: TrainSettings = settings(rate=0.5, warm_up=0.2).train


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, to be set."""
    now = [1_000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_time_before_a_resume_counts(now: list[float]) -> None:
    pace = Pace(990.0, 100, replace(TRAIN, minutes=1.0), State(step=5, seconds=20.0))
    assert pace.seconds == 30
    assert pace.progress(5) == 0.5
    now[0] += 30
    assert pace.progress(5) == 1


def test_a_window_has_the_mean_loss_and_the_rate_without_pauses(now: list[float]) -> None:
    pace = Pace(1_000.0, 100, TRAIN, State())
    assert pace.window() is None
    for loss in (1.0, 2.0):
        now[0] += 2
        pace.count(10, loss)
    with pace.keeping(2, True):
        now[0] += 100
    assert not pace.telling_is_due()
    assert pace.window() == {"loss": 1.5, "queries_per_second": 5.0}
    assert pace.window() is None
    now[0] += TELL_SECONDS
    assert not pace.telling_is_due()
    pace.count(10, 1.0)
    assert pace.telling_is_due()


def test_validating_and_saving_are_due_once(now: list[float]) -> None:
    pace = Pace(1_000.0, 100, replace(TRAIN, evaluate_steps=3, save_steps=2), State())
    due = [pace.validation_is_due(State(step=step)) for step in range(7)]
    assert due == [False, False, False, True, False, False, True]
    assert not pace.validation_is_due(State(step=3, validated=3))
    assert [pace.saving_is_due(State(step=step)) for step in range(4)] == [
        False,
        False,
        True,
        False,
    ]
    with pace.keeping(2, False):
        pass
    assert not pace.saving_is_due(State(step=2))
    pace = Pace(now[0], 100, replace(TRAIN, evaluate_steps=None, evaluate_minutes=1.0), State())
    assert not pace.validation_is_due(State(step=3))
    now[0] += 60
    assert pace.validation_is_due(State(step=3))
    with pace.keeping(3, True):
        now[0] += 5
    assert not pace.validation_is_due(State(step=4))


@given(
    progress=st.floats(0, 1),
    warm_up=st.floats(0, 1),
    decay=st.sampled_from(["linear", "cosine", "none"]),
)
def test_the_rate_is_never_above_the_highest_nor_below_nothing(
    progress: float, warm_up: float, decay: str
) -> None:
    given = replace(TRAIN, warm_up=warm_up, decay=decay)
    assert 0 <= rate(given, progress) <= 0.5


@pytest.mark.parametrize("decay", ["linear", "cosine", "none"])
def test_the_rate_rises_and_then_falls(decay: str) -> None:
    given = replace(TRAIN, decay=decay)
    assert rate(given, 0.0) == 0.005
    assert rate(given, 0.1) == pytest.approx(0.25)
    assert rate(given, 0.2) == pytest.approx(0.5)
    assert rate(given, 0.6) == pytest.approx(0.5 if decay == "none" else 0.25)
    assert rate(given, 1.0) == pytest.approx(0.5 if decay == "none" else 0)


def test_a_signal_waits_unless_it_is_let_through() -> None:
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGTERM)
        assert interrupts.wanted
        with pytest.raises(KeyboardInterrupt), interrupts.let_through():
            pytest.fail("the signal came before the block")
    with Interrupts() as interrupts:
        assert not interrupts.wanted
        with pytest.raises(KeyboardInterrupt), interrupts.let_through():
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)


def test_signals_are_afterwards_as_they_were_and_ignored_ones_stay_so() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    terminate = signal.getsignal(signal.SIGTERM)
    try:
        with Interrupts() as interrupts:
            signal.raise_signal(signal.SIGINT)
            assert not interrupts.wanted
            assert signal.getsignal(signal.SIGTERM) is not terminate
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is terminate
    finally:
        signal.signal(signal.SIGINT, before)


def test_training_works_in_a_thread(tmp_path: Path) -> None:
    thread = threading.Thread(
        target=fit_weights, args=(towns(), tmp_path / "run"), kwargs={"settings": settings(steps=2)}
    )
    thread.start()
    thread.join()
    assert (tmp_path / "run" / LAST).is_dir()


def test_workers_that_end_are_told_and_training_goes_on_from_the_last_checkpoint(
    tmp_path: Path,
) -> None:
    class Killer:
        def update(self, status: Any) -> None:
            if status.step == 3:
                for child in multiprocessing.active_children():
                    child.kill()

    chosen = settings(shapes=["1p", "2u"], batch=600, steps=9, save_steps=1, evaluate_steps=9)
    with pytest.raises(NqeError, match="a process that draws queries ended, for lack"):
        fit_weights(towns(), tmp_path / "run", settings=chosen, on_step=Killer().update)
    assert fit_weights(towns(), tmp_path / "run", resume=True).steps == 9

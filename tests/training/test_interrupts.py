"""Signals during training are held back, and raised where that does no harm."""

from __future__ import annotations

import signal

import pytest

from nqe.training.interrupts import Interrupts


@pytest.mark.usefixtures("interruptible")
def test_a_signal_waits_unless_it_is_let_through() -> None:
    with Interrupts() as interrupts:
        signal.raise_signal(signal.SIGTERM)
        assert interrupts.received
        with pytest.raises(KeyboardInterrupt), interrupts.let_through():
            pytest.fail("the signal came before the block")
    with Interrupts() as interrupts:
        assert not interrupts.received
        with pytest.raises(KeyboardInterrupt), interrupts.let_through():
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)


def test_handlers_are_restored_afterwards_and_ignored_signals_stay_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    terminate = signal.getsignal(signal.SIGTERM)
    try:
        with Interrupts() as interrupts:
            signal.raise_signal(signal.SIGINT)
            assert not interrupts.received
            assert signal.getsignal(signal.SIGTERM) is not terminate
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is terminate
    finally:
        signal.signal(signal.SIGINT, before)

"""What a training will come to, in words."""

from __future__ import annotations

import pytest

from nqe.training import Forecast


def test_what_is_estimated_is_called_about_that_much() -> None:
    budget, steps = Forecast(8_300, 17.62, 2_400.0, True), Forecast(9, 0.0123, 61.4, False)
    assert str(budget) == "about 8,300 steps (17.6 epochs) in 0:40:00"
    assert str(steps) == "9 steps (0.012 epochs) in about 0:01:01"


@pytest.mark.parametrize(
    ("epochs", "share"),
    [(0.08, "a tenth of an epoch"), (0.4, "half an epoch"), (0.99, "one epoch")],
)
def test_a_budget_of_less_than_an_epoch_is_warned_about(epochs: float, share: str) -> None:
    warning = Forecast(40, epochs, 600.0, True).warning
    assert warning is not None
    assert warning.startswith(f"about 40 steps in this time: less than {share}, so little will be ")
    assert "; give it more time, or end other programs" in warning


def test_a_budget_of_an_epoch_and_a_chosen_number_of_steps_are_not_warned_about() -> None:
    assert Forecast(470, 1.0, 600.0, True).warning is None
    assert Forecast(40, 0.08, 600.0, False).warning is None

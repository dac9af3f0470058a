"""The learning rate: rises during the warm-up, then falls."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_dataset import settings

from nqe.settings import TrainSettings
from nqe.training.learning_rate import compute_rate

TRAIN: TrainSettings = settings(rate=0.5, warm_up=0.2).train


@given(
    progress=st.floats(0, 1),
    warm_up=st.floats(0, 1),
    decay=st.sampled_from(["linear", "cosine", "none"]),
)
def test_the_rate_is_never_above_the_highest_and_never_negative(
    progress: float, warm_up: float, decay: str
) -> None:
    chosen = replace(TRAIN, warm_up=warm_up, decay=decay)
    assert 0 <= compute_rate(chosen, progress) <= 0.5


@pytest.mark.parametrize("decay", ["linear", "cosine", "none"])
def test_the_rate_rises_and_then_falls(decay: str) -> None:
    chosen = replace(TRAIN, decay=decay)
    assert compute_rate(chosen, 0.0) == 0.005
    assert compute_rate(chosen, 0.1) == pytest.approx(0.25)
    assert compute_rate(chosen, 0.2) == pytest.approx(0.5)
    assert compute_rate(chosen, 0.6) == pytest.approx(0.5 if decay == "none" else 0.25)
    assert compute_rate(chosen, 1.0) == pytest.approx(0.5 if decay == "none" else 0)

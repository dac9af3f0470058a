"""The optimizer: what it saves can be restored, and what does not fit the model is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from nqe.errors import StorageError
from nqe.model import new_model
from nqe.settings import ModelSettings, TrainSettings
from nqe.training.optimizer import Optimizer

Tensors = dict[str, Tensor]


def build() -> Optimizer:
    """An optimizer of a small model, after one step."""
    torch.manual_seed(0)
    model = new_model(ModelSettings(width=8, layers=1, heads=2, feed_forward=8), 5, 2)
    optimizer = Optimizer(model, TrainSettings(average=0.5))
    for parameter in optimizer.parameters:
        parameter.grad = torch.ones_like(parameter)
    optimizer.step(1e-3, 1)
    return optimizer


def test_what_is_saved_is_restored() -> None:
    saved = build().to_tensors()
    other = build()
    other.step(1e-3, 2)
    other.restore(saved)
    restored = other.to_tensors()
    assert restored.keys() == saved.keys()
    assert all(torch.equal(restored[name], saved[name]) for name in saved)


def rename(saved: Tensors, name: str) -> None:
    saved[f"{name}2"] = saved.pop(name)


def shorten(saved: Tensors, name: str) -> None:
    saved[name] = saved[name].flatten()[:-1]


@pytest.mark.parametrize("change", [rename, shorten, dict.pop])
@pytest.mark.parametrize("ending", [".step", ".exp_avg"])
def test_a_state_that_does_not_fit_the_model_is_refused(
    change: Callable[[Tensors, str], object], ending: str
) -> None:
    saved = build().to_tensors()
    change(saved, next(name for name in saved if name.endswith(ending)))
    with pytest.raises(StorageError, match="does not fit its weights; train the model again"):
        build().restore(saved)


@pytest.mark.parametrize("change", [rename, shorten, dict.pop])
def test_an_average_that_does_not_fit_the_model_is_refused(
    change: Callable[[Tensors, str], object],
) -> None:
    saved = build().to_tensors()
    change(saved, next(name for name in saved if name.startswith("average.")))
    with pytest.raises(StorageError, match="average does not fit its weights; train the model"):
        build().restore(saved)

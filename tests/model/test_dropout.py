"""Dropout: which values become 0, and how the others are scaled."""

from __future__ import annotations

import pytest
import torch

from nqe.model.dropout import Dropout


@pytest.mark.parametrize("part", [0.1, 0.25, 0.5, 0.9])
def test_the_given_part_is_dropped_and_the_mean_is_kept(part: float) -> None:
    torch.manual_seed(0)
    values = Dropout(part)(torch.ones(400, 500))
    dropped = float((values == 0).float().mean())
    assert dropped == pytest.approx(part, abs=1 / 512 + 0.005)
    assert float(values.mean()) == pytest.approx(1, abs=0.03)
    (kept,) = set(values.flatten().tolist()) - {0.0}
    assert kept == pytest.approx(1 / (1 - part), rel=0.03)


def test_values_are_dropped_evenly_over_rows_and_columns() -> None:
    torch.manual_seed(0)
    dropped = (Dropout(0.5)(torch.ones(301, 333)) == 0).float()
    for along in (0, 1):
        part = dropped.mean(along)
        assert float(part.min()) > 0.35
        assert float(part.max()) < 0.65


def test_every_call_drops_other_values_and_a_seed_repeats_them() -> None:
    drop, values = Dropout(0.5), torch.ones(64)
    torch.manual_seed(1)
    first, second = drop(values), drop(values)
    torch.manual_seed(1)
    assert torch.equal(drop(values), first)
    assert not torch.equal(first, second)


@pytest.mark.parametrize("drop", [Dropout(0.5).eval(), Dropout(0.0)], ids=["eval", "none"])
def test_nothing_is_dropped_in_eval_mode_or_with_part_0(drop: Dropout) -> None:
    values = torch.randn(5, 7)
    assert torch.equal(drop(values), values)


def test_gradients_pass_only_through_values_that_were_kept() -> None:
    torch.manual_seed(2)
    values = torch.randn(30, 11, dtype=torch.float64, requires_grad=True)
    result = Dropout(0.25)(values)
    result.sum().backward()
    assert values.grad is not None
    torch.testing.assert_close(values.grad, (result / values).detach())
    assert bool((values.grad[result == 0] == 0).all())
    assert bool((values.grad[result != 0] > 1).all())


@pytest.mark.parametrize("shape", [(0, 4), (1,), (3, 5, 7)], ids=str)
@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.bfloat16], ids=str)
def test_the_shape_and_type_are_kept(shape: tuple[int, ...], kind: torch.dtype) -> None:
    result = Dropout(0.5)(torch.ones(shape, dtype=kind))
    assert result.shape == shape
    assert result.dtype == kind

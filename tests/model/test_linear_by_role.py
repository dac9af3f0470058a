"""Linear maps by role: values and gradients."""

from __future__ import annotations

import pytest
import torch
from small_models import random

from nqe.model.linear_by_role import linear_by_role


@pytest.mark.parametrize("entity_count", [0, 2, 3])
def test_each_role_has_its_own_map(entity_count: int) -> None:
    elements = random(3, 4)
    maps = [random(5, 4), random(5), random(5, 4).detach().neg().requires_grad_(), random(5)]
    mapped = linear_by_role(elements, entity_count, *maps)
    for place, element in enumerate(elements):
        weight, bias = maps[:2] if place < entity_count else maps[2:]
        torch.testing.assert_close(mapped[place], weight @ element + bias)
    inputs = (elements, entity_count, *maps)
    assert torch.autograd.gradcheck(linear_by_role, inputs)

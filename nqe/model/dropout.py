"""Dropout that is quick on a CPU."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

_STEPS = 256


class Dropout(nn.Module):
    """Leaves out a part of the values in training, and scales up the others.

    PyTorch draws a float a value on a CPU, in one thread, which costs more than the layer it is
    for. A byte a value does: the part is rounded to 1/256 there.
    """

    def __init__(self, part: float) -> None:
        super().__init__()
        self.part = part

    def forward(self, values: Tensor) -> Tensor:
        """The values, some of them 0 in training."""
        if not self.training or not self.part:
            return values
        if values.device.type != "cpu":
            return functional.dropout(values, self.part)
        dropped = min(round(self.part * _STEPS), _STEPS - 1)
        kept = _random_bytes(values.numel()).view(values.shape) >= dropped
        return values * kept.to(values.dtype).mul_(_STEPS / (_STEPS - dropped))


def _random_bytes(count: int) -> Tensor:
    words = torch.empty((count + 7) // 8, dtype=torch.int64)
    return words.random_(-(2**63), None).view(torch.uint8)[:count]

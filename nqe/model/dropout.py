"""Dropout that is fast on a CPU."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

_STEPS = 256


class Dropout(nn.Module):
    """Sets a random part of the values to 0 in training, and scales the others up.

    On a CPU, PyTorch draws one float per value in a single thread, which takes longer than the
    layer itself. Here one random byte per value is enough: the part is rounded to 1/256.
    """

    def __init__(self, part: float) -> None:
        super().__init__()
        self.part = part

    def forward(self, values: Tensor) -> Tensor:
        """The values, in training with a part of them set to 0."""
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

"""Log-sum-exp over blocks of scores, and of parts that were summed separately."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def combine_log_sums(parts: Sequence[Tensor]) -> Tensor:
    """Return the log-sum over all parts, from the log-sum of each part, (rows,)."""
    return torch.stack(tuple(parts)).logsumexp(0)


class LogSum:
    """The log of the sum of exp(score) over the columns of each row, added up block by block.

    A row whose scores are all -∞ has the log-sum -∞.
    """

    def __init__(self) -> None:
        self._parts: list[Tensor] = []

    def add(self, scores: Tensor, out: Tensor | None = None) -> Tensor:
        """Add a block of scores, (rows, columns), and return the highest of each row, (rows,).

        `out` receives exp(score - highest); it may be the block itself.
        """
        lowest = torch.finfo(scores.dtype).min
        highest = scores.amax(1).clamp_min(lowest)  # -∞ - -∞ would not be a number
        sums = torch.sub(scores, highest[:, None], out=out).exp_().sum(1)
        self._parts.append(highest + sums.log())
        return highest

    @property
    def total(self) -> Tensor:
        """The log-sum over all blocks added so far, (rows,)."""
        if len(self._parts) > 1:
            self._parts = [combine_log_sums(self._parts)]
        return self._parts[0]

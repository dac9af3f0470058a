"""Models small enough for tests."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from nqe.model import NQEModel
from nqe.settings import ModelSettings

ENTITY_COUNT, RELATION_COUNT = 12, 5
LOGIC_NAMES = ("product", "godel", "lukasiewicz", "mean")
HETEROGENEITIES = ("dual", "node", "edge")


def small_settings(**settings: Any) -> ModelSettings:
    sizes = {"width": 8, "layers": 2, "heads": 2, "feed_forward": 12}
    return ModelSettings(**(sizes | settings))


def small_model(seed: int = 0, **settings: Any) -> NQEModel:
    """A model in eval mode, with weights large enough for everything to make a difference."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = NQEModel(small_settings(**settings), ENTITY_COUNT, RELATION_COUNT)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(1.5).add_(torch.randn_like(parameter), alpha=0.2)
    return model.eval()


def random(*shape: int) -> Tensor:
    """Random numbers in double precision that gradients can be taken of."""
    generator = torch.Generator().manual_seed(len(shape) + sum(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64, requires_grad=True)

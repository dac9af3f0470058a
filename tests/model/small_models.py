"""Models small enough for tests."""

from __future__ import annotations

from typing import Any

import torch

from nqe.model import Model
from nqe.settings import ModelSettings

ENTITY_COUNT, RELATION_COUNT = 12, 5
LOGIC_NAMES = ("product", "godel", "lukasiewicz", "mean")
HETEROGENEITIES = ("dual", "node", "edge")


def small_settings(**settings: Any) -> ModelSettings:
    sizes = {"width": 8, "layers": 2, "heads": 2, "feed_forward": 12}
    return ModelSettings(**(sizes | settings))


def small_model(seed: int = 0, **settings: Any) -> Model:
    """A model in eval mode, with weights large enough for everything to make a difference."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Model(small_settings(**settings), ENTITY_COUNT, RELATION_COUNT)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(1.5).add_(torch.randn_like(parameter), alpha=0.2)
    return model.eval()

"""Models small enough for tests, with weights for which everything makes a difference."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from nqe.model import NQEModel
from nqe.settings import ModelSettings

ENTITY_COUNT, RELATION_COUNT = 12, 5
LOGIC_NAMES = ("product", "godel", "lukasiewicz", "mean")
HETEROGENEITIES = ("dual", "node", "edge")


def small_settings(**settings: Any) -> ModelSettings:
    sizes = {"width": 8, "layers": 2}
    if settings.get("kind") != "starqe":
        sizes |= {"heads": 2, "feed_forward": 12}
    return ModelSettings(**(sizes | settings))


def small_model(seed: int = 0, **settings: Any) -> NQEModel:
    """An NQE model in eval mode, the same one for the same seed."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = NQEModel(small_settings(**settings), ENTITY_COUNT, RELATION_COUNT)
        enlarge_weights(model)
    return model.eval()


def enlarge_weights(model: nn.Module) -> None:
    """Replace weights that are 0 or very small by larger random ones."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5).add_(torch.randn_like(parameter), alpha=0.2)


def random(*shape: int) -> Tensor:
    """Random numbers in double precision that require gradients."""
    generator = torch.Generator().manual_seed(len(shape) + sum(shape))
    return torch.randn(shape, generator=generator, dtype=torch.float64, requires_grad=True)

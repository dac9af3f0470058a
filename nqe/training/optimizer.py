"""The weights in training: the optimizer, the moving average, and both as tensors to save."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

import torch
from torch import Tensor

from nqe.model.model import Model
from nqe.settings import TrainSettings

_OPTIMIZERS: dict[str, type[torch.optim.Adam]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
}
_OPTIMIZER, _AVERAGE = "optimizer.", "average."


class Weights:
    """A model with its optimizer and perhaps an average of its weights over the last steps."""

    def __init__(self, model: Model, settings: TrainSettings) -> None:
        self.model = model
        self.settings = settings
        self.parameters = list(model.parameters())
        self.optimizer = _OPTIMIZERS[settings.optimizer](
            self.parameters, lr=settings.rate, weight_decay=settings.weight_decay, fused=True
        )
        self.average = _copy(model) if settings.average else None

    @property
    def best(self) -> Model:
        """The model to validate and to keep: the average if there is one."""
        return self.average or self.model

    def clip(self) -> float:
        """Shorten gradients that are too long; the length they had."""
        norm = torch.nn.utils.get_total_norm(
            [one.grad for one in self.parameters if one.grad is not None]
        )
        if self.settings.clip and norm > self.settings.clip:
            torch.nn.utils.clip_grads_with_norm_(self.parameters, self.settings.clip, norm)
        return float(norm)

    def step(self, rate: float, number: int) -> None:
        """Go a step along the gradients."""
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.forget_gradients()
        if self.average is not None:
            # A young average follows quickly, as it began with random weights.
            part = 1 - min(self.settings.average, (1 + number) / (10 + number))
            with torch.no_grad():
                torch._foreach_lerp_(
                    list(self.average.parameters()), list[Tensor](self.parameters), part
                )

    def forget_gradients(self) -> None:
        """Have none, for the next step to begin with."""
        self.optimizer.zero_grad(set_to_none=True)

    def are_finite(self) -> bool:
        """Whether no weight is infinite or no number at all."""
        return all(bool(one.isfinite().all()) for one in self.parameters)

    def tensors(self) -> dict[str, Tensor]:
        """Everything but the model's own weights that going on needs."""
        saved: dict[str, Tensor] = {}
        for (name, _), values in zip(self.model.named_parameters(), self._moments(), strict=True):
            saved |= {f"{_OPTIMIZER}{name}.{key}": value for key, value in values.items()}
        if self.average is not None:
            saved |= {f"{_AVERAGE}{name}": one for name, one in self.average.state_dict().items()}
        return saved

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Go on from what `tensors` gave; an average that is new begins with the weights."""
        state: dict[int, dict[str, Tensor]] = {}
        for number, (name, _) in enumerate(self.model.named_parameters()):
            values = _below(f"{_OPTIMIZER}{name}.", tensors)
            if values:
                state[number] = values
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": state, "param_groups": groups})
        average = _below(_AVERAGE, tensors)
        if self.average is not None and average:
            self.average.load_state_dict(average)

    def _moments(self) -> list[dict[str, Tensor]]:
        return [dict(self.optimizer.state.get(one, {})) for one in self.parameters]


def _below(start: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin so, by the rest of their names."""
    return {k.removeprefix(start): v for k, v in tensors.items() if k.startswith(start)}


def _copy(model: Model) -> Model:
    vocabulary, model.vocabulary = model.vocabulary, None
    copy = deepcopy(model).eval()
    copy.vocabulary = model.vocabulary = vocabulary
    return copy

"""The optimizer of a model's weights: Adam, gradient clipping, and a moving average."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy

import torch
from torch import Tensor

from nqe.errors import StorageError, choose
from nqe.model.model import Model
from nqe.run_folders import TENSORS
from nqe.settings import TrainSettings

_OPTIMIZERS: dict[str, type[torch.optim.Adam]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
}
# The prefixes of saved tensors.
_OPTIMIZER, _AVERAGE = "optimizer.", "average."
# What Adam keeps of each weight, besides the number of its steps.
_MOMENTS = ("exp_avg", "exp_avg_sq")


class Optimizer:
    """Changes the weights of a model, and keeps an average of them if the settings ask for it."""

    def __init__(self, model: Model, settings: TrainSettings) -> None:
        self.model = model
        self.settings = settings
        self.parameters = list(model.parameters())
        self._adam = choose(_OPTIMIZERS, settings.optimizer, "optimizer")(
            self.parameters, lr=settings.rate, weight_decay=settings.weight_decay, fused=True
        )
        self.average = _copy(model) if settings.average else None

    @property
    def result(self) -> Model:
        """The model to validate and to keep: the averaged one if there is an average."""
        return self.average or self.model

    def clip_gradients(self) -> float:
        """Shorten the gradient if it is longer than allowed, and return the length it had."""
        norm = torch.nn.utils.get_total_norm(
            [one.grad for one in self.parameters if one.grad is not None]
        )
        if self.settings.clip and norm > self.settings.clip:
            torch.nn.utils.clip_grads_with_norm_(self.parameters, self.settings.clip, norm)
        return float(norm)

    def step(self, rate: float, number: int) -> None:
        """Change the weights by their gradients, and clear the gradients; `number` counts steps."""
        for group in self._adam.param_groups:
            group["lr"] = rate
        self._adam.step()
        self.clear_gradients()
        if self.average is not None:
            # A young average follows the weights quickly, as it began with random ones.
            part = 1 - min(self.settings.average, (1 + number) / (10 + number))
            with torch.no_grad():
                torch._foreach_lerp_(
                    list(self.average.parameters()), list[Tensor](self.parameters), part
                )
                _average_buffers(self.average, self.model, part)

    def clear_gradients(self) -> None:
        """Remove all gradients."""
        self._adam.zero_grad(set_to_none=True)

    def has_finite_weights(self) -> bool:
        """Whether no weight, and no running mean of a batch norm, is infinite or NaN."""
        tensors = (*self.parameters, *self.model.buffers())
        return all(bool(one.isfinite().all()) for one in tensors)

    def to_tensors(self) -> dict[str, Tensor]:
        """Return what continuing needs, apart from the weights of the model itself."""
        saved: dict[str, Tensor] = {}
        moments = (dict(self._adam.state.get(one, {})) for one in self.parameters)
        for (name, _), values in zip(self.model.named_parameters(), moments, strict=True):
            saved |= {f"{_OPTIMIZER}{name}.{key}": value for key, value in values.items()}
        if self.average is not None:
            saved |= {f"{_AVERAGE}{name}": one for name, one in self.average.state_dict().items()}
        return saved

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Continue from what `to_tensors` returned; a new average begins with the weights."""
        state: dict[int, dict[str, Tensor]] = {}
        for number, (name, weights) in enumerate(self.model.named_parameters()):
            values = _with_prefix(f"{_OPTIMIZER}{name}.", tensors)
            if values:
                moments = dict.fromkeys(_MOMENTS, weights.shape)
                _check_fits(f"the optimizer's state of {name}", values, moments | {"step": ()})
                state[number] = values
        groups = self._adam.state_dict()["param_groups"]
        self._adam.load_state_dict({"state": state, "param_groups": groups})
        average = _with_prefix(_AVERAGE, tensors)
        if self.average is not None and average:
            own = {name: one.shape for name, one in self.average.state_dict().items()}
            _check_fits("the average", average, own)
            self.average.load_state_dict(average)


def _with_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors whose names begin with a prefix, by the rest of their names."""
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


def _check_fits(
    what: str, tensors: Mapping[str, Tensor], shapes: Mapping[str, Sequence[int]]
) -> None:
    """Refuse saved tensors with other names or shapes than the model asks for."""
    saved = {name: tuple(one.shape) for name, one in tensors.items()}
    if saved != {name: tuple(shape) for name, shape in shapes.items()}:
        raise StorageError(
            f"{TENSORS}: damaged, as {what} does not fit its weights; train the model again"
        )


def _average_buffers(average: Model, model: Model, part: float) -> None:
    """Move the running means of a batch norm as the weights, and copy its count of steps."""
    for own, latest in zip(average.buffers(), model.buffers(), strict=True):
        if own.is_floating_point():
            own.lerp_(latest, part)
        else:
            own.copy_(latest)


def _copy(model: Model) -> Model:
    """Copy a model, but not its vocabulary."""
    vocabulary, model.vocabulary = model.vocabulary, None
    copy = deepcopy(model).eval()
    copy.vocabulary = model.vocabulary = vocabulary
    return copy

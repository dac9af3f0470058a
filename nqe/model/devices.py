"""Devices: the one that a setting names, and moving nested tensors to it."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

from nqe.errors import NqeError

Moved = TypeVar("Moved")


def choose_device(name: str) -> torch.device:
    """The device that a setting names: auto, cpu or cuda."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise NqeError("device is 'cuda', but this machine has no usable GPU; choose auto or cpu")
    return torch.device(name)


def move(value: Moved, device: torch.device | str) -> Moved:
    """A copy of a value in which all tensors, in tuples and dataclasses too, are on a device."""
    if isinstance(value, Tensor):
        return value.to(device, non_blocking=True)  # type: ignore[return-value]
    if isinstance(value, tuple):
        return tuple(move(part, device) for part in value)  # type: ignore[return-value]
    if is_dataclass(value) and not isinstance(value, type):
        parts: dict[str, Any] = {field.name: getattr(value, field.name) for field in fields(value)}
        return replace(value, **{name: move(part, device) for name, part in parts.items()})
    return value

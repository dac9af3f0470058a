"""Devices: which one a setting means, and bringing things there."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

from nqe.errors import NqeError

Moved = TypeVar("Moved")


def device_of(name: str) -> torch.device:
    """The device that a setting means."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name == "cuda" and not torch.cuda.is_available():
        raise NqeError("device is 'cuda', but there is none here; choose auto or cpu")
    return torch.device(name)


def moved(value: Moved, device: torch.device | str) -> Moved:
    """A value with all tensors within it on a device."""
    if isinstance(value, Tensor):
        return value.to(device, non_blocking=True)  # type: ignore[return-value]
    if isinstance(value, tuple):
        return tuple(moved(one, device) for one in value)  # type: ignore[return-value]
    if is_dataclass(value) and not isinstance(value, type):
        parts: dict[str, Any] = {one.name: getattr(value, one.name) for one in fields(value)}
        return replace(value, **{name: moved(part, device) for name, part in parts.items()})
    return value

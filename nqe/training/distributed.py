"""The processes that train together: one, or those that torchrun started."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn

from nqe.errors import NqeError
from nqe.graph.arrays import Integers


def is_first_process() -> bool:
    """Whether this is the only process, or the first of those that torchrun started."""
    return os.environ.get("RANK", "0") == "0"


@dataclass(frozen=True)
class Processes:
    """How many there are, and which one this is."""

    rank: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        """Whether this is the one that validates, saves and speaks."""
        return self.rank == 0

    def part(self, rows: Integers) -> Integers:
        """This process's part of some rows."""
        return rows[self.rank :: self.count]

    def add_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Add up the gradients of all processes, so that each goes on with their sum."""
        if self.count == 1:
            return
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            self.add(parameter.grad)

    def add(self, value: Tensor) -> Tensor:
        """The sum of a value over all processes."""
        if self.count > 1:
            with _together("another process"):
                distributed.all_reduce(value)
        return value

    def agree(self, *values: float) -> list[float]:
        """The first process's values, in all of them."""
        if self.count == 1:
            return list(values)
        told = torch.tensor(values, dtype=torch.float64)
        if distributed.get_backend() == "nccl":
            told = told.cuda()
        with _together("the first process"):
            distributed.broadcast(told, 0)
        return [float(one) for one in told.tolist()]


@contextmanager
def _together(other: str) -> Iterator[None]:
    """Work of all processes; when one of them is gone, that is told."""
    try:
        yield
    except RuntimeError as error:
        raise NqeError(f"{other} ended; see what it says") from error


@contextmanager
def joined(device: torch.device) -> Iterator[Processes]:
    """The processes of this training; those of torchrun are told by its environment."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield Processes()
        return
    if device.type == "cuda":
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Processes(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()

"""Distributed training: the processes that torchrun started, and what they exchange."""

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
class ProcessGroup:
    """The processes of one training: how many there are, and the number of this one."""

    rank: int = 0
    count: int = 1

    @property
    def is_first(self) -> bool:
        """Whether this is the process that validates, saves and reports."""
        return self.rank == 0

    def take_share(self, rows: Integers) -> Integers:
        """Return the rows that this process works on."""
        return rows[self.rank :: self.count]

    def add_gradients(self, parameters: Sequence[nn.Parameter]) -> None:
        """Replace the gradients by their sum over all processes."""
        if self.count == 1:
            return
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            self.add(parameter.grad)

    def add(self, value: Tensor) -> Tensor:
        """Replace a tensor by its sum over all processes, and return it."""
        if self.count > 1:
            with _loss_reported("another process"):
                distributed.all_reduce(value)
        return value

    def broadcast(self, *values: float) -> list[float]:
        """Return the values of the first process, in all of them."""
        if self.count == 1:
            return list(values)
        sent = torch.tensor(values, dtype=torch.float64)
        if distributed.get_backend() == "nccl":
            sent = sent.cuda()
        with _loss_reported("the first process"):
            distributed.broadcast(sent, 0)
        return [float(value) for value in sent.tolist()]

    def wait_for_all(self) -> None:
        """Wait until all processes have come to this point."""
        self.broadcast()


@contextmanager
def _loss_reported(other: str) -> Iterator[None]:
    """Report in one sentence that a process which should take part has ended."""
    try:
        yield
    except RuntimeError as error:
        raise NqeError(f"{other} ended; see its own message") from error


@contextmanager
def join_processes(device: torch.device) -> Iterator[ProcessGroup]:
    """Join the processes that torchrun started, found by its environment variables.

    Without torchrun there is a single process.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield ProcessGroup()
        return
    if device.type == "cuda":
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield ProcessGroup(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()

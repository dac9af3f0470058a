"""Pools of sampling workers behind one interface: in this process, or in spawned processes.

A pool on a cluster needs the same three methods and nothing else of this package, as tasks,
blocks, data sets and settings can all be pickled.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from typing import Protocol

from nqe.cores import usable_cores
from nqe.errors import NqeError
from nqe.graph.dataset import Dataset
from nqe.sampling.block_sampler import Block
from nqe.sampling.worker import Task, Worker
from nqe.settings import SamplingSettings


class WorkerLost(NqeError):
    """A process of a pool ended before its work was done."""

    def __init__(self, advice: str = "fix that and run it again") -> None:
        super().__init__(
            "a process that samples queries ended, because memory ran out or because a script "
            f"lacks `if __name__ == '__main__'`; {advice}"
        )


class PendingBlock(Protocol):
    """A block that was submitted and may still be in the making."""

    def result(self) -> Block:
        """Wait for the block and return it."""
        ...


class WorkerPool(Protocol):
    """Workers that turn tasks into blocks."""

    def map(self, tasks: Sequence[Task]) -> Iterator[Block]:
        """Yield the block of each task, in the order of the tasks."""
        ...

    def submit(self, task: Task) -> PendingBlock:
        """Schedule one task and return without waiting for it."""
        ...

    def close(self, *, wait: bool) -> None:
        """Drop the tasks that have not begun, let the workers end, and perhaps wait for that."""
        ...


class InProcessPool:
    """Runs tasks in this process, each when its block is wanted."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker

    def map(self, tasks: Sequence[Task]) -> Iterator[Block]:
        """Yield the block of each task, in the order of the tasks."""
        return map(self.worker.run, tasks)

    def submit(self, task: Task) -> PendingBlock:
        """Note one task; it runs when its result is asked for."""
        return _PostponedBlock(self.worker, task)

    def close(self, *, wait: bool) -> None:
        """Do nothing, as nothing runs in the background."""


@dataclass(frozen=True)
class _PostponedBlock:
    """A task that runs when its block is asked for."""

    worker: Worker
    task: Task

    def result(self) -> Block:
        """Make the block."""
        return self.worker.run(self.task)


class SpawnedPool:
    """Runs tasks in processes of its own, each with a copy of the data set."""

    def __init__(self, dataset: Dataset, settings: SamplingSettings, count: int) -> None:
        # A bare copy, without the indexes and graphs that the caller's data set has cached.
        bare = Dataset(dataset.vocabulary, dataset.splits)
        # Spawning is safe when the caller runs threads; forking is not.
        self._executor = ProcessPoolExecutor(
            count, get_context("spawn"), _start_worker, (bare, settings)
        )

    def map(self, tasks: Sequence[Task]) -> Iterator[Block]:
        """Yield the block of each task, in the order of the tasks."""
        with _loss_reported():
            yield from self._executor.map(_run_in_worker, tasks)

    def submit(self, task: Task) -> PendingBlock:
        """Schedule one task and return without waiting for it."""
        with _loss_reported():
            return _SpawnedBlock(self._executor.submit(_run_in_worker, task))

    def close(self, *, wait: bool) -> None:
        """Drop the tasks that have not begun, let the processes end, and perhaps wait for that."""
        self._executor.shutdown(wait=wait, cancel_futures=True)


@dataclass(frozen=True)
class _SpawnedBlock:
    """A block that a process makes."""

    future: Future[Block]

    def result(self) -> Block:
        """Wait for the block and return it."""
        with _loss_reported():
            return self.future.result()


@contextmanager
def open_pool(worker: Worker, count: int | None = None) -> Iterator[WorkerPool]:
    """Open a pool for the time of a block; one worker runs in this process.

    The default is one worker per usable core.
    """
    count = count or usable_cores()
    if count == 1:
        yield InProcessPool(worker)
        return
    pool = SpawnedPool(worker.dataset, worker.settings, count)
    try:
        yield pool
    except BaseException:
        pool.close(wait=False)
        raise
    pool.close(wait=True)


@contextmanager
def open_background_pool(
    dataset: Dataset, settings: SamplingSettings, count: int
) -> Iterator[WorkerPool]:
    """Open a pool of processes for the time of a block; tasks unfinished at its end are lost."""
    pool = SpawnedPool(dataset, settings, count)
    try:
        yield pool
    finally:
        pool.close(wait=False)


@contextmanager
def _loss_reported() -> Iterator[None]:
    """Raise WorkerLost when a process of the pool ended."""
    try:
        yield
    except BrokenProcessPool as error:
        raise WorkerLost from error


_WORKER_OF_PROCESS: list[Worker] = []


def _start_worker(dataset: Dataset, settings: SamplingSettings) -> None:
    """Prepare a process of the pool."""
    # Ctrl-C reaches the whole process group; the parent alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _WORKER_OF_PROCESS[:] = [Worker(dataset, settings)]


def _end_with_parent() -> None:
    """End this process when its parent has ended."""
    # A parent that is killed cannot stop its workers, which would wait for ever.
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run_in_worker(task: Task) -> Block:
    """Make one block in a prepared process."""
    return _WORKER_OF_PROCESS[0].run(task)

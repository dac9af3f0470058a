"""Pools of sampling workers: every pool gives the same blocks, and a lost process is reported."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import numpy as np
import pytest

from nqe.graph import Dataset, Fact
from nqe.sampling.block_sampler import Block
from nqe.sampling.worker import Task, Worker
from nqe.sampling.worker_pool import (
    InProcessPool,
    SpawnedPool,
    WorkerLost,
    WorkerPool,
    open_background_pool,
    open_pool,
)
from nqe.settings import SamplingSettings

DATASET = Dataset.of(
    {"train": [Fact(f"e{n % 9}", f"r{n % 3}", f"e{n * 7 % 11}") for n in range(40)]}
)
SETTINGS = SamplingSettings(shapes=("2p", "2i"), valid=0, test=0)
TASKS = [Task("train", shape, number) for shape in ("2p", "2i") for number in range(3)]


def worker() -> Worker:
    return Worker(DATASET, SETTINGS)


@pytest.fixture(scope="module")
def spawned() -> Iterator[WorkerPool]:
    with open_background_pool(DATASET, SETTINGS, 2) as pool:
        yield pool


@pytest.fixture(scope="module", params=["in this process", "spawned"])
def pool(request: pytest.FixtureRequest, spawned: WorkerPool) -> WorkerPool:
    return spawned if request.param == "spawned" else InProcessPool(worker())


def assert_same(one: Block, other: Block) -> None:
    assert one.signatures == other.signatures
    assert one.refused == other.refused
    assert np.array_equal(one.table.easy.values, other.table.easy.values)


def test_blocks_come_in_the_order_of_their_tasks(pool: WorkerPool) -> None:
    expected = [worker().run(task) for task in TASKS]
    for block, made in zip(pool.map(TASKS), expected, strict=True):
        assert_same(block, made)


def test_a_submitted_task_gives_its_block(pool: WorkerPool) -> None:
    pending = [pool.submit(task) for task in TASKS]
    for task, block in zip(reversed(TASKS), reversed(pending), strict=True):
        assert_same(block.result(), worker().run(task))


def test_one_worker_runs_in_this_process_and_more_are_spawned() -> None:
    with open_pool(worker(), 1) as single, open_pool(worker(), 2) as several:
        assert isinstance(single, InProcessPool)
        assert isinstance(several, SpawnedPool)


def test_the_default_is_one_worker_per_usable_core(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, kind in ((1, InProcessPool), (2, SpawnedPool)):
        monkeypatch.setattr("nqe.sampling.worker_pool.usable_cores", lambda cores=cores: cores)
        with open_pool(worker()) as opened:
            assert isinstance(opened, kind)


def test_a_process_that_is_killed_is_reported() -> None:
    pool = SpawnedPool(DATASET, SETTINGS, 1)
    pool.submit(TASKS[0]).result()
    for process in list(pool._executor._processes.values()):
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
    with pytest.raises(WorkerLost, match="a process that samples queries ended"):
        list(pool.map(TASKS))
    with pytest.raises(WorkerLost, match="run it again"):
        pool.submit(TASKS[0])
    pool.close(wait=False)

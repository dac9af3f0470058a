"""Micro-batching: what waits is answered together, in turns, and what left is not answered."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence

import pytest

from nqe.server.batching import Lane, Waiting, gather
from nqe.server.problems import Overloaded, TimedOut
from nqe.settings import ServingSettings


class Worker:
    """Runs batches of texts, each only when it is let; notes what it ran."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.may_run = threading.Semaphore(0)
        self.runs = threading.Event()

    def __call__(self, items: Sequence[str]) -> list[str]:
        self.runs.set()
        assert self.may_run.acquire(timeout=10)
        self.batches.append(list(items))
        return [item.upper() for item in items]

    async def wait_until_it_runs(self) -> None:
        await asyncio.to_thread(self.runs.wait, 10)
        self.runs.clear()


def run_with_lane(
    test: Callable[[Worker, Lane[str, str]], Awaitable[None]], batch: int = 100
) -> None:
    async def main() -> None:
        worker = Worker()
        lane: Lane[str, str] = Lane(worker, batch)
        try:
            await test(worker, lane)
        finally:
            worker.may_run.release(1_000)
            lane.close()

    asyncio.run(main())


def test_what_waits_while_a_batch_runs_is_the_next_batch() -> None:
    async def test(worker: Worker, lane: Lane[str, str]) -> None:
        first = lane.submit(["a"])
        await worker.wait_until_it_runs()
        others = [future for text in "bcd" for future in lane.submit([text])]
        worker.may_run.release(2)
        assert await gather([*first, *others], 10) == ["A", "B", "C", "D"]
        assert worker.batches == [["a"], ["b", "c", "d"]]
        assert lane.take_sizes() == [1, 3]

    run_with_lane(test)


def test_a_request_with_many_questions_does_not_hold_up_the_others() -> None:
    async def test(worker: Worker, lane: Lane[str, str]) -> None:
        many = lane.submit(["a1", "a2", "a3", "a4", "a5"])
        await worker.wait_until_it_runs()
        one, other = lane.submit(["b"]), lane.submit(["c"])
        worker.may_run.release(4)
        await gather([*many, *one, *other], 10)
        assert worker.batches == [["a1", "a2"], ["a3", "b"], ["c", "a4"], ["a5"]]

    run_with_lane(test, batch=2)


def test_a_question_whose_client_left_is_not_answered() -> None:
    async def test(worker: Worker, lane: Lane[str, str]) -> None:
        first = lane.submit(["a"])
        await worker.wait_until_it_runs()
        left, stays = lane.submit(["b1", "b2"]), lane.submit(["c"])
        for future in left:
            future.cancel()
        worker.may_run.release(2)
        await gather([*first, *stays], 10)
        assert worker.batches == [["a"], ["c"]]

    run_with_lane(test)


def test_time_that_is_over_is_an_error_and_cancels_what_waits() -> None:
    async def test(worker: Worker, lane: Lane[str, str]) -> None:
        lane.submit(["a"])
        await worker.wait_until_it_runs()
        late = lane.submit(["b"])
        with pytest.raises(TimedOut, match=r"not answered within 0\.01 seconds"):
            await gather(late, 0.01)
        worker.may_run.release(2)
        await gather(lane.submit(["c"]), 10)
        assert worker.batches == [["a"], ["c"]]

    run_with_lane(test)


def test_a_fault_reaches_all_of_its_batch_and_the_lane_goes_on() -> None:
    def fail(items: Sequence[str]) -> list[str]:
        if "bad" in items:
            raise RuntimeError("a fault")
        return list(items)

    async def main() -> None:
        lane: Lane[str, str] = Lane(fail, 10)
        with pytest.raises(RuntimeError, match="a fault"):
            await gather(lane.submit(["bad", "good"]), 10)
        assert await gather(lane.submit(["good"]), 10) == ["good"]
        lane.close()

    asyncio.run(main())


def test_a_full_queue_refuses_with_503_and_a_greedy_client_with_429() -> None:
    waiting = Waiting(ServingSettings(queue=5, share=3))
    with waiting.admit("a", 3):
        with pytest.raises(Overloaded) as greedy, waiting.admit("a", 1):
            pass
        with waiting.admit("b", 2), pytest.raises(Overloaded) as full, waiting.admit("c", 1):
            pass
        assert waiting.count == 3
    assert (greedy.value.status, full.value.status) == (429, 503)
    assert waiting.count == 0


def test_a_request_that_alone_is_beyond_the_queue_is_taken_when_nothing_waits() -> None:
    waiting = Waiting(ServingSettings(queue=5, share=3))
    with waiting.admit("a", 10):
        assert waiting.count == 10

"""Micro-batching: questions that wait at the same time are answered together.

A lane has one thread. While it computes, further questions wait, and all of them, up to a limit,
are its next batch: nobody waits for a batch to fill. The requests take turns, so that one with
many questions does not hold up the others. What may take long has a lane of its own.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from nqe.server.problems import Overloaded, TimedOut
from nqe.settings import ServingSettings

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class _Waiting(Generic[Item, Result]):
    """One question that waits, and where its result goes."""

    item: Item
    future: asyncio.Future[Result]


@dataclass(eq=False)
class _Group(Generic[Item, Result]):
    """The questions of one request."""

    waiting: deque[_Waiting[Item, Result]] = field(default_factory=deque)


class Lane(Generic[Item, Result]):
    """A queue and a thread that runs its items, several at once.

    `run` gives one result for each item, in their order. An item whose future was cancelled, as
    its client left or its time is over, is not run.
    """

    def __init__(self, run: Callable[[Sequence[Item]], Sequence[Result]], batch: int) -> None:
        self._run, self._batch = run, batch
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="lane")
        self._groups: deque[_Group[Item, Result]] = deque()
        self._pump: asyncio.Task[None] | None = None
        self._sizes: list[int] = []

    def submit(self, items: Iterable[Item]) -> list[asyncio.Future[Result]]:
        """Let the items of one request wait; gives what will be their results."""
        loop = asyncio.get_running_loop()
        group: _Group[Item, Result] = _Group()
        group.waiting.extend(_Waiting(item, loop.create_future()) for item in items)
        futures = [one.future for one in group.waiting]
        self._groups.append(group)
        if self._pump is None or self._pump.done():
            self._pump = loop.create_task(self._work())
        return futures

    def take_sizes(self) -> list[int]:
        """How many items each batch had since this was last asked."""
        sizes, self._sizes = self._sizes, []
        return sizes

    def close(self) -> None:
        """End the thread when it has finished what it runs."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _work(self) -> None:
        """Run batches until nothing waits."""
        loop = asyncio.get_running_loop()
        while chosen := self._take():
            self._sizes.append(len(chosen))
            items = [one.item for one in chosen]
            try:
                results = await loop.run_in_executor(self._thread, self._run, items)
            except Exception as error:  # a fault of ours must not leave clients waiting
                for one in chosen:
                    if not one.future.done():
                        one.future.set_exception(error)
            else:
                for one, result in zip(chosen, results, strict=True):
                    if not one.future.done():
                        one.future.set_result(result)

    def _take(self) -> list[_Waiting[Item, Result]]:
        """Take the next batch: one item of each request in turn."""
        chosen: list[_Waiting[Item, Result]] = []
        while self._groups and len(chosen) < self._batch:
            group = self._groups.popleft()
            while group.waiting and group.waiting[0].future.done():
                group.waiting.popleft()
            if group.waiting:
                chosen.append(group.waiting.popleft())
            if group.waiting:
                self._groups.append(group)
        return chosen


class Waiting:
    """Counts what waits, over all lanes, and refuses what is beyond the limits."""

    def __init__(self, settings: ServingSettings) -> None:
        self._settings = settings
        self._by_client: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """How many questions wait or run."""
        return self._by_client.total()

    @contextmanager
    def admit(self, client: str, count: int) -> Iterator[None]:
        """Count the questions of a client while they wait and run."""
        # A request that alone exceeds a limit is taken when nothing else waits.
        if self.count and self.count + count > self._settings.queue:
            raise Overloaded("the server has as much to do as it can keep waiting", status=503)
        own = self._by_client[client]
        if own and own + count > self._settings.share:
            raise Overloaded(
                f"this client has {own:,} questions waiting, and may have {self._settings.share:,}",
                status=429,
            )
        self._by_client[client] += count
        try:
            yield
        finally:
            self._by_client[client] -= count
            if not self._by_client[client]:
                del self._by_client[client]


async def gather(futures: Sequence[asyncio.Future[Any]], seconds: float) -> list[Any]:
    """Wait for all results; when the time is over or the client has left, what waits is cancelled.

    An item that runs already is finished, and its result is dropped.
    """
    try:
        async with asyncio.timeout(seconds):
            return list(await asyncio.gather(*futures))
    except TimeoutError:
        raise TimedOut(seconds) from None
    finally:
        for future in futures:
            future.cancel()

"""What the routes share: the service when it is ready, the lanes and the counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from nqe.answering.answerer import Outcome
from nqe.errors import NqeError
from nqe.server import wire
from nqe.server.added import AddedFacts
from nqe.server.batching import Lane, Waiting, gather
from nqe.server.metrics import Metrics
from nqe.server.problems import NotReady
from nqe.server.service import Question, Service
from nqe.settings import ServingSettings

Found = TypeVar("Found")


class State:
    """What the routes share: the service when it is ready, the lanes and the counts."""

    def __init__(self, settings: ServingSettings) -> None:
        self.settings = settings
        self.opened: Service | None = None
        self.added: AddedFacts | None = None
        self.starting = wire.Health(status="starting", detail="loading")
        self.failure: str | None = None
        self.waiting = Waiting(settings)
        self.light: Lane[Question, Outcome] = Lane(self._answer, settings.batch)
        self.heavy: Lane[Question, Outcome] = Lane(self._answer, 1)
        self.calls: Lane[Callable[[], Any], Any] = Lane(_run_calls, 1)
        self.metrics = Metrics(lambda: self.waiting.count)

    @property
    def service(self) -> Service:
        """What is served; raises if it is not ready."""
        if self.opened is None:
            raise NotReady(self.failure or f"{self.starting.detail}; ask again in a moment")
        return self.opened if self.added is None else self.added.service

    async def answer(self, questions: Sequence[Question], client: str) -> list[Outcome]:
        """Answer the questions of one request, together with those of others."""
        with self.waiting.admit(client, len(questions)):
            lanes = (self.light, self.heavy)
            chosen = [[one for one in questions if one.heavy is heavy] for heavy in (False, True)]
            futures = [
                lane.submit(some) if some else [] for lane, some in zip(lanes, chosen, strict=True)
            ]
            found = await gather([*futures[0], *futures[1]], self.settings.seconds)
        self.metrics.count_batches(self.light.take_sizes() + self.heavy.take_sizes())
        by_question = dict(zip(map(id, [*chosen[0], *chosen[1]]), found, strict=True))
        return [by_question[id(one)] for one in questions]

    async def call(self, run: Callable[[], Found], client: str) -> Found:
        """Run something that takes the model, one at a time."""
        with self.waiting.admit(client, 1):
            [found] = await gather(self.calls.submit([run]), self.settings.seconds)
        if isinstance(found, NqeError):
            raise found
        result: Found = found
        return result

    def close(self) -> None:
        """End the threads."""
        for lane in (self.light, self.heavy, self.calls):
            lane.close()

    def _answer(self, questions: Sequence[Question]) -> list[Outcome]:
        """Answer each question by the service that it is bound to, nearly always the same one."""
        outcomes: dict[int, Outcome] = {}
        for service in dict.fromkeys(one.service for one in questions):
            own = [one for one in questions if one.service is service]
            outcomes |= zip(map(id, own), service.answer(own), strict=True)
        return [outcomes[id(one)] for one in questions]


def _run_calls(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """The result of each call, or the error that a user caused."""
    found: list[Any] = []
    for call in calls:
        try:
            found.append(call())
        except NqeError as error:
            found.append(error)
    return found

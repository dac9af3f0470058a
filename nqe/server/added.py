"""Facts added while the server runs: the log on the disk, and the service that knows them."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nqe.errors import NqeError
from nqe.graph.added_facts import add_facts
from nqe.graph.dataset import Dataset
from nqe.graph.fact_log import FactLog
from nqe.server import wire
from nqe.server.service import Service


class AddedFacts:
    """The facts that a log adds to the graph of a service.

    A fact is on the disk before it is known, and known before whoever added it is told so.
    """

    def __init__(self, base: Service, path: Path) -> None:
        source = base.answerer.source
        if not isinstance(source, Dataset):
            raise NqeError("facts can be added to a data set only; serve a graph folder or a RUN")
        self._base, self._dataset = base, source
        self._log = FactLog(path, source.fingerprint)
        self._changing = threading.Lock()
        with self._log.hold():  # which makes the file, or refuses one of another graph
            pass
        self.service = self._apply() if self._log.facts else base

    def replay(self) -> bool:
        """Apply what other processes appended; whether that was anything."""
        with self._changing:
            if not self._log.read():
                return False
            self.service = self._apply()
            return True

    def add(self, given: wire.GivenFacts) -> dict[str, Any]:
        """Add facts; gives those that were added, with their numbers."""
        with self._changing:
            with self._log.hold():
                if self._log.read():
                    self.service = self._apply()
                facts = [self.service.read_fact(one, given.new_names) for one in given.facts]
                numbers = self._log.add(facts)
            self.service = self._apply()
            return self._tell(numbers)

    def take_back(self, number: int) -> dict[str, Any]:
        """Take a fact back; gives the facts that are left."""
        with self._changing:
            with self._log.hold():
                self._log.read()
                self._log.take_back(number)
            self.service = self._apply()
            return self._tell(list(self._log.facts))

    def list_all(self) -> dict[str, Any]:
        """All facts that were added and not taken back."""
        with self._changing:
            return self._tell(list(self._log.facts))

    def _apply(self) -> Service:
        """The service that knows all facts of the log."""
        dataset = add_facts(self._dataset, list(self._log.facts.values()))
        return self._base.with_answerer(self._base.answerer.with_source(dataset))

    def _tell(self, numbers: Sequence[int]) -> dict[str, Any]:
        replies = self.service.replies
        told = [{"number": one, **replies.fact(self._log.facts[one])} for one in numbers]
        return {"facts": told, "count": len(self.service.graph)}

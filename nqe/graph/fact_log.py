"""A log of facts that were added to a graph after it was saved, and of those taken back.

It is a file of JSON lines. The first line names the graph, by its fingerprint. Each other line adds
a fact under a number, or takes one back. A line counts once it has its line end, so what a killed
process left half-written counts for nothing. One process writes at a time; the others read what it
appended.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nqe.errors import NqeError, StorageError
from nqe.files import raise_storage_errors
from nqe.graph.builder import check_id
from nqe.graph.fact import Fact
from nqe.graph.vocabulary import ENTITY
from nqe.locks import hold_lock

FORMAT, VERSION = "nqe-added-facts", 1
LOCK_ENDING = ".lock"
PATIENCE = 10.0
"""Seconds to wait for another process that writes."""


@dataclass
class FactLog:
    """The facts that a log adds, by their numbers."""

    path: Path
    fingerprint: str
    """That of the graph to which the facts are added."""
    facts: dict[int, Fact] = field(default_factory=dict)
    _read_to: int = 0
    """How many bytes of the file are read."""
    _next: int = 1

    def read(self) -> bool:
        """Read what was appended since the last time; whether anything was."""
        if not self.path.exists():
            return False
        with raise_storage_errors(self.path), self.path.open("rb") as file:
            file.seek(self._read_to)
            new = file.read()
        lines = new.split(b"\n")[:-1]
        for line in lines:
            self._take(line)
            self._read_to += len(line) + 1
        return bool(lines)

    def add(self, facts: Sequence[Fact]) -> list[int]:
        """Append facts, and return their numbers when they are safe on the disk."""
        for fact in facts:
            _check_fact(fact)
        numbers = list(range(self._next, self._next + len(facts)))
        self._append(
            {"add": number, "fact": _to_json(fact)}
            for number, fact in zip(numbers, facts, strict=True)
        )
        return numbers

    def take_back(self, number: int) -> Fact:
        """Take a fact back, and return it when that is safe on the disk."""
        if number not in self.facts:
            raise NqeError(f"no added fact has the number {number}; list those that there are")
        fact = self.facts[number]
        self._append([{"remove": number}])
        return fact

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Be the one process that writes, within the block; what was half-written is cut off."""
        lock = self.path.with_name(self.path.name + LOCK_ENDING)
        with raise_storage_errors(self.path), hold_lock(lock, self.path, PATIENCE):
            self.read()
            if not self.path.exists():
                head = {"format": FORMAT, "version": VERSION, "fingerprint": self.fingerprint}
                self._write([head])
            elif self.path.stat().st_size > self._read_to:
                os.truncate(self.path, self._read_to)
            yield

    def _append(self, entries: Any) -> None:
        with raise_storage_errors(self.path):
            self._write(entries)
        self.read()

    def _write(self, entries: Any) -> None:
        """Append lines in one piece, and wait until the disk has them."""
        text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
        with self.path.open("ab") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())

    def _take(self, line: bytes) -> None:
        """Take in one line."""
        try:
            entry = json.loads(line)
            if self._read_to == 0:
                self._check_head(entry)
            elif "add" in entry:
                number = int(entry["add"])
                self.facts[number] = _from_json(entry["fact"])
                self._next = max(self._next, number + 1)
            else:
                del self.facts[int(entry["remove"])]
        except (ValueError, KeyError, TypeError) as error:
            raise StorageError(
                f"{self.path}: damaged at byte {self._read_to:,} ({error}); restore the file, or "
                "cut it there"
            ) from error

    def _check_head(self, entry: Mapping[str, Any]) -> None:
        if entry.get("format") != FORMAT or entry.get("version") != VERSION:
            raise StorageError(
                f"{self.path}: not a log of added facts of version {VERSION}; choose another file"
            )
        if entry.get("fingerprint") != self.fingerprint:
            raise StorageError(
                f"{self.path}: adds facts to another graph (fingerprint {entry['fingerprint']}) "
                f"than this one ({self.fingerprint}); choose another file"
            )


def _check_fact(fact: Fact) -> None:
    """Refuse ids that a graph could not hold."""
    for name in (fact.subject, fact.object, *(value for _, value in fact.qualifiers)):
        check_id(name, ENTITY)
    for name in (fact.relation, *(attribute for attribute, _ in fact.qualifiers)):
        check_id(name, "relation")


def _to_json(fact: Fact) -> dict[str, Any]:
    return {
        "subject": fact.subject,
        "relation": fact.relation,
        "object": fact.object,
        "qualifiers": [list(pair) for pair in fact.qualifiers],
    }


def _from_json(data: Mapping[str, Any]) -> Fact:
    pairs = tuple((str(attribute), str(value)) for attribute, value in data["qualifiers"])
    return Fact(str(data["subject"]), str(data["relation"]), str(data["object"]), pairs)

"""What readers yield: facts, descriptions of ids, what is left out, and bad lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nqe.graph.fact import Fact
from nqe.graph.vocabulary import Description


@dataclass(frozen=True, slots=True)
class DescribedId:
    """The label, description and aliases that a source gives for an entity or relation."""

    id: str
    description: Description


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be used: what is wrong with it and what to do, and the line itself."""

    problem: str
    text: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that is left out on purpose and counted, by what it is (a plural noun)."""

    what: str
    language: str | None = None
    """That of a label."""


Record = Fact | DescribedId | BadLine | Skipped
Records = Iterator[tuple[int, Record]]
"""The records of one source, each with the number of its line."""

"""What readers yield: facts, descriptions of ids, and lines that hold neither."""

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


Record = Fact | DescribedId | BadLine
Records = Iterator[tuple[int, Record]]
"""The records of one source, each with the number of its line."""

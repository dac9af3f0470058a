"""What several tests use: types of fixtures, and the command line in a process of its own."""

from __future__ import annotations

from typing import Any, Protocol

from nqe.graph import Dataset


class ReadContent(Protocol):
    """Reads a content as if it stood in a file of that name."""

    def __call__(self, content: str | bytes, name: str = ..., **options: Any) -> Dataset: ...

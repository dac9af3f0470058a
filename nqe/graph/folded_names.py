"""An index of names that finds those that differ only in case, or in `_` for a space."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import methodcaller
from zlib import crc32

import numpy as np

from nqe.graph.array_file import Array


def to_spaces(name: str) -> str:
    """The name with a space in place of each `_`."""
    return name.replace("_", " ")


def fold(name: str) -> str:
    """The name regardless of case, and with a space in place of each `_`."""
    return to_spaces(name).casefold()


class FoldedNames:
    """Names by what they are when folded.

    It keeps checksums and not folded texts, which of a million names would take far more memory.
    Checksums are the same in every process, so that they can be saved.
    """

    def __init__(self, names: Sequence[str], checksums: Array, places: Array) -> None:
        self._names = names
        self.checksums, self.places = checksums, places
        """The checksums of all folded names, ascending, and the place of each name."""

    @classmethod
    def of(cls, names: Sequence[str]) -> FoldedNames:
        """Fold all names."""
        checksums = np.fromiter(_compute_checksums(names), np.uint32, len(names))
        order = np.argsort(checksums, kind="stable")
        return cls(names, checksums[order], order)

    def find(self, text: str) -> list[int]:
        """The positions of the names that are equal to the text when folded, ascending."""
        folded = fold(text)
        # Of the same type, as NumPy would copy all checksums otherwise.
        key = np.uint32(next(_compute_checksums([text])))
        first, last = (self.checksums.searchsorted(key, side) for side in ("left", "right"))
        places = sorted(self.places[first:last].tolist())
        return [place for place in places if fold(self._names[place]) == folded]


def _compute_checksums(names: Iterable[str]) -> Iterator[int]:
    # `map` over methods of strings takes half the time of a loop that calls `fold`.
    folded = map(str.casefold, map(methodcaller("replace", "_", " "), names))
    return map(crc32, map(methodcaller("encode", "utf-8", "surrogatepass"), folded))

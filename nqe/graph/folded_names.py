"""An index of names that finds those that differ only in case, or in `_` for a space."""

from __future__ import annotations

from collections.abc import Sequence
from operator import methodcaller

import numpy as np


def to_spaces(name: str) -> str:
    """The name with a space in place of each `_`."""
    return name.replace("_", " ")


def fold(name: str) -> str:
    """The name regardless of case, and with a space in place of each `_`."""
    return to_spaces(name).casefold()


class FoldedNames:
    """Names by what they are when folded.

    It keeps hashes and not folded texts, which of a million names would take far more memory.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        # `map` over methods of strings takes half the time of a loop that calls `fold`.
        folded = map(str.casefold, map(methodcaller("replace", "_", " "), names))
        hashes = np.fromiter(map(hash, folded), np.int64, len(names))
        self._order = np.argsort(hashes)
        self._hashes = hashes[self._order]

    def __reduce__(self) -> tuple[type[FoldedNames], tuple[Sequence[str]]]:
        # Another process has other hashes of texts.
        return FoldedNames, (self._names,)

    def find(self, text: str) -> list[int]:
        """The positions of the names that are equal to the text when folded, ascending."""
        folded = fold(text)
        key = hash(folded)
        first, last = (self._hashes.searchsorted(key, side) for side in ("left", "right"))
        places = sorted(self._order[first:last].tolist())
        return [place for place in places if fold(self._names[place]) == folded]

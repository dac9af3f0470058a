"""Remembers which lines were seen, in eight bytes for each."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from itertools import islice

import numpy as np
from numpy.typing import NDArray

_BATCH = 100_000


class SeenLines:
    """A set of lines, of which only hashes are kept.

    Among ten million different lines, the chance that any two are taken for one is 1 in 400,000.
    """

    def __init__(self, lines: Iterable[bytes] = ()) -> None:
        self._hashes = np.empty(0, np.uint64)
        remaining = iter(lines)
        while batch := list(islice(remaining, _BATCH)):
            self.add(batch)

    def add(self, lines: list[bytes]) -> list[bool]:
        """Add lines; tell of each whether it was new before this call."""
        hashes = np.array([_hash(line) for line in lines], np.uint64)
        is_new = ~self._contains(hashes)
        new: NDArray[np.uint64] = np.unique(hashes[is_new])
        self._hashes = np.insert(self._hashes, np.searchsorted(self._hashes, new), new)
        return [bool(one) for one in is_new]

    def _contains(self, hashes: NDArray[np.uint64]) -> NDArray[np.bool_]:
        if not len(self._hashes):
            return np.zeros(len(hashes), np.bool_)
        places = np.searchsorted(self._hashes, hashes).clip(max=len(self._hashes) - 1)
        found: NDArray[np.bool_] = self._hashes[places] == hashes
        return found


def _hash(line: bytes) -> int:
    return int.from_bytes(blake2b(line, digest_size=8).digest(), "little")

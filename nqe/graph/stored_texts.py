"""Texts in a mapped file: each is decoded when it is asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, overload

import numpy as np

from nqe.graph.array_file import Array
from nqe.graph.arrays import Integers
from nqe.graph.ragged import offsets

MANY = 8
"""When one text for each `MANY` was asked for, all of them are decoded and kept."""


def encode_texts(texts: Iterable[str]) -> tuple[Integers, Array]:
    """Where each text begins in the bytes of all of them, and those bytes."""
    encoded = [text.encode() for text in texts]
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return offsets(lengths), np.frombuffer(b"".join(encoded), np.uint8)


class StoredTexts(Sequence[str]):
    """Texts of which only the bytes are in memory, in a range of a larger list of texts."""

    def __init__(self, offset: Integers, data: Array) -> None:
        self._offset, self._data = offset, data
        self._asked = 0

    def __len__(self) -> int:
        return len(self._offset) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        """One text, or a list of texts."""
        self._asked += 1
        if "_all" in self.__dict__ or isinstance(place, slice) or self._asked * MANY > len(self):
            return self._all[place]
        if not -len(self) <= place < len(self):
            raise IndexError(f"there is no text {place}; there are {len(self)}")
        place = int(place) % len(self)
        return bytes(self._data[self._offset[place] : self._offset[place + 1]]).decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, StoredTexts):
            return self._list_bytes() == other._list_bytes()
        return isinstance(other, Sequence) and self._all == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._offset, self._data)

    def cut(self, first: int, last: int) -> StoredTexts:
        """The texts from one place up to another."""
        return StoredTexts(self._offset[first : last + 1], self._data)

    @cached_property
    def _all(self) -> list[str]:
        first, data = int(self._offset[0]), self._list_bytes()[1]
        bounds = pairwise((self._offset - first).tolist())
        return [data[start:end].decode() for start, end in bounds]

    def _list_bytes(self) -> tuple[list[int], bytes]:
        first, last = int(self._offset[0]), int(self._offset[-1])
        return (self._offset - first).tolist(), self._data[first:last].tobytes()


class StoredIds(StoredTexts):
    """Ids in a mapped file, sorted and each once, so that one is found by its text."""

    def find(self, text: str) -> int | None:
        """The place of an id, or None."""
        if "_all" in self.__dict__:
            return self._places.get(text)
        place = bisect_left(self, text)
        return place if place < len(self) and self[place] == text else None

    @cached_property
    def _places(self) -> dict[str, int]:
        return {text: place for place, text in enumerate(self._all)}


class SparseTexts(Sequence[str | None]):
    """One text or none for each number; only those that exist are stored."""

    def __init__(self, count: int, owner: Array, texts: StoredTexts) -> None:
        self._count, self._owner, self._texts = count, owner, texts

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> str | None: ...
    @overload
    def __getitem__(self, number: slice) -> list[str | None]: ...
    def __getitem__(self, number: int | slice) -> str | list[str | None] | None:
        """The text of one number, or of several."""
        if isinstance(number, slice):
            return self._all[number]
        if not -self._count <= number < self._count:
            raise IndexError(f"there is no number {number}; there are {self._count}")
        number = int(number) % self._count
        # Of the same type, as NumPy would copy all owners otherwise.
        place = int(self._owner.searchsorted(self._owner.dtype.type(number)))
        found = place < len(self._owner) and self._owner[place] == number
        return self._texts[place] if found else None

    def __iter__(self) -> Iterator[str | None]:
        return iter(self._all)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._all == list(other)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def _all(self) -> list[str | None]:
        texts: list[str | None] = [None] * self._count
        for number, text in zip(self._owner.tolist(), self._texts, strict=True):
            texts[number] = text
        return texts


class StoredAliases(Mapping[int, tuple[str, ...]]):
    """The aliases of those numbers that have some."""

    def __init__(self, owner: Array, texts: StoredTexts) -> None:
        self._owner, self._texts = owner, texts

    def __getitem__(self, number: int) -> tuple[str, ...]:
        key = self._owner.dtype.type(number)
        first, last = (int(self._owner.searchsorted(key, side)) for side in ("left", "right"))
        if first == last:
            raise KeyError(number)
        return tuple(self._texts[place] for place in range(first, last))

    def __iter__(self) -> Iterator[int]:
        return iter(np.unique(self._owner).tolist())

    def __len__(self) -> int:
        return len(np.unique(self._owner))

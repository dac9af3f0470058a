"""Search for similar spellings: edit distances from one text to many words at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nqe.graph.arrays import Integers


def compute_edit_distances(text: str, words: Sequence[str]) -> Integers:
    """The edit distance (insert, delete, replace, swap neighbours) from a text to each word."""
    width = max(map(len, words), default=0)
    if not width:
        return np.full(len(words), len(text), dtype=np.int64)
    letters = np.array(words, dtype=f"U{width}").view(np.uint32).reshape(len(words), width)
    before = previous = np.broadcast_to(np.arange(width + 1), (len(words), width + 1))
    for row, letter in enumerate(map(ord, text)):
        current = np.empty_like(previous)  # (words, width + 1)
        current[:, 0] = row + 1
        different = letters != letter
        np.minimum(previous[:, :-1] + different, previous[:, 1:] + 1, out=current[:, 1:])
        if row:
            swapped = (letters[:, :-1] == letter) & (letters[:, 1:] == ord(text[row - 1]))
            swap = np.where(swapped, before[:, :-2] + 1, width + len(text))
            np.minimum(current[:, 2:], swap, out=current[:, 2:])
        # An insertion chain: current[j] = min over i <= j of current[i] + (j - i).
        steps = np.arange(width + 1)
        current = np.minimum.accumulate(current - steps, axis=1) + steps
        before, previous = previous, current
    lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
    distances: Integers = previous[np.arange(len(words)), lengths]
    return distances


def find_nearest_words(text: str, words: Sequence[str], count: int) -> list[int]:
    """Positions of at most `count` words spelt like the text, nearest first.

    Words that differ in more than a third of the text's letters are left out.
    """
    farthest = max(1, len(text) // 3)
    close = [i for i, word in enumerate(words) if abs(len(word) - len(text)) <= farthest]
    folded = text.casefold()
    distances = compute_edit_distances(folded, [words[i].casefold() for i in close])
    order = np.argsort(distances, kind="stable")
    return [close[i] for i in order[:count] if distances[i] <= farthest]

"""Looks up many numbers in a long sorted array, all of them one step at a time.

NumPy looks up one number after another. In a long array it then waits for memory in every step of
every number, and the processor guesses half of the comparisons wrongly; together, none of both
matters.
"""

from __future__ import annotations

import numpy as np

from nqe.graph.arrays import Integers

# Fewer numbers, and shorter arrays, are left to NumPy.
_MANY, _LONG = 1_000, 2**18


def find_ranges(ordered: Integers, values: Integers) -> tuple[Integers, Integers]:
    """Where each value starts in a sorted array, and how often it stands there."""
    if len(values) < _MANY:
        starts = ordered.searchsorted(values)
        return starts, ordered.searchsorted(values, side="right") - starts
    starts = find_places(ordered, values)
    return starts, find_places(ordered, values + 1) - starts


def find_places(ordered: Integers, values: Integers) -> Integers:
    """How many numbers of a sorted array are less than each value; the same as `searchsorted`."""
    if len(values) < _MANY or len(ordered) < _LONG:
        return ordered.searchsorted(values)
    places = np.zeros(len(values), dtype=np.int64)
    step = 1 << (len(ordered).bit_length() - 1)
    while step:
        # A place after the last one is clipped; if that number is less as well, all are.
        places += (ordered.take(places + (step - 1), mode="clip") < values) * step
        step >>= 1
    return np.minimum(places, len(ordered))

"""Many look-ups in a long sorted array give what NumPy gives."""

from __future__ import annotations

import numpy as np
import pytest

from nqe.graph.sorted_search import find_places, find_ranges

LONG = 300_000


@pytest.mark.parametrize("size", [0, 1, 1_000, 2**18 - 1, 2**18, 2**18 + 1, LONG])
@pytest.mark.parametrize("count", [0, 1, 5_000])
@pytest.mark.parametrize("span", [1, 50, 10**12])
def test_places_and_ranges_are_those_of_numpy(size: int, count: int, span: int) -> None:
    rng = np.random.default_rng(size + count)
    ordered = np.sort(rng.integers(-span, span, size))
    values = rng.integers(-span - 2, span + 2, count)
    first, last = ordered.searchsorted(values), ordered.searchsorted(values, side="right")
    assert np.array_equal(find_places(ordered, values), first)
    starts, lengths = find_ranges(ordered, values)
    assert np.array_equal(starts, first)
    assert np.array_equal(lengths, last - first)

"""The 14 kinds of edges between the elements of a fact."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor

EDGES = (
    "self",
    "s-r",
    "s-o",
    "s-a",
    "s-v",
    "r-o",
    "r-a",
    "r-v",
    "o-a",
    "o-v",
    "a_i-v_i",
    "a_i-a_j",
    "a_i-v_j",
    "v_i-v_j",
)
_ELEMENTS = "sro"


@lru_cache(maxsize=64)
def edge_kinds(arity: int) -> Tensor:
    """The kind of edge between any two elements of [s, r, o, a1, v1, a2, v2, …].

    The matrix of a shorter fact is the upper left corner of that of a longer one.
    """
    length = 2 * arity - 1
    rows = [[EDGES.index(_edge(i, j)) for j in range(length)] for i in range(length)]
    return torch.tensor(rows)  # (elements, elements)


def _edge(i: int, j: int) -> str:
    if i == j:
        return "self"
    first, last = sorted((i, j))
    if last < 3:
        return f"{_ELEMENTS[first]}-{_ELEMENTS[last]}"
    if first < 3:
        return f"{_ELEMENTS[first]}-{_part(last)}"
    if _part(first) == _part(last):
        return f"{_part(first)}_i-{_part(last)}_j"
    return "a_i-v_i" if last == first + 1 and _part(first) == "a" else "a_i-v_j"


def _part(place: int) -> str:
    return "a" if place % 2 else "v"

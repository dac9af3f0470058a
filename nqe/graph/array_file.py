"""A file of named arrays that is mapped into memory, so that processes share it.

The arrays stand one after another, each at a multiple of 64 bytes. What they are and where they
stand is a table that the caller keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

ALIGNMENT = 64
TYPES = {"int64": "<i8", "int32": "<i4", "uint32": "<u4", "int8": "|i1", "uint8": "|u1"}
TYPES |= {"float64": "<f8"}
"""How the types of arrays that a file may hold are written, least significant byte first."""
Array = np.ndarray[Any, np.dtype[Any]]
Table = dict[str, list[Any]]
"""For each array its type, the byte that it begins at, and how many numbers it has."""


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> Table:
    """Write arrays of one dimension into a file; gives the table that `read_arrays` needs."""
    table: Table = {}
    with path.open("wb") as file:
        for name, array in arrays.items():
            file.write(bytes(-file.tell() % ALIGNMENT))
            table[name] = [array.dtype.name, file.tell(), len(array)]
            file.write(np.ascontiguousarray(array, dtype=TYPES[array.dtype.name]).data)
    return table


def read_arrays(data: Any, table: Mapping[str, Any]) -> dict[str, Array]:
    """The arrays of a file, as views of its bytes; a table that does not fit is a ValueError."""
    arrays = {}
    for name, (kind, first, count) in table.items():
        fits = type(first) is type(count) is int and min(first, count) >= 0
        if kind not in TYPES or not fits or first % ALIGNMENT:
            raise ValueError(f"there can be no array '{name:.60}'")
        arrays[name] = np.frombuffer(data, TYPES[kind], count, first)
    return arrays

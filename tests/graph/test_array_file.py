"""Files of arrays: what is read is what was written, and tables that do not fit are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nqe.graph.array_file import ALIGNMENT, TYPES, read_arrays, write_arrays


def test_arrays_of_all_types_are_read_as_written(tmp_path: Path) -> None:
    arrays = {name: np.arange(n, dtype=name) for n, name in enumerate(TYPES)}
    table = write_arrays(tmp_path / "arrays", arrays)
    found = read_arrays((tmp_path / "arrays").read_bytes(), table)
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert found[name].tolist() == array.tolist()
        assert table[name][1] % ALIGNMENT == 0


@pytest.mark.parametrize(
    "entry",
    [
        ["object", 0, 1],
        ["int64", 1, 1],
        ["int64", -64, 1],
        ["int64", 0, -1],
        ["int64", 0, 9],
        ["int64", 640, 1],
        [1],
    ],
)
def test_a_table_that_does_not_fit_is_refused(entry: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        read_arrays(bytes(64), {"one": entry})

"""The literals of a vocabulary as a table of a graph folder: one row per literal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from nqe.graph.literal_columns import NO_LITERAL, LiteralColumns
from nqe.graph.literals import ENDING, KINDS

LITERAL_SCHEMA = pa.schema(
    [
        ("entity", pa.int32()),
        ("kind", pa.string()),
        ("value", pa.float64()),
        ("until", pa.float64()),
    ]
)


def to_table(literals: LiteralColumns) -> Any:
    """The rows of all literals, in the order of their numbers; the values of texts are null."""
    entity = np.flatnonzero(literals.kind != NO_LITERAL)
    kinds = np.array(KINDS)[literals.kind[entity]]
    values = (pa.array(column[entity], from_pandas=True) for column in _list_values(literals))
    return pa.Table.from_arrays(
        [pa.array(entity, pa.int32()), pa.array(kinds, pa.string()), *values],
        schema=LITERAL_SCHEMA,
    )


def from_table(table: Any, ids: Sequence[str]) -> LiteralColumns:
    """The columns of all entities; a table that does not fit the ids is a ValueError."""
    entity = table.column("entity").to_numpy()
    written = compute.match_substring_regex(pa.array(ids, pa.string()), ENDING)
    if not np.array_equal(entity, np.flatnonzero(written.to_numpy(zero_copy_only=False))):
        raise ValueError("the literals are not those of the entities")
    kind = compute.index_in(table.column("kind"), value_set=pa.array(KINDS))
    if kind.null_count:
        raise ValueError("a literal has an unknown kind")
    columns = LiteralColumns.empty(len(ids))
    columns.kind[entity] = kind.to_numpy()
    for name, column in zip(("value", "until"), _list_values(columns), strict=True):
        column[entity] = table.column(name).to_numpy()
    if np.isnan(columns.value).tolist() != np.isnan(columns.until).tolist():
        raise ValueError("a literal has half a value")
    return columns


def _list_values(literals: LiteralColumns) -> tuple[Any, Any]:
    return literals.value, literals.until

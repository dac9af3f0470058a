"""Assignments against all permutations of the columns."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from nqe.graph.assignment import assign, assign_first, find_columns, list_columns

COLUMNS = 5
tables = st.lists(st.integers(0, 2**COLUMNS - 1), max_size=4)


def all_assignments(rows: list[int]) -> list[tuple[int, ...]]:
    ways = permutations(range(COLUMNS), len(rows))
    return [way for way in ways if all(row >> c & 1 for row, c in zip(rows, way, strict=True))]


@given(tables)
def test_an_assignment_is_found_if_there_is_one(rows: list[int]) -> None:
    ways, found = all_assignments(rows), assign(rows)
    assert (found is None) == (not ways)
    assert found is None or tuple(found) in ways


@given(tables)
def test_the_first_assignment_is_the_first_in_the_order_of_columns(rows: list[int]) -> None:
    ways, found = all_assignments(rows), assign_first(rows)
    assert (None if found is None else tuple(found)) == min(ways, default=None)


@given(tables.filter(len), st.data())
def test_the_columns_of_a_row_are_those_that_it_has_in_any_assignment(
    rows: list[int], data: st.DataObject
) -> None:
    asked = data.draw(st.integers(0, len(rows) - 1))
    expected = sorted({way[asked] for way in all_assignments(rows)})
    assert list(list_columns(find_columns(rows, asked))) == expected

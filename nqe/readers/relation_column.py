"""Rows without a header: whether it is clear which of their columns are relations."""

from __future__ import annotations

from collections.abc import Sequence

from nqe.readers.header import FEWEST, KINDS, MANY, repeats
from nqe.text_format import MAIN_COLUMNS

# The largest share of different cells in a long column of attributes.
MOST_DIFFERENT = 0.75
# Kinds of cells that neither relations nor entities are.
VALUES = ("number", "date")


def is_relation_first(rows: Sequence[Sequence[str]]) -> bool | None:
    """Whether the relation is the first of tab-separated cells and not the second; None if unclear.

    A relation varies less than entities. Statements have an odd number of parts. Rows of an even
    number may be quadruples such as subject, relation, object and time, most likely if all of them
    are equally long.
    """
    widths = {len(row) for row in rows}
    is_even = all(width % 2 == 0 for width in widths)
    first, second = (len({row[place] for row in rows if len(row) > 1}) for place in (0, 1))
    if is_even and len(widths) > 1:
        return True if first <= second else None
    if is_even:
        is_clear = 2 * first <= second and not _holds_values([row[-1] for row in rows])
        return True if is_clear else None
    return None if first == second else first < second


def has_one_even_width(rows: Sequence[Sequence[str]]) -> bool:
    """Whether all of several rows have the same even number of cells, which no statement has."""
    return len(rows) > 1 and len(rows[0]) % 2 == 0 and len({len(row) for row in rows}) == 1


def may_be_statements(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the columns of relations and attributes vary as such do, where rows are alike.

    Rows of different lengths have qualifiers, as no rows of tables do.
    """
    if len(rows) < FEWEST or len(rows[0]) < 3 or len({len(row) for row in rows}) > 1:
        return True
    subjects, relations, objects, *rest = zip(*rows, strict=True)
    if repeats(objects) and not repeats(subjects) and not repeats(relations) and len(rows) >= MANY:
        return False
    return all(map(_may_be_attributes, rest[::2], rest[1::2]))


def suggest_names(rows: Sequence[Sequence[str]]) -> list[str]:
    """Names for the columns of rows that are as long as the first.

    Of the inner columns, the one that varies least is taken for the relation. Subject and object
    stand beside it.
    """
    width = len(rows[0])
    alike = [row for row in rows if len(row) == width]
    inner = range(1, width - 1)
    place = min(inner, key=lambda at: len({row[at] for row in alike}), default=1)
    names = [f"column_{number}" for number in range(1, width + 1)]
    names[place - 1 : place + 2] = MAIN_COLUMNS
    return names


def _may_be_attributes(column: Sequence[str], values: Sequence[str]) -> bool:
    if len(set(column)) > len(set(values)) or _holds_values(column):
        return False
    return len(column) < MANY or len(set(column)) <= MOST_DIFFERENT * len(column)


def _holds_values(column: Sequence[str]) -> bool:
    kinds = [KINDS[kind] for kind in VALUES]
    return all(any(kind.fullmatch(cell) for kind in kinds) for cell in column)

"""The values of all literals of a vocabulary in columns: one row per entity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from nqe.graph.arrays import Integers
from nqe.graph.literals import KINDS, Literal, is_literal_id, parse_id
from nqe.graph.number_values import Number

NO_LITERAL = -1
"""The kind of an entity that is not a literal."""


class Labelled(Protocol):
    """What gives an id a label."""

    @property
    def label(self) -> str | None: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class LiteralColumns:
    """The kind and the value of every entity."""

    kind: npt.NDArray[np.int8]
    """The place of its kind in `KINDS`, or `NO_LITERAL`."""
    value: npt.NDArray[np.float64]
    """What it sorts by among its kind: a number, or the day on which a time begins; NaN if none."""
    until: npt.NDArray[np.float64]
    """Where a time or a band of numbers ends; the value itself for a number."""

    @classmethod
    def empty(cls, entity_count: int) -> LiteralColumns:
        """The columns of entities that are no literals."""
        kind = np.full(entity_count, NO_LITERAL, dtype=np.int8)
        return cls(kind, np.full(entity_count, np.nan), np.full(entity_count, np.nan))

    @classmethod
    def of(cls, literals: Mapping[int, Literal], entity_count: int) -> LiteralColumns:
        """The columns of literals by the numbers of their entities."""
        columns = cls.empty(entity_count)
        for number, literal in literals.items():
            columns.kind[number] = KINDS.index(literal.kind)
            bounds = literal.bounds
            if bounds is not None:
                columns.value[number], columns.until[number] = bounds
        return columns

    def find(self, kind: str) -> Integers:
        """The numbers of all literals of a kind."""
        return np.flatnonzero(self.kind == KINDS.index(kind))

    def count(self) -> dict[str, int]:
        """How many literals of each kind there are."""
        return {kind: len(self.find(kind)) for kind in KINDS}


def find_literals(ids: Sequence[str]) -> dict[int, Literal]:
    """The literals among some ids, by their numbers."""
    return {number: _parse(name) for number, name in enumerate(ids) if is_literal_id(name)}


def name_units(
    ids: Sequence[str],
    literals: LiteralColumns,
    descriptions: Mapping[str, Labelled],
    labels: list[str | None],
) -> None:
    """Write the labels of units into the labels of numbers: `5 metre` in place of `5 Q11573`."""
    for number in literals.find(Number.kind).tolist():
        literal = _parse(ids[number])
        if not isinstance(literal, Number) or labels[number] != literal.shown:
            continue
        if literal.unit and literal.unit in descriptions:
            labels[number] = literal.show_in(descriptions[literal.unit].label or literal.unit)


def find_units(
    ids: Sequence[str], labels: Sequence[str | None], literals: LiteralColumns | None
) -> dict[str, str]:
    """The units of all numbers, by themselves and by the names that the labels give them."""
    found: dict[str, str] = {}
    names: dict[str, str] = {}
    seen: set[str] = set()
    for number in [] if literals is None else literals.find(Number.kind).tolist():
        written = ids[number].partition(" ")[2]
        if not written or written in seen:
            continue
        seen.add(written)
        literal = _parse(ids[number])
        if isinstance(literal, Number) and literal.unit:
            found[literal.unit] = literal.unit
            shown = (labels[number] or "").removeprefix(f"{literal.show_in(None)} ")
            names.setdefault(shown, literal.unit)
    return names | found


def list_units(ids: Sequence[str], literals: LiteralColumns | None) -> set[str]:
    """The units of all numbers."""
    numbers = [] if literals is None else literals.find(Number.kind).tolist()
    found = (_parse(ids[number]) for number in numbers)
    return {one.unit for one in found if isinstance(one, Number) and one.unit}


def is_shown_form(name: str, label: str | None) -> bool:
    """Whether a label is nothing but what an id is shown as that is written for a literal."""
    return label is not None and is_literal_id(name) and _parse(name).shown == label


def _parse(name: str) -> Literal:
    literal = parse_id(name)
    if literal is None:
        raise ValueError(f"'{name}' is no literal")
    return literal

"""The type `Rows`: the exact answers of a join plan, one row for each combination of targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from nqe.errors import NqeError
from nqe.graph.arrays import Integers
from nqe.graph.binding_table import BindingTable
from nqe.graph.entity_set import EntitySet
from nqe.graph.fact_source import FactSource
from nqe.graph.vocabulary import Names
from nqe.query.join_plan import BoundComparison, JoinPlan
from nqe.query.join_runner import run_joins
from nqe.query.misplaced_names import describe_misplaced_in_joins
from nqe.query.reason import Reason
from nqe.query.row_proof import prove_row
from nqe.shown_text import make_visible

Name = int | np.integer[Any] | str
"""The number, id or label of an entity or a relation."""
Row = tuple[str | int, ...]
"""Ids or labels, one per target; then the count, if the query counts."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The answers of a plan, in the order of their ids, and the graph that they come from."""

    plan: JoinPlan
    graph: FactSource
    numbers: tuple[Integers, ...]
    """One column per target: the numbers of entities, or of relations."""
    counts: Integers | None = None
    """How many there are of the counted variable, for each row; None if the query counts none."""
    skipped: Mapping[BoundComparison, int] | None = None
    """How many values, or pairs of them, have no order, so that a comparison skipped them."""
    max_bindings: int | None = None
    """The most facts that each step was allowed to look at; it holds for proofs as well."""

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Notes about the query: how names were read, and what can have no effect or no answer."""
        misplaced = describe_misplaced_in_joins(self.plan, self.graph)
        has_literals = self.graph.vocabulary.entities.literals is not None
        describe = _describe_skipped if has_literals else _describe_entities
        skipped = (describe(*one) for one in (self.skipped or {}).items())
        return (*self.plan.warnings, *misplaced, *skipped)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns: those of the targets, and `count` if the query counts."""
        return self.plan.columns

    @property
    def rows(self) -> list[Row]:
        """The rows in ids."""
        columns = [
            [names.ids[number] for number in column.tolist()]
            for names, column in zip(self.names, self.numbers, strict=True)
        ]
        return self._join(columns)

    @property
    def label_rows(self) -> list[Row]:
        """The rows in labels; what has no label is shown by its id."""
        columns = [
            [names.name(number) for number in column.tolist()]
            for names, column in zip(self.names, self.numbers, strict=True)
        ]
        return self._join(columns)

    def _join(self, columns: Sequence[Sequence[str]]) -> list[Row]:
        counts = () if self.counts is None else (self.counts.tolist(),)
        return list(zip(*columns, *counts, strict=True))

    @property
    def names(self) -> tuple[Names, ...]:
        """Where the names of each column are: those of entities or of relations."""
        return self.plan.find_names(self.graph.vocabulary)

    def take(self, order: Integers) -> Rows:
        """The rows in these places, in this order."""
        numbers = tuple(column[order] for column in self.numbers)
        return replace(
            self, numbers=numbers, counts=None if self.counts is None else self.counts[order]
        )

    @property
    def answers(self) -> Integers:
        """The numbers of what answers a query of one target, in the order of their ids."""
        self._check_single()
        return self.numbers[0]

    @property
    def members(self) -> EntitySet:
        """The entities that answer a query of one target, as a set."""
        if not self.plan.is_single:
            asked = ", ".join(self.columns)
            raise NqeError(f"the answers are not single entities but {asked}; ask for one variable")
        return EntitySet(np.sort(self.answers))

    @property
    def ids(self) -> list[str]:
        """The ids of what answers a query of one target."""
        self._check_single()
        return [str(row[0]) for row in self.rows]

    @property
    def labels(self) -> list[str]:
        """The labels of what answers a query of one target, or the id of what has none."""
        self._check_single()
        return [str(row[0]) for row in self.label_rows]

    @property
    def _is_column(self) -> bool:
        """Whether the query asks for one variable and counts none, so that answers are no rows."""
        return len(self.numbers) == 1 and self.counts is None

    def _check_single(self) -> None:
        if not self._is_column:
            asked = ", ".join(self.columns)
            raise NqeError(f"the answers are rows of {asked}, not single entities; use `rows`")

    def proof(self, row: Name | Sequence[Name]) -> Reason:
        """Why a row is an answer: the number, id or label of what stands for each target."""
        given = (row,) if isinstance(row, int | np.integer | str) else tuple(row)
        if len(given) != len(self.numbers):
            raise NqeError(
                f"a row has {len(self.numbers)} targets, not {len(given)}; give each one"
            )
        numbers = [names.to_number(one) for names, one in zip(self.names, given, strict=True)]
        return prove_row(self.plan, self.graph, numbers, self.max_bindings)

    def __repr__(self) -> str:
        shown = ", ".join(" ".join(map(str, row)) for row in self.label_rows[:5])
        more = ", …" if len(self) > 5 else ""
        return f"<Rows: {len(self):,} of {', '.join(self.columns)}: {make_visible(shown)}{more}>"

    def __len__(self) -> int:
        return len(self.numbers[0]) if self.numbers else 1

    def __iter__(self) -> Iterator[Any]:
        """The rows in ids; plain ids if the query asks for one variable."""
        return iter(self.ids if self._is_column else self.rows)


def find_rows(plan: JoinPlan, graph: FactSource, max_bindings: int | None = None) -> Rows:
    """The rows of a plan."""
    found = run_joins(plan, graph, max_bindings)
    table, counts = _count(plan, found.rows)
    numbers = tuple(table.columns[one] for one in plan.targets)
    rows = Rows(plan, graph, numbers, counts, found.skipped, max_bindings)
    # The rows that were found are in the order of their numbers.
    is_sorted = all(names.is_in_order for names in rows.names)
    return rows if is_sorted else rows.take(_sort(rows.names, numbers))


def _count(plan: JoinPlan, found: BindingTable) -> tuple[BindingTable, Integers | None]:
    """The rows of the targets, and how many rows were found for each if the plan counts."""
    if plan.counted is None:
        return found, None
    targets = found.keep(plan.targets)
    if not plan.targets:
        return targets, np.array([len(found)])
    table, places = targets.group()
    return table, np.bincount(places, minlength=len(table))


def _sort(names: Sequence[Names], numbers: Sequence[Integers]) -> Integers:
    """The order of rows by their ids, the first column first."""
    keys = [one.id_order[column] for one, column in zip(names, numbers, strict=True)]
    return np.lexsort(keys[::-1]) if keys else np.arange(1)


def _describe_skipped(comparison: BoundComparison, count: int) -> str:
    ending = "" if count == 1 else "s"
    if len(comparison.variables) > 1:
        return f"{comparison.text} skipped {count:,} pair{ending} of another kind or unit each"
    return f"{comparison.text} skipped {count:,} value{ending} of another kind or unit"


def _describe_entities(comparison: BoundComparison, count: int) -> str:
    what = "value" if len(comparison.variables) == 1 else "pair"
    return (
        f"{comparison.text} skipped {count:,} {what}{'' if count == 1 else 's'}: this graph has no "
        "times, numbers or texts to compare, only entities; for those of a table, name its columns "
        "as `literals` in a mapping"
    )

"""Many queries with their answers as flat columns, without one Python object per query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.ragged import Ragged
from nqe.graph.ragged import concatenate as concatenate_rows
from nqe.query.step_table import StepTable


@dataclass(frozen=True, eq=False)
class QueryTable:
    """The plans of queries, and their answers.

    Training queries have only easy answers, and may have kept only some of them; `answer_count`
    counts all of them. `missing` belongs to `hard`: the number of facts that an answer needs and
    that are not known, or -1 if it was not counted.
    """

    shape: tuple[str, ...]  # (queries,)
    plans: StepTable
    easy: Ragged  # (answers,)
    hard: Ragged  # (answers,)
    missing: Ragged  # (answers,)
    answer_count: Integers  # (queries,)

    @classmethod
    def of(
        cls,
        shape: tuple[str, ...],
        plans: StepTable,
        easy: Ragged,
        hard: Ragged | None = None,
        missing: Integers | int = -1,
    ) -> QueryTable:
        """Build a table; `missing` is one number, or one per hard answer."""
        hard = Ragged.empty(len(shape)) if hard is None else hard
        links = np.full(len(hard.values), missing, dtype=np.int64)
        count = easy.lengths + hard.lengths
        return cls(shape, plans, easy, hard, Ragged(hard.offset, links), count)

    def __len__(self) -> int:
        return len(self.shape)

    def take(self, rows: Integers) -> QueryTable:
        """Return the given queries, in the given order."""
        return QueryTable(
            tuple(map(self.shape.__getitem__, rows.tolist())),
            self.plans.take(rows),
            self.easy.take(rows),
            self.hard.take(rows),
            self.missing.take(rows),
            self.answer_count[rows],
        )

    def with_answers(self, easy: Ragged, hard: Ragged, missing: Integers | int = -1) -> QueryTable:
        """Return the same queries with other answers."""
        return QueryTable.of(self.shape, self.plans, easy, hard, missing)

    def with_easy(self, easy: Ragged) -> QueryTable:
        """Return the same queries with other easy answers; `answer_count` stays."""
        return replace(self, easy=easy)


def concatenate(tables: Iterable[QueryTable]) -> QueryTable:
    """Join the queries of several tables."""
    tables = list(tables)
    if not tables:
        return empty()
    return QueryTable(
        tuple(chain.from_iterable(table.shape for table in tables)),
        StepTable.concatenate([table.plans for table in tables]),
        concatenate_rows([table.easy for table in tables]),
        concatenate_rows([table.hard for table in tables]),
        concatenate_rows([table.missing for table in tables]),
        np.concatenate([table.answer_count for table in tables]),
    )


def empty() -> QueryTable:
    """Return a table without queries."""
    return QueryTable.of((), StepTable.of([]), Ragged.empty(0))

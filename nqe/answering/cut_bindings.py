"""Bindings of the variables of a cut, with the probability of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nqe.graph.arrays import Integers
from nqe.query.formula import Variable

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CutBindings:
    """What some variables are bound to, with the probability of each binding."""

    columns: Mapping[Variable, Integers]  # each (bindings,)
    weight: Floats  # (bindings,)

    @classmethod
    def unit(cls) -> CutBindings:
        """The one way to bind no variable at all."""
        return cls({}, np.ones(1))

    def __len__(self) -> int:
        return len(self.weight)

    def row(self, number: int) -> dict[Variable, int]:
        """What the variables are bound to in one row."""
        return {name: int(column[number]) for name, column in self.columns.items()}

    def extend(
        self, rows: Integers, variable: Variable, values: Integers, weight: Floats
    ) -> CutBindings:
        """Some rows, each with a further variable and another probability."""
        columns = {name: column[rows] for name, column in self.columns.items()}
        return CutBindings({**columns, variable: values}, weight)

    def project(self, variables: Sequence[Variable]) -> Integers:
        """The columns of some variables side by side, (bindings, variables)."""
        columns = [self.columns[one] for one in variables]
        return np.stack(columns, axis=1) if columns else np.zeros((len(self), 0), dtype=np.int64)

    def group(self, variables: Sequence[Variable]) -> tuple[Integers, Integers]:
        """The first row of each combination of some variables, and which one each row has."""
        if not variables:
            return np.zeros(min(1, len(self)), dtype=np.int64), np.zeros(len(self), dtype=np.int64)
        table = self.project(variables)
        _, first, place = np.unique(table, axis=0, return_index=True, return_inverse=True)
        return first, place.reshape(-1)

    def find_next(self, stated: Integers) -> tuple[Integers, Integers]:
        """The rows that a table of bindings goes on with, and its distinct next values for each."""
        width = len(self.columns)
        known = np.unique(stated[:, : width + 1], axis=0)
        own = self.project(tuple(self.columns))
        both = np.concatenate([own, known[:, :width]])
        if not width:
            return np.zeros(len(known), dtype=np.int64), known[:, 0]
        _, place = np.unique(both, axis=0, return_inverse=True)
        place = place.reshape(-1)
        row_of = np.full(len(both), -1)
        row_of[place[: len(own)]] = np.arange(len(own))
        rows = row_of[place[len(own) :]]
        return rows[rows >= 0], known[rows >= 0, width]

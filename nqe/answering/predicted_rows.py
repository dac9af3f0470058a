"""Rows with probabilities: the hybrid answers of a query that is no tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nqe.answering.cut_runner import CutRunner
from nqe.answering.fuzzy_set import FuzzySet
from nqe.answering.hybrid import JOINS
from nqe.answering.neural import NeuralEngine
from nqe.answering.probability import MAX_PREDICTED
from nqe.errors import NqeError
from nqe.graph.arrays import Booleans, Integers
from nqe.graph.fact_source import FactSource
from nqe.query.cut import Cut, NoCut, Same
from nqe.query.cut_search import find_cut
from nqe.query.formula import Variable
from nqe.query.join_binder import bind_joins
from nqe.query.join_plan import JoinPlan, list_atoms, list_negated
from nqe.query.query_graph import QueryGraph
from nqe.query.rows import Rows, find_rows
from nqe.query.scope import Scope

Floats = npt.NDArray[np.float64]

MOST_STATED = 2_000
"""With a `not`, every way in which facts state a row is asked about, and at most this many."""


@dataclass(frozen=True, eq=False)
class PredictedRows:
    """Rows that may be answers, in no order."""

    columns: tuple[Integers, ...]
    """One column per target."""
    probability: Floats  # (rows,)
    known: Booleans  # (rows,)
    """Whether the known facts state each row."""

    def __len__(self) -> int:
        return len(self.probability)

    def keep(self, chosen: Booleans) -> PredictedRows:
        """The chosen rows."""
        return self.take(np.flatnonzero(chosen))

    def take(self, order: Integers) -> PredictedRows:
        """The rows in these places, in this order."""
        columns = tuple(one[order] for one in self.columns)
        return PredictedRows(columns, self.probability[order], self.known[order])

    def find(self, row: Sequence[int]) -> int:
        """The place of a row; behind the last one if it is not there."""
        is_it = np.ones(len(self), dtype=bool)
        for column, number in zip(self.columns, row, strict=True):
            is_it &= column == number
        return int(is_it.argmax()) if is_it.any() else len(self)

    def to_set(self) -> FuzzySet:
        """The entities of a single target as a fuzzy set."""
        [entities] = self.columns
        order = entities.argsort()
        return FuzzySet(entities[order], self.probability[order])


def predict_rows(plan: JoinPlan, stated: Rows, engine: NeuralEngine) -> PredictedRows:
    """The rows of a plan, given those that facts state."""
    cut = cut_plan(plan)
    is_certain = not any(any(list_atoms(scope)) for scope in list_negated(plan.scope))
    graph = stated.graph
    kept = None if is_certain else _find_stated_bindings(plan, cut, graph, stated.max_bindings)
    bindings = CutRunner(cut, engine, kept).run()
    found = bindings.project(plan.graph.targets)
    table = np.concatenate([found, np.stack(stated.numbers, axis=1)])
    rows, place = np.unique(table, axis=0, return_inverse=True)
    place = place.reshape(-1)
    known = np.zeros(len(rows), dtype=bool)
    known[place[len(found) :]] = True
    keys, joined = JOINS[engine.options.join](place[: len(found)], bindings.weight, len(rows))
    probability = np.zeros(len(rows))
    probability[keys] = np.minimum(joined, MAX_PREDICTED)
    least = engine.options.least
    probability[known] = 1.0 if is_certain else np.maximum(probability[known], least)
    every = PredictedRows(tuple(rows.T), probability, known)
    return every.keep(probability >= least)


def cut_plan(plan: JoinPlan) -> Cut:
    """The cut of a plan; an error says why there is none."""
    if plan.counted is not None:
        raise plan.refuse("which only exact answers can do", "use --mode exact")
    try:
        return find_cut(plan.graph)
    except NoCut as error:
        why = f"and {error}, so predictions cannot answer it"
        raise plan.refuse(why, "use --mode exact") from error


def _find_stated_bindings(
    plan: JoinPlan, cut: Cut, graph: FactSource, max_bindings: int | None
) -> Integers:
    """What the facts bind the variables of a cut to, (bindings, variables)."""
    query = plan.graph
    own = {*query.targets, *query.scope.variables}
    asked = [one for one in cut.order if one in own]
    others = tuple(one for one in query.scope.variables if one not in asked)
    scope = Scope(others, query.scope.conditions)
    wider = bind_joins(QueryGraph(tuple(asked), scope), graph.vocabulary, plan.reason)
    found = find_rows(wider, graph, max_bindings)
    if len(found) > MOST_STATED:
        raise NqeError(
            f"the facts state {len(found):,} ways to the rows of this question with a `not`, more "
            f"than the {MOST_STATED:,} that predictions are asked about; name more entities, or "
            "ask for exact answers"
        )
    columns = dict(zip(asked, found.numbers, strict=True))
    return _add_copies(cut, columns, graph, len(found))


def _add_copies(
    cut: Cut, columns: dict[Variable, Integers], graph: FactSource, count: int
) -> Integers:
    """The columns of all variables of a cut, of those too that stand for another one."""
    same = [one for step in cut.steps for one in step.filters if isinstance(one, Same)]
    for one in same:
        if isinstance(one.right, Variable):
            columns[one.left] = columns[one.right]
        else:
            number = graph.vocabulary.entities.resolve(one.right)
            columns[one.left] = np.full(count, number)
    return np.stack([columns[one] for one in cut.order], axis=1)

"""The exact runner: answers queries from facts alone, one at a time or many together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from typing import assert_never, overload

from nqe.graph.dataset import Dataset
from nqe.graph.entity_set import EntitySet
from nqe.graph.fact_source import FactSource
from nqe.query.binder import Question, bind
from nqe.query.exact_batch import run_many
from nqe.query.join_plan import JoinPlan
from nqe.query.plan import Op, Plan, Step
from nqe.query.result import Result
from nqe.query.rows import Rows, find_rows

MAX_BINDINGS = 50_000_000
"""The most facts that one step may look at by default."""


@overload
def execute(
    query: Plan, graph: FactSource | Dataset, *, max_bindings: int | None = MAX_BINDINGS
) -> Result: ...
@overload
def execute(
    query: Question, graph: FactSource | Dataset, *, max_bindings: int | None = MAX_BINDINGS
) -> Result | Rows: ...
def execute(
    query: Question, graph: FactSource | Dataset, *, max_bindings: int | None = MAX_BINDINGS
) -> Result | Rows:
    """The exact answers of a query over the facts of a graph or of all splits of a data set.

    They are a `Result` if the query is a tree, and otherwise `Rows`.
    """
    graph = graph.graph if isinstance(graph, Dataset) else graph
    plan = bind(query, graph)
    if isinstance(plan, JoinPlan):
        return find_rows(plan, graph, max_bindings)
    return Result(plan, graph, tuple(run(plan, graph, max_bindings)), max_bindings)


def execute_many(
    queries: Sequence[Question],
    graph: FactSource | Dataset,
    *,
    max_bindings: int | None = MAX_BINDINGS,
) -> list[Result | Rows]:
    """The exact answers of many queries; those that are trees are computed together."""
    graph = graph.graph if isinstance(graph, Dataset) else graph
    plans = [bind(query, graph) for query in queries]
    trees = iter(
        execute_trees([one for one in plans if isinstance(one, Plan)], graph, max_bindings)
    )
    return [
        find_rows(plan, graph, max_bindings) if isinstance(plan, JoinPlan) else next(trees)
        for plan in plans
    ]


def execute_trees(
    plans: Sequence[Plan], graph: FactSource, max_bindings: int | None
) -> list[Result]:
    """The exact answers of many tree plans, which are computed together."""
    sets = run_many(plans, graph, max_bindings).sets()
    results, first = [], 0
    for plan in plans:
        last = first + len(plan.steps)
        results.append(Result(plan, graph, tuple(sets[first:last]), max_bindings))
        first = last
    return results


def run(plan: Plan, graph: FactSource, max_bindings: int | None = None) -> list[EntitySet]:
    """The set of every step of one plan."""
    sets: list[EntitySet] = []
    for step, ready in zip(plan.steps, plan.patterns, strict=True):
        if ready is not None:
            sets.append(graph.match_one(ready, max_bindings))
            continue
        inputs = [sets[i] for i in step.inputs]
        if step.op == Op.PROJECTION:
            sets.append(graph.match_one(step.pattern(inputs), max_bindings))
        else:
            sets.append(_combine(step, inputs))
    return sets


def _combine(step: Step, inputs: Sequence[EntitySet]) -> EntitySet:
    """The set of a step that looks at no facts."""
    match step.op:
        case Op.AND:
            return reduce(and_, inputs)
        case Op.OR:
            return reduce(or_, inputs)
        case Op.NOT:
            return inputs[0].complement()
        case Op.ANY:
            return EntitySet.everything()
        case Op.PROJECTION:
            raise ValueError("a projection is answered by facts, not by its inputs alone")
        case _:
            assert_never(step.op)

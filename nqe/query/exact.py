"""Exact answers: run plans over a graph, one at a time or many together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Any

import numpy as np

from nqe.errors import NqeError
from nqe.graph import match_one
from nqe.graph.arrays import Integers
from nqe.graph.dataset import Dataset
from nqe.graph.entity_set import EntitySet
from nqe.graph.graph import Graph
from nqe.graph.pattern import Pattern, Restriction
from nqe.query.formula import Query
from nqe.query.plan import Op, Plan, Step, bind

if TYPE_CHECKING:
    from nqe.query.proof import Proof

Question = Query | Plan | str | Mapping[str, Any]
"""A query as a tree, a plan, text, JSON text or JSON data."""

# A step may look at so many facts; beyond that it stops with a clear error.
MAX_BINDINGS = 50_000_000


@dataclass(frozen=True, eq=False)
class Result:
    """The answers of a plan: a set for every step, and the graph they come from."""

    plan: Plan
    graph: Graph
    sets: tuple[EntitySet, ...]

    @property
    def answers(self) -> Integers:
        """The entities that answer the query, ascending."""
        return self.sets[-1].to_array(self.graph.entity_count)

    @property
    def ids(self) -> list[str]:
        """The ids of the answers."""
        ids = self.graph.vocabulary.entities.ids
        return [ids[entity] for entity in self.answers.tolist()]

    @property
    def labels(self) -> list[str]:
        """The answers as a person calls them."""
        return [self.graph.vocabulary.entities.name(entity) for entity in self.answers.tolist()]

    def __repr__(self) -> str:
        shown = ", ".join(self.labels[:5]) + (", …" if len(self) > 5 else "")
        return f"<Result: {len(self):,} answers: {shown}>"

    def __len__(self) -> int:
        return self.sets[-1].count_members(self.graph.entity_count)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def proof(self, entity: int | np.integer[Any] | str) -> Proof:
        """Why an entity (its number, id or label) is an answer, step by step."""
        from nqe.query.proof import prove

        return prove(self, self.graph.vocabulary.entities.to_number(entity))


def execute(
    query: Question, graph: Graph | Dataset, *, max_bindings: int | None = MAX_BINDINGS
) -> Result:
    """The exact answers of a query over the facts of a graph."""
    graph = graph.graph if isinstance(graph, Dataset) else graph
    plan = plan_of(query, graph)
    return Result(plan, graph, tuple(run(plan, graph, max_bindings)))


def execute_many(
    queries: Sequence[Question],
    graph: Graph | Dataset,
    *,
    max_bindings: int | None = MAX_BINDINGS,
) -> list[Result]:
    """The exact answers of many queries, all worked on together."""
    from nqe.query.exact_batch import run_many

    graph = graph.graph if isinstance(graph, Dataset) else graph
    plans = [plan_of(query, graph) for query in queries]
    sets = run_many(plans, graph, max_bindings).sets()
    results, first = [], 0
    for plan in plans:
        last = first + len(plan.steps)
        results.append(Result(plan, graph, tuple(sets[first:last])))
        first = last
    return results


def plan_of(query: Question, graph: Graph) -> Plan:
    """The plan of a question; one that is bound already must fit the graph."""
    if not isinstance(query, Plan):
        return bind(query, graph.vocabulary)
    entity, relation = query.largest
    if entity >= graph.entity_count or relation >= graph.relation_count:
        raise NqeError("the plan is bound to another graph's vocabulary; bind the query again")
    return query


def run(plan: Plan, graph: Graph, max_bindings: int | None = None) -> list[EntitySet]:
    """The set of every step of one plan."""
    sets: list[EntitySet] = []
    index = graph.index
    for step, ready in zip(plan.steps, plan.patterns, strict=True):
        if ready is not None:
            sets.append(match_one.answers(index, ready, max_bindings))
            continue
        inputs = [sets[i] for i in step.inputs]
        match step.op:
            case Op.PROJECTION:
                pattern = filled_pattern(step, inputs)
                sets.append(match_one.answers(index, pattern, max_bindings))
            case Op.AND:
                sets.append(reduce(and_, inputs))
            case Op.OR:
                sets.append(reduce(or_, inputs))
            case Op.NOT:
                sets.append(inputs[0].complement())
            case Op.ANY:
                sets.append(EntitySet.everything())
    return sets


def filled_pattern(step: Step, inputs: Sequence[EntitySet]) -> Pattern:
    """The pattern of a projection, its inputs' sets in their slots."""
    slots: list[Restriction] = list(step.slots)
    for place, entities in zip(step.filled, inputs, strict=True):
        slots[place] = entities
    return Pattern(step.relation, tuple(slots), step.attributes, step.asked, step.closed)

"""The binder: resolves the names of a query in a vocabulary, which turns it into a plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from nqe.errors import NameLookupError, NqeError, QueryError
from nqe.graph.dataset import Dataset
from nqe.graph.fact_source import FactSource
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.query.algebra import (
    Anything,
    Conjunction,
    Disjunction,
    Negation,
    Operator,
    Projection,
    is_complement,
)
from nqe.query.compared_values import read_value, write_value
from nqe.query.compiler import NoTree, compile_tree
from nqe.query.join_binder import bind_joins
from nqe.query.join_plan import JoinPlan
from nqe.query.limits import show_value
from nqe.query.plan import Op, Plan, PlanBuilder
from nqe.query.query import Query, parse
from nqe.query.query_graph import QueryGraph
from nqe.query.readings import describe_readings
from nqe.query.renaming import Renaming

BoundPlan = Plan | JoinPlan
"""A query with its names resolved to numbers: a `Plan` if it is a tree, otherwise a `JoinPlan`."""
_PLANS = (Plan, JoinPlan)  # quicker to check for than a union
Question = Query | BoundPlan | str | Mapping[str, Any]
"""A query in any form: a `Query`, a plan, text, JSON text or JSON data."""

_COMPLEMENT = (
    "the query does not say what its answers are, only what they are not, so nearly every "
    "entity is one; add something they are"
)


def bind(query: Question, vocabulary: Vocabulary | FactSource | Dataset) -> BoundPlan:
    """The plan of a query over a vocabulary; a plan is returned as it is, if it fits."""
    names = vocabulary if isinstance(vocabulary, Vocabulary) else vocabulary.vocabulary
    if isinstance(query, _PLANS):
        return _check_fits(query, names)
    graph = read_query(query).graph
    try:
        return _bind_tree(graph, names)
    except NoTree as error:
        return _bind_joins(graph, names, error.reason)


def bind_tree(query: Question, vocabulary: Vocabulary | FactSource | Dataset) -> Plan:
    """The plan of a query that is a tree; for any other, an error says why it is none."""
    plan = bind(query, vocabulary)
    if isinstance(plan, JoinPlan):
        raise plan.refuse("and only trees are taken here", "ask it with `nqe ask`")
    return plan


def bind_ids(graph: QueryGraph, vocabulary: Vocabulary) -> Plan:
    """The plan of a query graph in ids that is a tree, without notes about it."""
    builder = PlanBuilder()
    _bind(compile_tree(graph), builder, vocabulary)
    return builder.finish()


def _bind_joins(graph: QueryGraph, names: Vocabulary, reason: str) -> JoinPlan:
    """The join plan of a query graph; `reason` says why it is no tree."""
    resolved = resolve_graph(graph, names)
    return bind_joins(resolved, names, reason, describe_readings(graph, names))


def _bind_tree(graph: QueryGraph, names: Vocabulary) -> Plan:
    tree = compile_tree(graph)
    builder = PlanBuilder()
    _bind(tree, builder, names)
    complement = (_COMPLEMENT,) if is_complement(tree) else ()
    return builder.finish((*complement, *describe_readings(graph, names)))


def read_query(query: Query | str | Mapping[str, Any]) -> Query:
    """The query that text, JSON text or JSON data describes; a `Query` is returned as it is."""
    if isinstance(query, Query):
        return query
    if isinstance(query, str):
        return Query.from_json(query) if query.lstrip().startswith("{") else parse(query)
    if isinstance(query, Mapping):
        return Query.from_json(query)
    raise QueryError(
        f"a query is text, JSON or a Query, not {type(query).__name__} {show_value(query)}"
    )


def resolve_graph(graph: QueryGraph, vocabulary: Vocabulary) -> QueryGraph:
    """The query graph with every name replaced by the id that it stands for."""
    entities, relations = vocabulary.entities, vocabulary.relations
    renaming = Renaming(
        entity=lambda name: entities.ids[_resolve(entities, name)],
        relation=lambda name: relations.ids[_resolve(relations, name)],
        value=lambda text, operator: write_value(
            read_value(text, operator, entities), text, entities
        ),
    )
    return renaming.apply(graph)


def _check_fits(plan: BoundPlan, vocabulary: Vocabulary) -> BoundPlan:
    entity, relation = plan.largest
    if entity >= len(vocabulary.entities) or relation >= len(vocabulary.relations):
        raise NqeError("the plan is bound to another graph's vocabulary; bind the query again")
    return plan


def _bind(operator: Operator, builder: PlanBuilder, vocabulary: Vocabulary) -> int:
    """Add the steps of an operator; gives the number of the last one."""
    match operator:
        case Projection():
            return _bind_projection(operator, builder, vocabulary)
        case Conjunction():
            op = Op.AND
        case Disjunction():
            op = Op.OR
        case Negation():
            op = Op.NOT
        case Anything():
            op = Op.ANY
        case _:
            assert_never(operator)
    inputs = tuple(_bind(one, builder, vocabulary) for one in operator.inputs)
    return builder.add_connective(op, operator.variable, inputs)


def _bind_projection(operator: Projection, builder: PlanBuilder, vocabulary: Vocabulary) -> int:
    relation = _resolve(vocabulary.relations, operator.relation)
    attributes = tuple(_resolve(vocabulary.relations, name) for name in operator.attributes)
    slots: list[int | None] = []
    inputs: list[tuple[int, int]] = []
    for place, slot in enumerate(operator.slots):
        slots.append(_resolve(vocabulary.entities, slot) if isinstance(slot, str) else None)
        if slot is not None and not isinstance(slot, str):
            inputs.append((place, _bind(slot, builder, vocabulary)))
    return builder.add_projection(
        operator.variable,
        relation,
        attributes,
        tuple(slots),
        operator.asked,
        operator.closed,
        tuple(inputs),
    )


def _resolve(names: Names, text: str) -> int:
    try:
        return names.resolve(text)
    except NameLookupError as error:
        raise QueryError(str(error)) from error

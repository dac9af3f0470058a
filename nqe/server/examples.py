"""Questions to begin with, drawn from the facts of the graph that is served."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from nqe.errors import NqeError
from nqe.graph.fact import Fact
from nqe.graph.graph import Graph
from nqe.query.binder import bind
from nqe.query.formula import And, Atom, Formula, Not, Variable
from nqe.query.labelled import label_query
from nqe.query.query import Query

MOST = 8
DRAWN = 400
"""The number of facts that are looked at."""
SUBJECTS = 40
"""The facts are about this many entities."""
_X, _Y = Variable("x"), Variable("y")


def draw_examples(graph: Graph) -> list[str]:
    """At most eight questions of different kinds, of different facts; the same for a graph."""
    found: dict[str, str] = {}
    for fact in _choose_facts(graph):
        for kind, query in _list_queries(graph, fact):
            if kind not in found and _can_be_asked(query, graph):
                found[kind] = str(label_query(query, graph.vocabulary))
                break
        if len(found) >= MOST:
            break
    return list(found.values())


def _can_be_asked(query: Query, graph: Graph) -> bool:
    try:
        bind(query, graph)
    except NqeError:
        return False
    return True


def _list_queries(graph: Graph, fact: Fact) -> Iterator[tuple[str, Query]]:
    """Queries of different kinds that a fact answers."""
    for kind, formula in _list_formulas(graph, fact):
        yield kind, Query(_X, formula)
    for other in _list_others(graph, fact.subject, fact):
        between = (Atom(fact.relation, _X, _Y), Atom(other.relation, _X, other.object))
        yield "pairs", Query((_X, _Y), And(between))
    yield "count", Query((), Atom(fact.relation, _X, fact.object), _X)


def _list_formulas(graph: Graph, fact: Fact) -> Iterator[tuple[str, Formula]]:
    """Formulas of different kinds that the subject, the object or a value of a fact answers."""
    yield "object", Atom(fact.relation, fact.subject, _X)
    if fact.qualifiers:
        attribute, _ = fact.qualifiers[0]
        yield "value", Atom(fact.relation, fact.subject, fact.object, ((attribute, _X),))
    for other in _list_others(graph, fact.subject, fact):
        first, second = (Atom(one.relation, _X, one.object) for one in (fact, other))
        chain = (Atom(other.relation, _Y, other.object), Atom(fact.relation, _Y, _X))
        yield "both", And((first, second))
        yield "chain", And(chain)
        yield "but not", And((first, Not(second)))
    if fact.qualifiers:
        yield "with value", Atom(fact.relation, _X, fact.object, fact.qualifiers[:1])


def _choose_facts(graph: Graph) -> Iterator[Fact]:
    """Facts of the entities that facts are most about, those with qualifiers first."""
    facts = graph.facts
    if not len(graph):
        return
    about = np.bincount(facts.subject, minlength=graph.entity_count)
    known = np.argsort(-about, kind="stable")[:SUBJECTS]
    rows = np.flatnonzero(np.isin(facts.subject, known))
    rows = np.random.default_rng(0).permutation(rows)[:DRAWN]
    has_qualifiers = facts.qualifier_count[rows] > 0
    seen: set[tuple[str, str]] = set()
    for row in rows[np.argsort(~has_qualifiers, kind="stable")].tolist():
        fact = graph.fact(row)
        if not seen & {("relation", fact.relation), ("subject", fact.subject)}:
            seen |= {("relation", fact.relation), ("subject", fact.subject)}
            yield fact


def _list_others(graph: Graph, entity: str, fact: Fact) -> Iterator[Fact]:
    """A few facts about the same subject with other relations."""
    number = graph.vocabulary.entities.number(entity)
    assert number is not None, "a fact's names are in the graph's vocabulary"
    for row in graph.mentions(number)[:20].tolist():
        other = graph.fact(row)
        if other.subject == entity and other.relation != fact.relation:
            yield other

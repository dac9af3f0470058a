"""A variable of its own for every slot of a query, and which of them stand for the same entity."""

from __future__ import annotations

from dataclasses import replace

from nqe.query.cut import Same
from nqe.query.formula import Atom, Variable
from nqe.query.query_graph import QueryGraph
from nqe.query.scope import Condition, Scope
from nqe.query.subtrees import make_name


def separate_slots(graph: QueryGraph) -> tuple[QueryGraph, tuple[Same, ...]]:
    """The query with a variable of its own in each slot, and those that are the same entity."""
    used = {name.name for one in graph.scope.conditions for name in one.variables}
    conditions: list[Condition] = []
    same: list[Same] = []
    for condition in graph.scope.conditions:
        if isinstance(condition, Atom):
            atom, found = _separate_atom(condition, used)
            conditions.append(atom)
            same += found
        else:
            conditions.append(condition)
    if not same:
        return graph, ()
    own = (*graph.scope.variables, *(one.left for one in same))
    return QueryGraph(graph.targets, Scope(own, tuple(conditions))), tuple(same)


def _separate_atom(atom: Atom, used: set[str]) -> tuple[Atom, list[Same]]:
    """An atom in which no variable stands twice, and which has an entity to ask for."""
    same: list[Same] = []
    seen: set[Variable] = set()
    terms: list[Variable | str] = []
    is_known = isinstance(atom.relation, Variable) and not any(
        isinstance(term, Variable) for term in atom.terms
    )
    for place, term in enumerate(atom.terms):
        if term in seen or (is_known and place == 1):
            same.append(Same(make_name(term, used), term))
            terms.append(same[-1].left)
        else:
            terms.append(term)
        if isinstance(term, Variable):
            seen.add(term)
    if not same:
        return atom, []
    subject, object_, *values = terms
    pairs = tuple(zip(atom.attributes, values, strict=True))
    return replace(atom, subject=subject, object=object_, qualifiers=pairs), same

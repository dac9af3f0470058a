"""The search for the best cut of a query: few variables, and first those that names restrict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice, permutations

from nqe.errors import QueryError
from nqe.query.cut import PLACEHOLDER, Cut, CutStep, Filter, NoCut, Same
from nqe.query.formula import Variable
from nqe.query.query_graph import QueryGraph
from nqe.query.repeated_slots import separate_slots
from nqe.query.scope import Branches, Condition, Negated, Scope, is_comparison
from nqe.query.subtrees import make_tree

_MOST_ORDERS, _MOST_BOUND = 150, 6
"""At most this many orders are tried for each number of variables, and at most this many variables
are bound besides those that must be."""


def find_cut(graph: QueryGraph, first: Sequence[Variable] = ()) -> Cut:
    """The best cut of a query that counts nothing; `first` are variables to begin with."""
    graph, same = separate_slots(graph)
    best = min(_list_cuts(graph, same, tuple(first)), key=_rate, default=None)
    if best is None:
        raise NoCut("no variable can be bound so that trees are left")
    return best


def find_scope_cut(scope: Scope, bound: Sequence[Variable]) -> Cut:
    """The cut of a nested scope that begins with all that is bound, apart from the last one."""
    free = [one for one in bound if one in scope.free]
    return find_cut(QueryGraph(tuple(free), scope), free[:-1])


def _list_cuts(graph: QueryGraph, same: Sequence[Same], first: tuple[Variable, ...]) -> list[Cut]:
    """The cuts with the fewest variables."""
    filters = (*filter(is_comparison, graph.scope.conditions), *same)
    needed = dict.fromkeys(
        (*first, *graph.targets, *(name for one in filters for name in one.variables))
    )
    needed |= dict.fromkeys(_list_relation_variables(graph))
    others = [one for one in graph.scope.variables if one not in needed]
    for size in range(min(len(others), _MOST_BOUND) + 1):
        orders = (
            order
            for more in combinations(others, size)
            for order in _list_orders((*needed, *more), graph, first)
        )
        tried = (_make_cut(graph, order, filters) for order in islice(orders, _MOST_ORDERS))
        found = [cut for cut in tried if cut is not None]
        if found:
            return found
    return []


def _list_relation_variables(graph: QueryGraph) -> Iterator[Variable]:
    """The variables for relations that stand outside of every `not` and `or`."""
    bound = {*graph.targets, *graph.scope.variables}
    return (one for one in sorted(graph.relation_variables, key=str) if one in bound)


def _list_orders(
    names: tuple[Variable, ...], graph: QueryGraph, first: tuple[Variable, ...]
) -> Iterator[tuple[Variable, ...]]:
    """The orders of some variables: relations first, and an entity last, a target if possible."""
    relations = tuple(one for one in names if one in graph.relation_variables and one not in first)
    entities = [one for one in names if one not in graph.relation_variables and one not in first]
    targets = [one for one in entities if one in graph.targets]
    begin = (*first, *relations)
    if not entities:
        yield begin
    for last in targets or entities:
        rest = [one for one in entities if one != last]
        for order in permutations(rest):
            yield (*begin, *order, last)


def _make_cut(
    graph: QueryGraph, order: tuple[Variable, ...], filters: Sequence[Filter]
) -> Cut | None:
    """The cut that binds variables in an order; None if that leaves no trees."""
    places = {name: place for place, name in enumerate(order)}
    groups = _group(graph.scope, places)
    steps = []
    for place, variable in enumerate(order):
        own = [group for group in groups if _find_last(group, places) == place]
        later = [group for group in groups if _find_last(group, places) > place]
        step = _make_step(graph, variable, own, later, order[:place])
        if step is None:
            return None
        found = (one for one in filters if max(places[n] for n in one.variables) == place)
        steps.append(replace(step, filters=tuple(found)))
    return Cut(graph, tuple(steps))


def _make_step(
    graph: QueryGraph,
    variable: Variable,
    own: Sequence[Sequence[Condition]],
    later: Sequence[Sequence[Condition]],
    before: Sequence[Variable],
) -> CutStep | None:
    values = dict.fromkeys(before, PLACEHOLDER)
    tree: list[Condition] = []
    nested: list[Negated | Branches] = []
    for group in own:
        asked = make_tree(variable, group, values)
        match group:
            case _ if asked is not None and asked.is_tree:
                tree += group
            case [Negated() | Branches() as one] if _have_cuts(one, (*before, variable)):
                nested.append(one)
            case _:
                return None
    step = CutStep(variable, tuple(tree), tuple(nested), (), tuple(c for g in later for c in g))
    if variable in graph.relation_variables:
        return None if own else step
    is_restricted = tree or any(isinstance(one, Branches) for one in nested)
    return step if is_restricted or step.ask_loosely(values) is not None else None


def _have_cuts(condition: Negated | Branches, bound: Sequence[Variable]) -> bool:
    """Whether each scope of a `not` or an `or` has a cut, once some variables are bound."""
    scopes = (condition.scope,) if isinstance(condition, Negated) else condition.scopes
    try:
        for scope in scopes:
            if not all(map(is_comparison, scope.conditions)):
                find_scope_cut(scope, bound)
    except QueryError:
        return False
    return True


def _group(scope: Scope, bound: Iterable[Variable]) -> list[list[Condition]]:
    """Conditions, apart from comparisons, that variables which are not bound connect."""
    groups: list[tuple[set[Variable], list[Condition]]] = []
    for condition in scope.conditions:
        if is_comparison(condition):
            continue
        names, conditions = set(condition.variables).difference(bound), [condition]
        apart = []
        for group in groups:
            if names.isdisjoint(group[0]):
                apart.append(group)
            else:
                names |= group[0]
                conditions = group[1] + conditions
        groups = [*apart, (names, conditions)]
    return [conditions for _, conditions in groups]


def _find_last(group: Iterable[Condition], places: dict[Variable, int]) -> int:
    """The place of the last variable in the order that a group of conditions has."""
    return max(places.get(name, -1) for one in group for name in one.variables)


def _rate(cut: Cut) -> tuple[int, int]:
    """How good a cut is, the least being the best: early variables are restricted by names."""
    without = 0
    before: dict[Variable, str] = {}
    for step in cut.steps:
        if step.variable in cut.graph.relation_variables:
            before[step.variable] = PLACEHOLDER
            continue
        loose = step.ask_loosely(before)
        atoms = () if loose is None else tuple(loose.scope.list_atoms())
        named = sum(isinstance(term, str) for atom in atoms for term in atom.terms)
        without = 2 * without + (not named)
        before[step.variable] = PLACEHOLDER
    return without, sum(len(step.nested) for step in cut.steps)

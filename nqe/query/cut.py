"""Cuts: the order in which variables of a query are bound, so that what is left are trees.

A query that is no tree becomes one when entities take the place of some of its variables. A cut
names these variables, in the order in which they are bound, and a target that comes last. Each
variable is restricted by trees in which it is the only unknown that is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice, permutations
from typing import TypeGuard, assert_never

from nqe.errors import QueryError
from nqe.query.formula import Atom, Comparison, Variable
from nqe.query.query_graph import QueryGraph
from nqe.query.scope import Branches, Condition, Negated, Scope
from nqe.query.substitution import Values, substitute, substitute_in_atom

_PLACEHOLDER = "-"
"""Stands for what a variable is bound to, while a cut is looked for."""
_MOST_ORDERS, _MOST_BOUND = 500, 6
"""At most this many orders are tried for each number of variables, and at most this many variables
are bound besides those that must be."""


class NoCut(QueryError):
    """No cut makes trees of a query."""


@dataclass(frozen=True)
class Same:
    """Two variables, or a variable and an id, that stand for the same entity."""

    left: Variable
    right: Variable | str

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Its variables."""
        return (self.left, self.right) if isinstance(self.right, Variable) else (self.left,)


Filter = Comparison | Negated | Branches | Same
"""What keeps some of the entities that a variable may stand for; it has no atoms."""


@dataclass(frozen=True)
class CutStep:
    """What restricts one variable, once those before it are bound."""

    variable: Variable
    tree: tuple[Condition, ...]
    """Conditions that are a tree whose target is the variable."""
    nested: tuple[Negated | Branches, ...]
    """A `not` or an `or` that is no tree; each needs a cut of its own."""
    filters: tuple[Filter, ...]
    later: tuple[Condition, ...]
    """Conditions that also need variables that are bound later, or are no condition of a tree."""

    @property
    def uses(self) -> frozenset[Variable]:
        """The variables that its own conditions have, the variable itself included."""
        return frozenset(name for one in (*self.tree, *self.nested) for name in one.variables)

    def ask(self, values: Values) -> QueryGraph | None:
        """The tree for what the variables before are bound to; None without a condition."""
        return make_tree(self.variable, self.tree, values) if self.tree else None

    def ask_loosely(self, values: Values) -> QueryGraph | None:
        """A tree that holds wherever the whole query does, and maybe elsewhere.

        Variables that would close a cycle are taken for different ones, and what cannot be said
        by a tree is left out. None if nothing is left.
        """
        parts = (_substitute_if_possible(one, values) for one in (*self.tree, *self.later))
        possible = tuple(one for one in parts if one is not None)
        conditions = tuple(_loosen(self.variable, possible))
        return make_tree(self.variable, conditions, {}) if conditions else None


@dataclass(frozen=True)
class Cut:
    """The variables of a query in the order in which they are bound, and what restricts each."""

    graph: QueryGraph
    """The query, with a variable of its own in every slot."""
    steps: tuple[CutStep, ...]

    @property
    def order(self) -> tuple[Variable, ...]:
        """The variables in the order in which they are bound."""
        return tuple(step.variable for step in self.steps)


def find_cut(graph: QueryGraph, first: Sequence[Variable] = ()) -> Cut:
    """The best cut of a query that counts nothing; `first` are variables to begin with."""
    graph, same = _separate(graph)
    best = min(_list_cuts(graph, same, tuple(first)), key=_rate, default=None)
    if best is None:
        raise NoCut("no variable can be bound so that trees are left")
    return best


def find_scope_cut(scope: Scope, bound: Sequence[Variable]) -> Cut:
    """The cut of a nested scope that begins with all that is bound, apart from the last one."""
    free = [one for one in bound if one in scope.free]
    return find_cut(QueryGraph(tuple(free), scope), free[:-1])


def make_tree(
    target: Variable, conditions: Sequence[Condition], values: Values
) -> QueryGraph | None:
    """The query of conditions with one target, in which values replace variables, if it is one."""
    try:
        parts = tuple(substitute(one, values) for one in conditions)
        names = dict.fromkeys(name for one in parts for name in one.variables)
        return QueryGraph((target,), Scope(tuple(n for n in names if n != target), parts))
    except QueryError:
        return None


def is_comparison(condition: Condition) -> TypeGuard[Comparison | Negated | Branches]:
    """Whether a condition compares, and has no atoms."""
    match condition:
        case Atom():
            return False
        case Comparison():
            return True
        case Negated(scope):
            return all(map(is_comparison, scope.conditions))
        case Branches(scopes):
            return all(is_comparison(one) for scope in scopes for one in scope.conditions)
        case _:
            assert_never(condition)


# Looking for cuts


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
    values = dict.fromkeys(before, _PLACEHOLDER)
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
            before[step.variable] = _PLACEHOLDER
            continue
        loose = step.ask_loosely(before)
        atoms = () if loose is None else tuple(loose.scope.list_atoms())
        named = sum(isinstance(term, str) for atom in atoms for term in atom.terms)
        without = 2 * without + (not named)
        before[step.variable] = _PLACEHOLDER
    return without, sum(len(step.nested) for step in cut.steps)


# Preparing queries


def _separate(graph: QueryGraph) -> tuple[QueryGraph, tuple[Same, ...]]:
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
            same.append(Same(_make_name(term, used), term))
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


def _make_name(term: Variable | str, used: set[str]) -> Variable:
    """A new variable, named after the one whose place it takes."""
    stem = term.name if isinstance(term, Variable) else "known"
    number = 2
    while f"{stem}_{number}" in used:
        number += 1
    used.add(f"{stem}_{number}")
    return Variable(f"{stem}_{number}")


# Loosening


def _substitute_if_possible(condition: Condition, values: Values) -> Condition | None:
    try:
        return substitute(condition, values)
    except QueryError:
        return None


def _loosen(target: Variable, conditions: Sequence[Condition]) -> Iterator[Condition]:
    """The conditions as a tree, from the target on, without those that no tree can have."""
    used = {name.name for one in conditions for name in one.variables}
    reached, waiting = {target}, [target]
    left = list(conditions)
    while waiting:
        variable = waiting.pop(0)
        for condition in [one for one in left if variable in one.variables]:
            left.remove(condition)
            match condition:
                case Atom():
                    loose = _loosen_atom(condition, variable, reached, used)
                    if loose is not None:
                        waiting += [one for one in loose.variables if one not in reached]
                        reached.update(loose.variables)
                        yield loose
                case Negated() | Branches() if _is_small(condition, variable):
                    yield condition
                case _:
                    pass


def _loosen_atom(
    atom: Atom, asked: Variable, reached: set[Variable], used: set[str]
) -> Atom | None:
    """An atom whose variables that were reached before, apart from one, are taken for others."""
    if isinstance(atom.relation, Variable):
        return None
    again = [one for one in atom.variables if one in reached and one != asked]
    return substitute_in_atom(atom, {one: _make_name(one, used) for one in again})


def _is_small(condition: Condition, variable: Variable) -> bool:
    """Whether a `not` or an `or` restricts one variable alone, and is a tree."""
    if condition.variables != (variable,):
        return False
    graph = make_tree(variable, (condition,), {})
    return graph is not None and graph.is_tree

"""Trees made of some conditions of a query, by substitution and by leaving conditions out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nqe.errors import QueryError
from nqe.query.formula import Atom, Variable
from nqe.query.query_graph import QueryGraph
from nqe.query.scope import Branches, Condition, Negated, Scope
from nqe.query.substitution import Values, substitute, substitute_in_atom


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


def substitute_if_possible(condition: Condition, values: Values) -> Condition | None:
    """The condition with values in place of variables; None if that makes no condition."""
    try:
        return substitute(condition, values)
    except QueryError:
        return None


def loosen(target: Variable, conditions: Sequence[Condition]) -> Iterator[Condition]:
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
    return substitute_in_atom(atom, {one: make_name(one, used) for one in again})


def _is_small(condition: Condition, variable: Variable) -> bool:
    """Whether a `not` or an `or` restricts one variable alone, and is a tree."""
    if condition.variables != (variable,):
        return False
    graph = make_tree(variable, (condition,), {})
    return graph is not None and graph.is_tree


def make_name(term: Variable | str, used: set[str]) -> Variable:
    """A new variable, named after the one whose place it takes."""
    stem = term.name if isinstance(term, Variable) else "known"
    number = 2
    while f"{stem}_{number}" in used:
        number += 1
    used.add(f"{stem}_{number}")
    return Variable(f"{stem}_{number}")

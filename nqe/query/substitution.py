"""Substitution: entities and relations in place of some variables of a query graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from nqe.errors import QueryError
from nqe.query.formula import Atom, Comparison, Term, Variable
from nqe.query.scope import Branches, Condition, Negated, Scope

Values = Mapping[Variable, Term]
"""What takes the place of variables: ids, or other variables."""

_MIRRORED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def substitute(condition: Condition, values: Values) -> Condition:
    """A condition with ids, or other variables, in place of some of its variables.

    Raises a `QueryError` if a comparison in it has no variable left.
    """
    if values.keys().isdisjoint(condition.variables):
        return condition
    match condition:
        case Atom():
            return substitute_in_atom(condition, values)
        case Comparison():
            return _substitute_in_comparison(condition, values)
        case Negated(scope):
            return Negated(_substitute_in_scope(scope, values))
        case Branches(scopes):
            return Branches(tuple(_substitute_in_scope(one, values) for one in scopes))
        case _:
            assert_never(condition)


def substitute_in_atom(atom: Atom, values: Values) -> Atom:
    """An atom with ids, or other variables, in place of some of its variables."""

    def change(term: Term) -> Term:
        return values.get(term, term) if isinstance(term, Variable) else term

    return replace(
        atom,
        relation=change(atom.relation),
        subject=change(atom.subject),
        object=change(atom.object),
        qualifiers=tuple((attribute, change(value)) for attribute, value in atom.qualifiers),
    )


def _substitute_in_comparison(comparison: Comparison, values: Values) -> Comparison:
    """A comparison that still has a variable; if the left one is replaced, the sides change."""
    left: Term = values.get(comparison.left, comparison.left)
    right = comparison.right
    if isinstance(right, Variable):
        right = values.get(right, right)
    if isinstance(left, Variable):
        return Comparison(comparison.operator, left, right)
    if isinstance(right, Variable):
        return Comparison(_MIRRORED[comparison.operator], right, left)
    raise QueryError("a comparison without a variable is no condition")


def _substitute_in_scope(scope: Scope, values: Values) -> Scope:
    conditions = tuple(substitute(one, values) for one in scope.conditions)
    return Scope(scope.variables, conditions)

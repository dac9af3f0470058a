"""The query graph: a query's variables and atoms in nested scopes, from which plans are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

from nqe.query.formula import (
    And,
    Atom,
    Comparison,
    Formula,
    Leaf,
    Not,
    Or,
    Variable,
    split_and,
    split_or,
)
from nqe.query.scope import Branches, Condition, Negated, Scope, to_formula
from nqe.query.scope_checks import check_asked, check_scope, find_relation_variables

__all__ = ["Branches", "Condition", "Negated", "QueryGraph", "Scope", "to_formula"]


@dataclass(frozen=True)
class QueryGraph:
    """The variables asked for and the scope that restricts them; names are not resolved yet.

    Nothing here requires a tree: several targets, cycles, comparisons, variables for relations, and
    a `not` or an `or` that shares several variables are all allowed. What can never have a meaning
    is refused.
    """

    targets: tuple[Variable, ...]
    scope: Scope
    counted: Variable | None = None
    """The variable whose entities are counted for each row of the targets; it is no target."""

    def __post_init__(self) -> None:
        check_asked(self.targets, self.counted, self.scope.free)
        asked = self.asked
        unbound = [name for name in self.scope.free if name not in asked]
        if unbound:
            raise ValueError(f"{unbound[0]} is neither a target nor quantified by a scope")
        check_scope(self.scope, asked)

    @classmethod
    def of(
        cls, targets: Iterable[Variable], formula: Formula, counted: Variable | None = None
    ) -> QueryGraph:
        """The query graph of a formula."""
        targets = tuple(targets)
        outer = frozenset(targets if counted is None else (*targets, counted))
        return cls(targets, _build_scope(formula, outer), counted)

    @property
    def asked(self) -> tuple[Variable, ...]:
        """The targets and the variable that is counted, if any."""
        return self.targets if self.counted is None else (*self.targets, self.counted)

    @property
    def formula(self) -> Formula:
        """The whole graph as a formula over the targets."""
        return self.scope.formula

    @cached_property
    def relation_variables(self) -> frozenset[Variable]:
        """The variables that stand for relations; all others stand for entities."""
        if self.scope.is_plain:
            return frozenset()
        return find_relation_variables(self.scope.list_atoms())

    @property
    def is_tree(self) -> bool:
        """Whether operators over one variable each can compute it, as tree plans do."""
        return self.counted is None and len(self.targets) == 1 and _is_tree(self.scope)

    def map_leaves(self, change: Callable[[Leaf], Leaf]) -> QueryGraph:
        """The graph with every atom and comparison changed; the variables must stay."""
        return QueryGraph(self.targets, self.scope.map_leaves(change), self.counted)


def _is_tree(scope: Scope) -> bool:
    """Whether the atoms of a scope that shares one variable form a tree; all are connected."""
    links = 0
    for condition in scope.conditions:
        match condition:
            case Atom(relation=relation, terms=terms, variables=variables):
                slots = sum(isinstance(term, Variable) for term in terms)
                if isinstance(relation, Variable) or slots > len(variables):
                    return False
                links += slots - 1
            case Comparison():
                return False
            case Negated() | Branches():
                if len(condition.variables) > 1:
                    return False
            case _:
                assert_never(condition)
    return links == len(scope.variables) and all(map(_is_tree, scope.nested))


def _build_scope(formula: Formula, outer: frozenset[Variable]) -> Scope:
    """The scope of a formula; `outer` are the variables that are bound outside of it."""
    parts = tuple(split_and(formula))
    in_leaves = (
        name for part in parts if isinstance(part, Atom | Comparison) for name in part.variables
    )
    # A name that occurs only in a `not` or an `or` is quantified there, even if another `not`
    # or `or` uses the same name.
    own = tuple(name for name in dict.fromkeys(in_leaves) if name not in outer)
    bound = outer.union(own)
    return Scope(own, tuple(_build_condition(part, bound) for part in parts))


def _build_condition(part: Formula, bound: frozenset[Variable]) -> Condition:
    match part:
        case Atom() | Comparison():
            return part
        case Not(inner):
            return Negated(_build_scope(inner, bound))
        case Or():
            return Branches(tuple(_build_scope(one, bound) for one in split_or(part)))
        case And():
            raise ValueError("an `and` is split before its parts become conditions")
        case _:
            assert_never(part)

"""Scopes: conditions that hold together, nested by `not` and `or`, with their own variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeGuard, assert_never

from nqe.query.formula import And, Atom, Comparison, Formula, Leaf, Not, Or, Variable
from nqe.query.limits import NESTING


@dataclass(frozen=True)
class Scope:
    """Conditions that must hold together for some entities in place of its own variables."""

    variables: tuple[Variable, ...]
    """What it quantifies: those of its atoms and comparisons that are not bound outside of it."""
    conditions: tuple[Condition, ...]
    """In the order in which they were written."""
    depth: int = field(init=False, repr=False, compare=False)
    """The number of scopes on the longest way down, this one included."""
    is_plain: bool = field(init=False, repr=False, compare=False)
    """Whether it and all scopes below have no comparison and no variable for a relation."""

    def __post_init__(self) -> None:
        depth, is_plain = 1, True
        for one in self.conditions:
            if isinstance(one, Atom):
                is_plain = is_plain and isinstance(one.relation, str)
            elif isinstance(one, Comparison):
                is_plain = False
            else:
                depth, is_plain = max(depth, 1 + one.depth), is_plain and one.is_plain
        NESTING.check(depth)
        object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "is_plain", is_plain)

    @cached_property
    def free(self) -> tuple[Variable, ...]:
        """The variables that it uses and that are bound outside of it."""
        used = dict.fromkeys(name for one in self.conditions for name in one.variables)
        own = set(self.variables)
        return tuple(name for name in used if name not in own)

    @cached_property
    def restricted(self) -> frozenset[Variable]:
        """The variables that its atoms, or every branch of an `or`, have."""
        found = {name for atom in self.atoms for name in atom.variables}
        for branches in self.disjunctions:
            found |= frozenset.intersection(*(scope.restricted for scope in branches.scopes))
        for negation in self.negations:
            if (inner := negation.doubled) is not None:
                found |= inner.restricted
        return frozenset(found)

    @cached_property
    def unrestricted(self) -> frozenset[Variable]:
        """The variables bound outside of it that it uses, but does not restrict by itself."""
        return frozenset(self.free) - self.restricted

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The conditions that are atoms."""
        return tuple(one for one in self.conditions if isinstance(one, Atom))

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The conditions that are comparisons."""
        return tuple(one for one in self.conditions if isinstance(one, Comparison))

    @property
    def negations(self) -> tuple[Negated, ...]:
        """The conditions that are a `not`."""
        return tuple(one for one in self.conditions if isinstance(one, Negated))

    @property
    def disjunctions(self) -> tuple[Branches, ...]:
        """The conditions that are an `or`."""
        return tuple(one for one in self.conditions if isinstance(one, Branches))

    @property
    def nested(self) -> tuple[Scope, ...]:
        """The scopes one level below: under a `not`, and the branches of each `or`."""
        branches = (scope for one in self.disjunctions for scope in one.scopes)
        return (*(one.scope for one in self.negations), *branches)

    @property
    def formula(self) -> Formula:
        """The conditions as a formula."""
        parts = tuple(map(to_formula, self.conditions))
        return And(parts) if len(parts) > 1 else parts[0]

    def list_leaves(self) -> Iterator[Leaf]:
        """All atoms and comparisons, those of nested scopes included, as they were written."""
        for condition in self.conditions:
            match condition:
                case Atom() | Comparison():
                    yield condition
                case Negated(scope):
                    yield from scope.list_leaves()
                case Branches(scopes):
                    for scope in scopes:
                        yield from scope.list_leaves()
                case _:
                    assert_never(condition)

    def list_atoms(self) -> Iterator[Atom]:
        """All atoms, those of nested scopes included, in the order in which they were written."""
        return (leaf for leaf in self.list_leaves() if isinstance(leaf, Atom))

    def map_leaves(self, change: Callable[[Leaf], Leaf]) -> Scope:
        """The scope with every atom and comparison changed; the variables must stay."""
        return Scope(self.variables, tuple(_map_leaves(one, change) for one in self.conditions))


@dataclass(frozen=True)
class Negated:
    """A scope that must not hold."""

    scope: Scope

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that it shares with what surrounds it."""
        return self.scope.free

    @property
    def doubled(self) -> Scope | None:
        """The scope below if it is nothing but a `not`, too, so that the two have no effect."""
        match self.scope.conditions:
            case (Negated(scope),):
                return scope
            case _:
                return None

    @property
    def depth(self) -> int:
        """The depth of its scope."""
        return self.scope.depth

    @property
    def is_plain(self) -> bool:
        """Whether its scope is plain."""
        return self.scope.is_plain


@dataclass(frozen=True)
class Branches:
    """Scopes of which at least one must hold."""

    scopes: tuple[Scope, ...]

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that any of them shares with what surrounds it."""
        return tuple(dict.fromkeys(name for scope in self.scopes for name in scope.free))

    @property
    def depth(self) -> int:
        """The depth of its deepest scope."""
        return max([scope.depth for scope in self.scopes], default=0)

    @property
    def is_plain(self) -> bool:
        """Whether all of its scopes are plain."""
        return all(scope.is_plain for scope in self.scopes)


Condition = Leaf | Negated | Branches
"""What can stand in a scope."""


def to_formula(condition: Condition) -> Formula:
    """A condition as a formula."""
    match condition:
        case Atom() | Comparison():
            return condition
        case Negated(scope):
            return Not(scope.formula)
        case Branches(scopes):
            return Or(tuple(scope.formula for scope in scopes))
        case _:
            assert_never(condition)


def _map_leaves(condition: Condition, change: Callable[[Leaf], Leaf]) -> Condition:
    match condition:
        case Atom() | Comparison():
            return change(condition)
        case Negated(scope):
            return Negated(scope.map_leaves(change))
        case Branches(scopes):
            return Branches(tuple(scope.map_leaves(change) for scope in scopes))
        case _:
            assert_never(condition)


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

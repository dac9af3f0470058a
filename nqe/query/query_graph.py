"""The query graph: a query's variables and atoms in nested scopes, from which plans are made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import assert_never

from nqe.errors import QueryError
from nqe.query.formula import (
    And,
    Atom,
    Formula,
    Not,
    Or,
    Variable,
    split_and,
    split_or,
)
from nqe.query.limits import NESTING, show_text
from nqe.query.text import render_formula


@dataclass(frozen=True)
class Scope:
    """Conditions that must hold together for some entities in place of its own variables."""

    variables: tuple[Variable, ...]
    """The variables it quantifies: those of its atoms that are not bound outside of it."""
    conditions: tuple[Condition, ...]
    """In the order in which they were written."""
    depth: int = field(init=False, repr=False, compare=False)
    """The number of scopes on the longest way down, this one included."""

    def __post_init__(self) -> None:
        below = [one.depth for one in self.conditions if not isinstance(one, Atom)]
        depth = 1 + max(below, default=0)
        NESTING.check(depth)
        object.__setattr__(self, "depth", depth)

    @cached_property
    def free(self) -> tuple[Variable, ...]:
        """The variables that it uses and that are bound outside of it."""
        used = dict.fromkeys(name for one in self.conditions for name in one.variables)
        own = set(self.variables)
        return tuple(name for name in used if name not in own)

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The conditions that are atoms."""
        return tuple(one for one in self.conditions if isinstance(one, Atom))

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

    def list_atoms(self) -> Iterator[Atom]:
        """All atoms, those of nested scopes included, in the order in which they were written."""
        for condition in self.conditions:
            match condition:
                case Atom():
                    yield condition
                case Negated(scope):
                    yield from scope.list_atoms()
                case Branches(scopes):
                    for scope in scopes:
                        yield from scope.list_atoms()
                case _:
                    assert_never(condition)

    def map_atoms(self, change: Callable[[Atom], Atom]) -> Scope:
        """The scope with every atom changed; the variables must stay."""
        return Scope(self.variables, tuple(_map_atoms(one, change) for one in self.conditions))


@dataclass(frozen=True)
class Negated:
    """A scope that must not hold."""

    scope: Scope

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that it shares with what surrounds it."""
        return self.scope.free

    @property
    def depth(self) -> int:
        """The depth of its scope."""
        return self.scope.depth


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


Condition = Atom | Negated | Branches
"""What can stand in a scope. Filters between variables will be one more kind."""


@dataclass(frozen=True)
class QueryGraph:
    """The variables asked for and the scope that restricts them; names are not resolved yet.

    Nothing here requires a tree: several targets, cycles, and a `not` or an `or` that shares
    several variables are all allowed. What can never have a meaning is refused.
    """

    targets: tuple[Variable, ...]
    scope: Scope

    def __post_init__(self) -> None:
        _check_targets(self.targets, self.scope.free)
        unbound = [name for name in self.scope.free if name not in self.targets]
        if unbound:
            raise ValueError(f"{unbound[0]} is neither a target nor quantified by a scope")
        _check_scope(self.scope, self.targets)

    @classmethod
    def of(cls, targets: Iterable[Variable], formula: Formula) -> QueryGraph:
        """The query graph of a formula."""
        targets = tuple(targets)
        return cls(targets, _build_scope(formula, frozenset(targets)))

    @property
    def formula(self) -> Formula:
        """The whole graph as a formula over the targets."""
        return self.scope.formula

    def map_atoms(self, change: Callable[[Atom], Atom]) -> QueryGraph:
        """The graph with every atom changed; the variables must stay."""
        return QueryGraph(self.targets, self.scope.map_atoms(change))


def to_formula(condition: Condition) -> Formula:
    """A condition as a formula."""
    match condition:
        case Atom():
            return condition
        case Negated(scope):
            return Not(scope.formula)
        case Branches(scopes):
            return Or(tuple(scope.formula for scope in scopes))
        case _:
            assert_never(condition)


def _map_atoms(condition: Condition, change: Callable[[Atom], Atom]) -> Condition:
    match condition:
        case Atom():
            return change(condition)
        case Negated(scope):
            return Negated(scope.map_atoms(change))
        case Branches(scopes):
            return Branches(tuple(scope.map_atoms(change) for scope in scopes))
        case _:
            assert_never(condition)


def _build_scope(formula: Formula, outer: frozenset[Variable]) -> Scope:
    """The scope of a formula; `outer` are the variables that are bound outside of it."""
    parts = tuple(split_and(formula))
    in_atoms = (name for part in parts if isinstance(part, Atom) for name in part.variables)
    # A name that occurs only in a `not` or an `or` is quantified there, even if another `not`
    # or `or` uses the same name.
    own = tuple(name for name in dict.fromkeys(in_atoms) if name not in outer)
    bound = outer.union(own)
    return Scope(own, tuple(_build_condition(part, bound) for part in parts))


def _build_condition(part: Formula, bound: frozenset[Variable]) -> Condition:
    match part:
        case Atom():
            return part
        case Not(inner):
            return Negated(_build_scope(inner, bound))
        case Or():
            return Branches(tuple(_build_scope(one, bound) for one in split_or(part)))
        case And():
            raise ValueError("an `and` is split before its parts become conditions")
        case _:
            assert_never(part)


def _check_targets(targets: tuple[Variable, ...], used: Sequence[Variable]) -> None:
    if not targets:
        raise QueryError("the query has no target; name the variable that it asks for")
    for place, target in enumerate(targets):
        if target in targets[:place]:
            raise QueryError(f"the target {target} is named twice; name it once")
        if target not in used:
            raise QueryError(f"the target {target} does not occur in the query; use it")


def _check_scope(scope: Scope, anchors: tuple[Variable, ...]) -> None:
    """Refuse what has no meaning; `anchors` are the variables that connect it with the rest."""
    for condition in scope.conditions:
        _check_condition(condition, anchors[0])
    _check_connected(scope, anchors)
    for nested in scope.nested:
        _check_scope(nested, nested.free)


def _check_condition(condition: Condition, anchor: Variable) -> None:
    match condition:
        case Atom():
            if not condition.variables:
                raise QueryError(
                    f"{_render(condition)} has no variable; drop it, or put one in a slot"
                )
        case Negated():
            _check_shares("not", condition, anchor)
        case Branches():
            _check_shares("or", condition, anchor)
            _check_branches(condition)
        case _:
            assert_never(condition)


def _check_shares(word: str, condition: Negated | Branches, anchor: Variable) -> None:
    if not condition.variables:
        raise QueryError(
            f"the `{word}` in {_render(condition)} shares no variable with the rest; "
            f"use {anchor} in it"
        )


def _check_branches(condition: Branches) -> None:
    shared = " or ".join(map(str, condition.variables))
    for scope in condition.scopes:
        if not scope.free:
            raise QueryError(
                f"the branch {show_text(render_formula(scope.formula))} does not use {shared}, "
                "which the `or` shares with the rest; every branch must"
            )


def _check_connected(scope: Scope, anchors: tuple[Variable, ...]) -> None:
    groups = [condition.variables for condition in scope.conditions]
    reached = _reach(anchors, groups)
    for condition, names in zip(scope.conditions, groups, strict=True):
        if names[0] not in reached:
            raise QueryError(
                f"{_render(condition)} is not connected with {anchors[0]}; "
                f"join {names[0]} to it by an atom, or drop the part"
            )


def _reach(anchors: tuple[Variable, ...], groups: Sequence[tuple[Variable, ...]]) -> set[Variable]:
    """The variables that chains of groups with common variables connect with an anchor."""
    neighbours: defaultdict[Variable, set[Variable]] = defaultdict(set)
    for first, *others in groups:
        for name in others:
            neighbours[first].add(name)
            neighbours[name].add(first)
    reached, left = set(anchors), list(anchors)
    while left:
        new = neighbours[left.pop()] - reached
        reached |= new
        left += new
    return reached


def _render(condition: Condition) -> str:
    return show_text(render_formula(to_formula(condition)))

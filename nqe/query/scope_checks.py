"""What never has a meaning in a query graph: parts that nothing connects, unknowns of two kinds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import assert_never

from nqe.errors import QueryError
from nqe.query.formula import Atom, Comparison, Leaf, Variable
from nqe.query.limits import show_text
from nqe.query.scope import Branches, Condition, Negated, Scope, to_formula
from nqe.query.text import render_atom, render_formula


def check_asked(
    targets: tuple[Variable, ...], counted: Variable | None, used: Sequence[Variable]
) -> None:
    """Refuse targets that are named twice or do not occur."""
    if counted is not None:
        if counted in targets:
            raise QueryError(f"{counted} is a target and counted, too; count another variable")
    elif not targets:
        raise QueryError("the query has no target; name the variable that it asks for")
    for place, target in enumerate(targets):
        if target in targets[:place]:
            raise QueryError(f"the target {target} is named twice; name it once")
        if target not in used:
            raise QueryError(f"the target {target} does not occur in the query; use it")
    if counted is not None and counted not in used:
        raise QueryError(f"{counted}, which is counted, does not occur in the query; use it")


def check_scope(scope: Scope, asked: tuple[Variable, ...]) -> None:
    """Refuse a scope that has no meaning; `asked` are the variables that connect its parts."""
    _check_scope(scope, asked)
    if not scope.is_plain:
        _check_kinds(list(scope.list_leaves()))
        _check_restricted(scope, asked)


def find_relation_variables(atoms: Iterable[Atom]) -> frozenset[Variable]:
    """The variables that stand for relations."""
    return frozenset(one.relation for one in atoms if isinstance(one.relation, Variable))


def _check_kinds(leaves: Sequence[Leaf]) -> None:
    """Refuse variables that stand for a relation and for an entity, too."""
    atoms = [leaf for leaf in leaves if isinstance(leaf, Atom)]
    relations = find_relation_variables(atoms)
    for atom in atoms:
        for term in atom.terms:
            if isinstance(term, Variable) and term in relations:
                shown = show_text(render_atom(atom))
                raise QueryError(
                    f"{term} stands for an entity in {shown} and for a relation elsewhere; "
                    "use two variables"
                )
    for leaf in leaves:
        if isinstance(leaf, Comparison) and not relations.isdisjoint(leaf.variables):
            _check_relation_comparison(leaf, relations)


def _check_relation_comparison(leaf: Comparison, relations: frozenset[Variable]) -> None:
    relation = leaf.left if leaf.left in relations else leaf.right
    if leaf.operator not in ("=", "!="):
        raise QueryError(
            f"{_render(leaf)} orders a relation, but {relation} stands for one; use = or !="
        )
    other = leaf.right if relation == leaf.left else leaf.left
    if isinstance(other, Variable) and other not in relations:
        raise QueryError(
            f"{_render(leaf)} compares a relation, {relation}, with an entity, {other}; "
            "compare two of a kind"
        )


def _check_restricted(scope: Scope, bound: Iterable[Variable]) -> None:
    """Refuse variables that only comparisons have; `bound` are those that begin with the scope."""
    if scope.is_plain:
        return
    in_atoms = {name for atom in scope.list_atoms() for name in atom.variables}
    for name in (*bound, *scope.variables):
        if name not in in_atoms:
            raise QueryError(
                f"{name} stands only in comparisons, which do not say what it is; "
                f"add an atom with {name}"
            )
    for nested in scope.nested:
        _check_restricted(nested, ())


def _check_scope(scope: Scope, anchors: tuple[Variable, ...]) -> None:
    """Refuse what has no meaning; `anchors` are the variables that connect it with the rest."""
    for condition in scope.conditions:
        _check_condition(condition, anchors[0])
    _check_connected(scope, anchors)
    for nested in scope.nested:
        _check_scope(nested, nested.free)


def _check_condition(condition: Condition, anchor: Variable) -> None:
    match condition:
        case Comparison():
            pass
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

"""The compiler from query graphs to operator trees; refuses graphs that are not trees."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from nqe.errors import QueryError
from nqe.query.algebra import (
    Anything,
    Conjunction,
    Disjunction,
    Negation,
    Operator,
    Projection,
    measure_depth,
)
from nqe.query.formula import Atom, Comparison, Variable
from nqe.query.limits import NESTING, show_text
from nqe.query.query_graph import Branches, Negated, QueryGraph, Scope, to_formula
from nqe.query.text import render_atom, render_formula


class NoTree(QueryError):
    """A query graph is no tree; `reason` says why."""

    def __init__(self, reason: str, advice: str) -> None:
        self.reason = reason
        super().__init__(f"{reason}; {advice}")


def compile_tree(graph: QueryGraph) -> Operator:
    """The operators that compute the target; a `NoTree` names the variable or atom at fault."""
    if graph.counted is not None:
        raise NoTree(f"the query counts {graph.counted}", f"ask for {graph.counted} itself")
    if len(graph.targets) > 1:
        names = ", ".join(map(str, graph.targets))
        raise NoTree(f"the query has several targets ({names})", "ask for one of them at a time")
    tree = _compile_scope(graph.scope, graph.targets[0], 1)
    NESTING.check(measure_depth(tree))
    return tree


def _compile_scope(scope: Scope, asked: Variable, depth: int) -> Operator:
    """The operators of a scope that shares only the asked variable with what surrounds it."""
    for condition in scope.conditions:
        match condition:
            case Atom():
                _check_atom(condition)
            case Comparison():
                shown = show_text(render_formula(condition))
                raise NoTree(f"{shown} is a comparison", "drop it")
            case Negated() | Branches():
                _check_shared_variable(condition, asked)
            case _:
                assert_never(condition)
    return _ScopeCompiler(scope, _find_conditions(scope), {asked}).compile_variable(asked, depth)


def _find_conditions(scope: Scope) -> dict[Variable, list[int]]:
    """For each variable, the numbers of the conditions that it stands in."""
    found: dict[Variable, list[int]] = {}
    for number, condition in enumerate(scope.conditions):
        for variable in condition.variables:
            found.setdefault(variable, []).append(number)
    return found


@dataclass
class _ScopeCompiler:
    """Compiles the variables of one scope, beginning at the asked one; uses each atom once."""

    scope: Scope
    conditions: dict[Variable, list[int]]
    """For each variable, the numbers of the conditions that it stands in."""
    reached: set[Variable]
    """The variables that are compiled already or will be, because a compiled atom has them."""
    used: set[int] = field(default_factory=set)
    """The numbers of the conditions that are compiled already."""

    def compile_variable(self, variable: Variable, depth: int) -> Operator:
        """Everything that restricts a variable, apart from the atoms used already."""
        # The tree has at least `depth` operators up to here, so the check refuses no valid query.
        if depth > NESTING.most:
            raise NESTING.exceeded()
        atoms: list[Operator] = []
        nested: list[Operator] = []
        for number in self.conditions.get(variable, ()):
            if number in self.used:
                continue
            self.used.add(number)
            condition = self.scope.conditions[number]
            if isinstance(condition, Atom):
                atoms.append(self._compile_atom(condition, variable, depth))
            elif not isinstance(condition, Comparison):
                nested.append(_compile_nested(condition, variable, depth))
        return _conjoin(variable, (*atoms, *nested))

    def _compile_atom(self, atom: Atom, asked: Variable, depth: int) -> Projection:
        others = [name for name in atom.variables if name != asked]
        for other in others:
            if other in self.reached:
                raise _describe_cycle(other, atom)
        self.reached.update(others)
        slots: list[str | Operator | None] = []
        for term in atom.terms:
            if not isinstance(term, Variable):
                slots.append(term)
            elif term == asked:
                slots.append(None)
            else:
                slots.append(self.compile_variable(term, depth + 1))
        place = atom.terms.index(asked)
        assert isinstance(atom.relation, str), "the atoms of a scope are checked first"
        return Projection(
            asked.name, atom.relation, atom.attributes, tuple(slots), place, atom.closed
        )


def _conjoin(variable: Variable, parts: tuple[Operator, ...]) -> Operator:
    match parts:
        case ():
            return Anything(variable.name)
        case (part,):
            return part
        case _:
            return Conjunction(variable.name, parts)


def _compile_nested(condition: Negated | Branches, variable: Variable, depth: int) -> Operator:
    """A `not` or an `or` as an operator over the variable that it shares."""
    match condition:
        case Negated(scope):
            return Negation(variable.name, _compile_scope(scope, variable, depth + 1))
        case Branches(scopes):
            branches = tuple(_compile_scope(scope, variable, depth + 1) for scope in scopes)
            return Disjunction(variable.name, branches)
        case _:
            assert_never(condition)


def _check_atom(atom: Atom) -> None:
    if isinstance(atom.relation, Variable):
        shown = show_text(render_atom(atom))
        raise NoTree(f"{atom.relation} stands for the relation in {shown}", "name a relation")
    names = [term for term in atom.terms if isinstance(term, Variable)]
    if len(names) > len(atom.variables):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        shown = show_text(render_atom(atom))
        raise NoTree(f"{twice} stands twice in {shown}", "use two variables")


def _check_shared_variable(condition: Negated | Branches, asked: Variable) -> None:
    """Refuse a `not` or an `or` that shares several variables with what surrounds it."""
    if len(condition.variables) > 1:
        raise _describe_second_variable(condition, asked)


def _describe_second_variable(condition: Negated | Branches, asked: Variable) -> NoTree:
    word, within, example = (
        ("not", "the `not`", "not (p(?x, ?y) and q(?y, a))")
        if isinstance(condition, Negated)
        else ("or", "each branch of the `or`", "p(?x, a) or q(?x, ?y) and r(?y, b)")
    )
    first = asked if asked in condition.variables else condition.variables[0]
    second = next(name for name in condition.variables if name != first)
    shown = show_text(render_formula(to_formula(condition)))
    return NoTree(
        f"the `{word}` in {shown} shares {second} with the rest beside {first}",
        f"move what restricts {second} into {within}, as in {example}",
    )


def _describe_cycle(variable: Variable, atom: Atom) -> NoTree:
    return NoTree(
        f"{variable} closes a cycle at {show_text(render_atom(atom))}",
        "drop an atom or rename one of the variables, so that they form a tree",
    )

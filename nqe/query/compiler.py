"""From formula to operators: which variable is bound where, and whether all is a tree."""

from __future__ import annotations

from dataclasses import dataclass

from nqe.errors import QueryError
from nqe.query.algebra import (
    Anything,
    Conjunction,
    Disjunction,
    Negation,
    Operator,
    Projection,
    depth,
)
from nqe.query.formula import (
    Atom,
    Formula,
    Not,
    Or,
    Query,
    Variable,
    conjuncts,
    variables_of,
)
from nqe.query.text import MAX_DEPTH, TOO_DEEP, render_atom, render_formula


def operators(query: Query) -> Operator:
    """What the query computes; raises what SEMANTICS refuses, naming the variable or atom."""
    try:
        names = variables_of(query.formula)
    except RecursionError:
        raise QueryError(TOO_DEEP) from None
    if query.target not in names:
        raise QueryError(f"the target {query.target} does not occur in the query; use it")
    try:
        tree = _Scope.of(query.formula, query.target).compile()
    except RecursionError:
        raise QueryError(TOO_DEEP) from None
    if depth(tree) > MAX_DEPTH:
        raise QueryError(TOO_DEEP)
    return tree


@dataclass(frozen=True)
class _Scope:
    """Parts that must hold together, and the variable they are asked for."""

    asked: Variable
    atoms: tuple[Atom, ...]
    shared: tuple[tuple[Or | Not, Variable], ...]

    @classmethod
    def of(cls, formula: Formula, asked: Variable) -> _Scope:
        """The scope of a formula; nested `not` and `or` are checked to share one variable."""
        parts = list(conjuncts(formula))
        atoms = tuple(part for part in parts if isinstance(part, Atom))
        # Names that stand in a `not` or an `or` alone are its own, whatever else is called so.
        bound = {asked}.union(*map(variables_of, atoms))
        shared = tuple(
            (part, _shared_variable(part, bound, asked))
            for part in parts
            if isinstance(part, Or | Not)
        )
        scope = cls(asked, atoms, shared)
        scope._check_atoms()
        return scope

    def compile(self) -> Operator:
        """The operators that compute the asked variable."""
        seen: set[int] = set()
        operator = self._variable(self.asked, seen, (self.asked,))
        self._check_connected(seen)
        return operator

    def _variable(self, variable: Variable, seen: set[int], path: tuple[Variable, ...]) -> Operator:
        """Everything that restricts a variable, apart from the atoms seen already."""
        parts: list[Operator] = []
        for number, atom in enumerate(self.atoms):
            if number not in seen and variable in atom.terms:
                seen.add(number)
                parts.append(self._projection(atom, variable, seen, path))
        parts += [_nested(part, variable) for part, name in self.shared if name == variable]
        if not parts:
            return Anything(variable.name)
        return parts[0] if len(parts) == 1 else Conjunction(variable.name, tuple(parts))

    def _projection(
        self, atom: Atom, asked: Variable, seen: set[int], path: tuple[Variable, ...]
    ) -> Projection:
        others = [term for term in atom.terms if isinstance(term, Variable) and term != asked]
        for other in others:
            if other in path:
                raise QueryError(_cycle(other, atom))
        below = (*path, *others)
        slots: list[str | Operator | None] = []
        for term in atom.terms:
            if not isinstance(term, Variable):
                slots.append(term)
            elif term == asked:
                slots.append(None)
            else:
                slots.append(self._variable(term, seen, below))
        attributes = tuple(attribute for attribute, _ in atom.qualifiers)
        place = atom.terms.index(asked)
        return Projection(asked.name, atom.relation, attributes, tuple(slots), place, atom.closed)

    def _check_atoms(self) -> None:
        for atom in self.atoms:
            names = [term for term in atom.terms if isinstance(term, Variable)]
            if not names:
                raise QueryError(
                    f"{render_atom(atom)} has no variable; drop it, or put one in a slot"
                )
            twice = [name for i, name in enumerate(names) if name in names[:i]]
            if twice:
                raise QueryError(
                    f"{twice[0]} stands twice in {render_atom(atom)}; use two variables"
                )

    def _check_connected(self, seen: set[int]) -> None:
        reached = {self.asked} | {
            term
            for number in seen
            for term in self.atoms[number].terms
            if isinstance(term, Variable)
        }
        loose: list[tuple[Formula, Variable]] = [
            (atom, next(iter(variables_of(atom))))
            for number, atom in enumerate(self.atoms)
            if number not in seen
        ]
        loose += [(part, name) for part, name in self.shared if name not in reached]
        if loose:
            part, name = loose[0]
            raise QueryError(
                f"{render_formula(part)} is not connected with {self.asked}; "
                f"join {name} to it by an atom, or drop the part"
            )


def _nested(part: Or | Not, variable: Variable) -> Operator:
    """A `not` or an `or` as operator over the variable it shares."""
    if isinstance(part, Not):
        return Negation(variable.name, _Scope.of(part.part, variable).compile())
    branches = [_Scope.of(branch, variable).compile() for branch in part.parts]
    # An `or` of `or`s is one `or`.
    flat = [
        inner
        for branch in branches
        for inner in (branch.inputs if isinstance(branch, Disjunction) else (branch,))
    ]
    return Disjunction(variable.name, tuple(flat))


def _shared_variable(part: Or | Not, bound: set[Variable], asked: Variable) -> Variable:
    """The one variable that a `not` or an `or` shares with what surrounds it."""
    word = "not" if isinstance(part, Not) else "or"
    shared = [name for name in variables_of(part) if name in bound]
    if not shared:
        raise QueryError(
            f"the `{word}` in {render_formula(part)} shares no variable with the rest; "
            f"use {asked} in it"
        )
    if len(shared) > 1:
        raise QueryError(_second_variable(part, shared, asked))
    if isinstance(part, Or):
        for branch in part.parts:
            if shared[0] not in variables_of(branch):
                raise QueryError(
                    f"the branch {render_formula(branch)} does not use {shared[0]}, "
                    "which the `or` shares with the rest; every branch must"
                )
    return shared[0]


def _second_variable(part: Or | Not, shared: list[Variable], asked: Variable) -> str:
    word = "not" if isinstance(part, Not) else "or"
    kept = asked if asked in shared else shared[0]
    second = next(name for name in shared if name != kept)
    within, example = {
        "not": ("the `not`", "not (p(?x, ?y) and q(?y, a))"),
        "or": ("each branch of the `or`", "p(?x, a) or q(?x, ?y) and r(?y, b)"),
    }[word]
    return (
        f"the `{word}` in {render_formula(part)} shares {second} with the rest beside {kept}, "
        f"but may share only one; move what restricts {second} into {within}, as in {example}"
    )


def _cycle(variable: Variable, atom: Atom) -> str:
    return (
        f"{variable} closes a cycle at {render_atom(atom)}; "
        "the variables of a query must form a tree, so drop an atom or rename one of them"
    )

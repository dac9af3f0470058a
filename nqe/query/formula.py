"""Questions as trees: atoms joined by and, or, not, with one target variable."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from nqe.errors import QueryError

_VARIABLE = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Variable:
    """Something unknown; written `?name`."""

    name: str

    def __post_init__(self) -> None:
        if not _VARIABLE.fullmatch(self.name):
            raise QueryError(
                f"'{self.name}' cannot be a variable's name; use letters, digits and _ alone"
            )

    def __str__(self) -> str:
        return f"?{self.name}"


Term = Variable | str
"""A variable, or the id or label of an entity."""

Pairs = Iterable[tuple[str, Term]]


class _Connectives:
    """`a & b`, `a | b`, `~a` for everything that is a formula."""

    __slots__ = ()

    def __and__(self: Any, other: Formula) -> And:
        return And((*_parts(And, self), *_parts(And, other)))

    def __or__(self: Any, other: Formula) -> Or:
        return Or((*_parts(Or, self), *_parts(Or, other)))

    def __invert__(self: Any) -> Not:
        return Not(self)

    def __bool__(self) -> bool:
        # Python's own `and`, `or` and `not` would silently drop a part of the formula.
        raise QueryError("formulas are joined by &, | and ~, not by Python's and, or, not")


@dataclass(frozen=True, slots=True)
class Atom(_Connectives):
    """A pattern of facts; closed (`only`) means that the fact has no further qualifiers."""

    relation: str
    subject: Term
    object: Term
    qualifiers: tuple[tuple[str, Term], ...] = ()
    closed: bool = False

    def __post_init__(self) -> None:
        for term in self.terms:
            if not isinstance(term, Variable | str):
                raise QueryError(f"{term!r} in {self.relation}(…) is neither a name nor a variable")

    @property
    def terms(self) -> tuple[Term, ...]:
        """What stands in its slots: subject, object, then the qualifiers' values."""
        return (self.subject, self.object, *(value for _, value in self.qualifiers))

    def only(self) -> Atom:
        """The same, closed."""
        return replace(self, closed=True)


@dataclass(frozen=True, slots=True)
class And(_Connectives):
    """All of its parts hold."""

    parts: tuple[Formula, ...]

    def __post_init__(self) -> None:
        _check_parts("and", self.parts)


@dataclass(frozen=True, slots=True)
class Or(_Connectives):
    """At least one of its parts holds."""

    parts: tuple[Formula, ...]

    def __post_init__(self) -> None:
        _check_parts("or", self.parts)


@dataclass(frozen=True, slots=True)
class Not(_Connectives):
    """Its part does not hold."""

    part: Formula


Formula = Atom | And | Or | Not


@dataclass(frozen=True, slots=True)
class Query:
    """Which entities, put in the target's place, make the formula true."""

    target: Variable
    formula: Formula

    def __post_init__(self) -> None:
        if not isinstance(self.target, Variable):
            raise QueryError(f"the target {self.target!r} is not a variable; write Variable('x')")

    @property
    def text(self) -> str:
        """The query in the text syntax; parsing it gives the same query."""
        from nqe.query.text import render

        return render(self)

    def __str__(self) -> str:
        return self.text

    def to_json(self) -> dict[str, Any]:
        """The query as JSON data; `Query.from_json` reads it."""
        from nqe.query.json_form import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, data: Any) -> Query:
        """A query from JSON data, or from JSON text."""
        from nqe.query.json_form import from_json

        return from_json(data)

    @property
    def shape(self) -> str:
        """The name of its shape if it is one of the 16, else the shape as a tree."""
        from nqe.query.compiler import operators
        from nqe.query.shapes import name_of, shape_of

        return name_of(shape_of(operators(self)))

    def dnf(self) -> Query:
        """The disjunctive normal form; its exact answers are the same."""
        from nqe.query.normal_form import dnf

        return dnf(self)


def variables(names: str) -> tuple[Variable, ...]:
    """Variables by their names: `x, y = variables("x y")`."""
    return tuple(Variable(name) for name in names.replace(",", " ").split())


def atom(
    relation: str,
    subject: Term,
    object: Term,
    qualifiers: Mapping[str, Term] | Pairs = (),
    **more: Term,
) -> Atom:
    """An open atom: `atom("award_received", x, "Nobel Prize in Physics", together_with=y)`."""
    pairs = qualifiers.items() if isinstance(qualifiers, Mapping) else qualifiers
    return Atom(relation, subject, object, (*pairs, *more.items()))


def atoms_of(formula: Formula) -> Iterator[Atom]:
    """Its atoms, from left to right."""
    match formula:
        case Atom():
            yield formula
        case Not(part):
            yield from atoms_of(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from atoms_of(part)


def variables_of(formula: Formula) -> dict[Variable, None]:
    """Its variables in the order they first occur, as a dict for quick look-up."""
    terms = (term for one in atoms_of(formula) for term in one.terms)
    return {term: None for term in terms if isinstance(term, Variable)}


def conjuncts(formula: Formula) -> Iterator[Formula]:
    """The parts that must all hold: those of nested `and`s, or the formula itself."""
    if isinstance(formula, And):
        for part in formula.parts:
            yield from conjuncts(part)
    else:
        yield formula


def _parts(kind: type[And] | type[Or], formula: Formula) -> tuple[Formula, ...]:
    return formula.parts if isinstance(formula, kind) else (formula,)


def _check_parts(word: str, parts: tuple[Formula, ...]) -> None:
    if len(parts) < 2:
        raise QueryError(f"`{word}` joins two or more parts, not {len(parts)}; drop it")

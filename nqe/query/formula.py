"""Formulas: atoms over variables and names, combined by `and`, `or` and `not`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, assert_never

from nqe.errors import QueryError

_VARIABLE = re.compile(r"\w+")

MAX_DEPTH = 100
TOO_DEEP = f"the query is nested more than {MAX_DEPTH} deep; split it into smaller ones"


@dataclass(frozen=True, slots=True)
class Variable:
    """An unknown entity; written `?name`."""

    name: str

    def __post_init__(self) -> None:
        if not _VARIABLE.fullmatch(self.name):
            raise QueryError(
                f"'{self.name}' cannot be a variable's name; use only letters, digits and _"
            )

    def __hash__(self) -> int:
        # Variables are looked up often; this is faster than the hash of a data class.
        return hash(self.name)

    def __str__(self) -> str:
        return f"?{self.name}"


Term = Variable | str
"""A variable, or the id or label of an entity."""

Pairs = Iterable[tuple[str, Term]]


class _Connectives:
    """The operators `a & b`, `a | b` and `~a` that every kind of formula has."""

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
    """A pattern of facts; if it is closed (`only`), a fact may have no further qualifiers."""

    relation: str
    subject: Term
    object: Term
    qualifiers: tuple[tuple[str, Term], ...] = ()
    closed: bool = False
    # Computed once, because compiling a query reads them many times.
    terms: tuple[Term, ...] = field(init=False, repr=False, compare=False)
    """The contents of its slots: subject, object, then the values of the qualifiers."""
    variables: tuple[Variable, ...] = field(init=False, repr=False, compare=False)
    """Its distinct variables, in the order of its slots."""

    def __post_init__(self) -> None:
        terms = (self.subject, self.object, *(value for _, value in self.qualifiers))
        for term in terms:
            if not isinstance(term, Variable | str):
                raise QueryError(f"{term!r} in {self.relation}(…) is neither a name nor a variable")
        distinct = dict.fromkeys(term for term in terms if isinstance(term, Variable))
        object.__setattr__(self, "terms", terms)
        object.__setattr__(self, "variables", tuple(distinct))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of its qualifiers."""
        return tuple(attribute for attribute, _ in self.qualifiers)

    def only(self) -> Atom:
        """The same atom, closed."""
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


def is_too_deep(formula: Formula) -> bool:
    """Whether a formula is nested so deep that walking it would exhaust Python's stack."""
    level, depth = [formula], 0
    while level and depth <= MAX_DEPTH:
        level, depth = [part for one in level for part in _direct_parts(one)], depth + 1
    return bool(level)


def _direct_parts(formula: Formula) -> tuple[Formula, ...]:
    match formula:
        case Atom():
            return ()
        case Not(part):
            return (part,)
        case And(parts) | Or(parts):
            return parts
        case _:
            assert_never(formula)


def variables(names: str) -> tuple[Variable, ...]:
    """Variables with these names: `x, y = variables("x y")`."""
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


def find_atoms(formula: Formula) -> Iterator[Atom]:
    """The atoms of a formula, from left to right."""
    match formula:
        case Atom():
            yield formula
        case Not(part):
            yield from find_atoms(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from find_atoms(part)
        case _:
            assert_never(formula)


def find_variables(formula: Formula) -> tuple[Variable, ...]:
    """The distinct variables of a formula, in the order in which they first occur."""
    found = (variable for atom in find_atoms(formula) for variable in atom.variables)
    return tuple(dict.fromkeys(found))


def split_and(formula: Formula) -> Iterator[Formula]:
    """The parts of nested `and`s, which must all hold; any other formula is its only part."""
    yield from _split(And, formula)


def split_or(formula: Formula) -> Iterator[Formula]:
    """The parts of nested `or`s, one of which must hold; any other formula is its only part."""
    yield from _split(Or, formula)


def _split(kind: type[And] | type[Or], formula: Formula) -> Iterator[Formula]:
    if isinstance(formula, kind):
        for part in formula.parts:
            yield from _split(kind, part)
    else:
        yield formula


def _parts(kind: type[And] | type[Or], formula: Formula) -> tuple[Formula, ...]:
    return formula.parts if isinstance(formula, kind) else (formula,)


def _check_parts(word: str, parts: tuple[Formula, ...]) -> None:
    if len(parts) < 2:
        raise QueryError(f"`{word}` joins two or more parts, not {len(parts)}; drop it")

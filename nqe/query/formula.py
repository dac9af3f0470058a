"""Formulas: atoms and comparisons, combined by `and`, `or` and `not`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, assert_never

from nqe.errors import QueryError
from nqe.query.limits import ATOMS, CHARACTERS, NESTING, QUALIFIERS, show_value

_VARIABLE = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Variable:
    """An unknown entity or, in the place of a relation, an unknown relation; written `?name`."""

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not _VARIABLE.fullmatch(self.name):
            shown = show_value(self.name)
            raise QueryError(f"{shown} cannot be a variable's name; use only letters, digits and _")

    def __hash__(self) -> int:
        # Variables are looked up often; this is faster than the hash of a data class.
        return hash(self.name)

    def __str__(self) -> str:
        return f"?{self.name}"


Term = Variable | str
"""A variable, or the id or label of an entity or a relation."""

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

    relation: Term
    subject: Term
    object: Term
    qualifiers: tuple[tuple[str, Term], ...] = ()
    closed: bool = False
    # Computed once, because compiling a query reads them many times.
    terms: tuple[Term, ...] = field(init=False, repr=False, compare=False)
    """The contents of its slots: subject, object, then the values of the qualifiers."""
    variables: tuple[Variable, ...] = field(init=False, repr=False, compare=False)
    """Its distinct variables: the one for its relation, if any, then those of its slots."""
    characters: int = field(init=False, repr=False, compare=False)
    nesting: ClassVar[int] = 0
    atom_count: ClassVar[int] = 1

    def __post_init__(self) -> None:
        terms = (self.subject, self.object, *[value for _, value in self.qualifiers])
        found = [term for term in terms if isinstance(term, Variable)]
        if isinstance(self.relation, Variable):
            found.insert(0, self.relation)
        distinct = dict.fromkeys(found)
        object.__setattr__(self, "terms", terms)
        object.__setattr__(self, "variables", tuple(distinct))
        object.__setattr__(self, "characters", self._check_names() + 2 * len(terms))
        if len(terms) - 2 > QUALIFIERS.most or self.characters > CHARACTERS.most:
            QUALIFIERS.check(len(terms) - 2)
            CHARACTERS.check(self.characters)

    def _check_names(self) -> int:
        """Refuse what is not a name or a variable; gives the number of characters of them all."""
        terms = (*self.terms, self.relation)
        names = [term.name if isinstance(term, Variable) else term for term in terms]
        names += [attribute for attribute, _ in self.qualifiers]
        try:
            joined = "".join(names)
        except TypeError:
            wrong = next(name for name in names if not isinstance(name, str))
            found = f"{show_value(wrong)} in {show_value(self.relation)[1:-1]}(…)"
            raise QueryError(f"{found} is neither a name nor a variable") from None
        check_characters(joined)
        return len(joined)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of its qualifiers."""
        return tuple(attribute for attribute, _ in self.qualifiers)

    def only(self) -> Atom:
        """The same atom, closed."""
        return replace(self, closed=True)


OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
"""The operators of comparisons."""


@dataclass(frozen=True, slots=True)
class Comparison(_Connectives):
    """A variable compared with another one, or with a literal or a name: `?y >= 1999`."""

    operator: str
    """One of `OPERATORS`."""
    left: Variable
    right: Term
    variables: tuple[Variable, ...] = field(init=False, repr=False, compare=False)
    """Its distinct variables, from left to right."""
    characters: int = field(init=False, repr=False, compare=False)
    nesting: ClassVar[int] = 0
    atom_count: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.operator not in OPERATORS:
            shown = show_value(self.operator)
            raise QueryError(f"{shown} compares nothing; use one of {' '.join(OPERATORS)}")
        if not isinstance(self.left, Variable):
            shown = show_value(self.left)
            raise QueryError(f"{shown} is not a variable; compare a variable with it")
        if not isinstance(self.right, Variable | str):
            raise QueryError(f"{show_value(self.right)} is neither a name nor a variable")
        if isinstance(self.right, str):
            check_characters(self.right)
        terms = (self.left, self.right)
        found = dict.fromkeys(term for term in terms if isinstance(term, Variable))
        size = sum(len(term.name if isinstance(term, Variable) else term) for term in terms)
        object.__setattr__(self, "variables", tuple(found))
        object.__setattr__(self, "characters", size + len(self.operator))
        CHARACTERS.check(self.characters)


@dataclass(frozen=True, slots=True)
class And(_Connectives):
    """All of its parts hold."""

    parts: tuple[Formula, ...]
    nesting: int = field(init=False, repr=False, compare=False)
    atom_count: int = field(init=False, repr=False, compare=False)
    characters: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_parts("and", self.parts)
        _measure(self, self.parts)


@dataclass(frozen=True, slots=True)
class Or(_Connectives):
    """At least one of its parts holds."""

    parts: tuple[Formula, ...]
    nesting: int = field(init=False, repr=False, compare=False)
    atom_count: int = field(init=False, repr=False, compare=False)
    characters: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_parts("or", self.parts)
        _measure(self, self.parts)


@dataclass(frozen=True, slots=True)
class Not(_Connectives):
    """Its part does not hold."""

    part: Formula
    nesting: int = field(init=False, repr=False, compare=False)
    atom_count: int = field(init=False, repr=False, compare=False)
    characters: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _measure(self, (self.part,))


Leaf = Atom | Comparison
"""What a formula is made of."""

# Every formula knows its size when it is built: how deep it is nested (0 for an atom), the number
# of its atoms and comparisons, and the characters of its shortest text. One that exceeds a limit
# cannot be built, so whatever walks a formula may use recursion.
Formula = Leaf | And | Or | Not


def check_formula(value: object) -> None:
    """Refuse what is not a formula."""
    if not isinstance(value, _Connectives):
        builder = "nqe.comparison" if isinstance(value, bool) else "nqe.atom"
        raise QueryError(f"{show_value(value)} is not a formula; build one with {builder}")


def check_characters(text: str) -> None:
    """Refuse text that no file and no terminal can hold: bytes or surrogates that stand alone."""
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        found = ascii(text[error.start])
        raise QueryError(
            f"the query has {found}, which is a byte or half a character; write it in UTF-8"
        ) from None


def find_leaves(formula: Formula) -> Iterator[Leaf]:
    """The atoms and comparisons of a formula, from left to right."""
    match formula:
        case Atom() | Comparison():
            yield formula
        case Not(part):
            yield from find_leaves(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from find_leaves(part)
        case _:
            assert_never(formula)


def find_variables(formula: Formula) -> tuple[Variable, ...]:
    """The distinct variables of a formula, in the order in which they first occur."""
    found = (variable for leaf in find_leaves(formula) for variable in leaf.variables)
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


def _measure(whole: And | Or | Not, parts: tuple[Formula, ...]) -> None:
    """Set the size of a formula from its parts; refuse one that is too large."""
    nesting = atom_count = characters = 0
    try:
        for part in parts:
            nesting = max(nesting, part.nesting)
            atom_count += part.atom_count
            characters += part.characters + 1
    except AttributeError:
        check_formula(part)
        raise
    if nesting >= NESTING.most or atom_count > ATOMS.most or characters > CHARACTERS.most:
        NESTING.check(nesting + 1)
        ATOMS.check(atom_count)
        CHARACTERS.check(characters)
    object.__setattr__(whole, "nesting", nesting + 1)
    object.__setattr__(whole, "atom_count", atom_count)
    object.__setattr__(whole, "characters", characters)

"""What a query computes, as a tree: projections, conjunctions, disjunctions, negations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import assert_never

from nqe.query.formula import And, Atom, Formula, Not, Or, Query, Term, Variable, conjuncts


@dataclass(frozen=True, slots=True)
class Projection:
    """What stands in the asked slot of the facts that fit.

    Slots are subject, object, then the qualifiers' values; each holds the name of an anchor,
    the operator whose answers may stand there, or None: asked for.
    """

    variable: str
    relation: str
    attributes: tuple[str, ...]
    slots: tuple[str | Operator | None, ...]
    asked: int
    closed: bool

    @property
    def inputs(self) -> tuple[Operator, ...]:
        """The operators that fill its slots."""
        return tuple(slot for slot in self.slots if slot is not None and not isinstance(slot, str))


@dataclass(frozen=True, slots=True)
class Conjunction:
    """What all inputs have in common."""

    variable: str
    inputs: tuple[Operator, ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    """What any input has."""

    variable: str
    inputs: tuple[Operator, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """Every entity that the input has not."""

    variable: str
    input: Operator

    @property
    def inputs(self) -> tuple[Operator, ...]:
        """Its one input."""
        return (self.input,)


@dataclass(frozen=True, slots=True)
class Anything:
    """Every entity: a variable that nobody restricts."""

    variable: str

    @property
    def inputs(self) -> tuple[Operator, ...]:
        """It has none."""
        return ()


Operator = Projection | Conjunction | Disjunction | Negation | Anything


def depth(operator: Operator) -> int:
    """How many operators lie on the longest way down."""
    level, count_of = [operator], 0
    while level:
        level, count_of = [one for above in level for one in above.inputs], count_of + 1
    return count_of


def is_complement(operator: Operator) -> bool:
    """Whether the answers are nearly everything: what some set leaves out."""
    match operator:
        case Projection():
            return False
        case Anything():
            return True
        case Negation():
            return not is_complement(operator.input)
        case Conjunction():
            return all(map(is_complement, operator.inputs))
        case Disjunction():
            return any(map(is_complement, operator.inputs))
        case _:
            assert_never(operator)


def query_of(operator: Operator, target: str = "x") -> Query:
    """A query that computes this; its variables are named anew, so that no two clash."""
    names = _fresh_names(target)
    return Query(Variable(target), _formula(operator, Variable(target), names))


def _fresh_names(target: str) -> Iterator[Variable]:
    return (Variable(f"v{i}") for i in count(1) if f"v{i}" != target)


def _formula(operator: Operator, variable: Variable, names: Iterator[Variable]) -> Formula:
    match operator:
        case Projection():
            parts = tuple(_projection(operator, variable, names))
            return And(parts) if len(parts) > 1 else parts[0]
        case Conjunction(_, inputs):
            parts = tuple(p for one in inputs for p in conjuncts(_formula(one, variable, names)))
            return And(parts)
        case Disjunction(_, inputs):
            return Or(tuple(_formula(one, variable, names) for one in inputs))
        case Negation(_, one):
            return Not(_formula(one, variable, names))
        case Anything():
            raise ValueError("a variable that nobody restricts has no formula of its own")
        case _:
            assert_never(operator)


def _projection(
    operator: Projection, variable: Variable, names: Iterator[Variable]
) -> Iterator[Formula]:
    """The atom, then what restricts the variables in its slots."""
    terms: list[Term] = []
    below: list[Formula] = []
    for slot in operator.slots:
        if slot is None:
            terms.append(variable)
        elif isinstance(slot, str):
            terms.append(slot)
        else:
            inner = next(names)
            terms.append(inner)
            if not isinstance(slot, Anything):
                below += conjuncts(_formula(slot, inner, names))
    pairs = tuple(zip(operator.attributes, terms[2:], strict=True))
    yield Atom(operator.relation, terms[0], terms[1], pairs, operator.closed)
    yield from below

"""The operators that a query computes, as a tree: projections, `and`, `or` and `not`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import assert_never

from nqe.query.formula import And, Atom, Formula, Not, Or, Term, Variable, split_and


@dataclass(frozen=True, slots=True)
class Projection:
    """The entities in the asked slot of all facts that match.

    The slots are subject, object, then the values of the qualifiers. Each holds the name of an
    anchor, an operator (any of its answers matches), or None in the asked slot.
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
    """The entities that are in all inputs."""

    variable: str
    inputs: tuple[Operator, ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    """The entities that are in at least one input."""

    variable: str
    inputs: tuple[Operator, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """Every entity that is not in the input."""

    variable: str
    input: Operator

    @property
    def inputs(self) -> tuple[Operator, ...]:
        """Its one input."""
        return (self.input,)


@dataclass(frozen=True, slots=True)
class Anything:
    """Every entity: a variable that nothing restricts."""

    variable: str

    @property
    def inputs(self) -> tuple[Operator, ...]:
        """Empty."""
        return ()


Operator = Projection | Conjunction | Disjunction | Negation | Anything


def measure_depth(operator: Operator) -> int:
    """The number of operators on the longest way from an operator down."""
    level, depth = [operator], 0
    while level:
        level, depth = [below for above in level for below in above.inputs], depth + 1
    return depth


def is_complement(operator: Operator) -> bool:
    """Whether an operator is restricted only by negations, so that nearly everything is in it."""
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


def to_formula(operator: Operator, target: Variable) -> Formula:
    """A formula over the target that computes the operator; its other variables get new names."""
    new_names = (Variable(f"v{i}") for i in count(1) if f"v{i}" != target.name)
    return _to_formula(operator, target, new_names)


def _to_formula(operator: Operator, variable: Variable, new_names: Iterator[Variable]) -> Formula:
    match operator:
        case Projection():
            return _join_and(_split_projection(operator, variable, new_names))
        case Conjunction(_, inputs):
            formulas = [_to_formula(one, variable, new_names) for one in inputs]
            return _join_and(part for formula in formulas for part in split_and(formula))
        case Disjunction(_, inputs):
            return Or(tuple(_to_formula(one, variable, new_names) for one in inputs))
        case Negation(_, inner):
            return Not(_to_formula(inner, variable, new_names))
        case Anything():
            raise ValueError("a variable that nothing restricts has no formula of its own")
        case _:
            assert_never(operator)


def _split_projection(
    operator: Projection, variable: Variable, new_names: Iterator[Variable]
) -> Iterator[Formula]:
    """The atom of a projection, then what restricts the other variables in its slots."""
    terms: list[Term] = []
    below: list[Formula] = []
    for slot in operator.slots:
        if slot is None:
            terms.append(variable)
        elif isinstance(slot, str):
            terms.append(slot)
        else:
            inner = next(new_names)
            terms.append(inner)
            if not isinstance(slot, Anything):
                below += split_and(_to_formula(slot, inner, new_names))
    pairs = tuple(zip(operator.attributes, terms[2:], strict=True))
    yield Atom(operator.relation, terms[0], terms[1], pairs, operator.closed)
    yield from below


def _join_and(formulas: Iterable[Formula]) -> Formula:
    parts = tuple(formulas)
    return And(parts) if len(parts) > 1 else parts[0]

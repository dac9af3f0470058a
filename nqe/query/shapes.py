"""Shapes of queries: the table of the paper's 16 shapes, and the text form of any shape."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import assert_never

from nqe.errors import QueryError
from nqe.query.algebra import (
    Anything,
    Conjunction,
    Disjunction,
    Negation,
    Operator,
    Projection,
)
from nqe.query.limits import CHARACTERS, NESTING, show_value

# The paper's Figure 4. P is a projection; its brackets hold the shapes of what fills its slots.
SHAPES = {
    "1p": "P()",
    "2p": "P(P())",
    "3p": "P(P(P()))",
    "2i": "And(P(), P())",
    "3i": "And(P(), P(), P())",
    "pi": "And(P(P()), P())",
    "ip": "P(And(P(), P()))",
    "2u": "Or(P(), P())",
    "up": "P(Or(P(), P()))",
    "2cp": "P(P(), P())",
    "3cp": "P(P(), P(), P())",
    "2in": "And(P(), Not(P()))",
    "3in": "And(P(), P(), Not(P()))",
    "inp": "P(And(P(), Not(P())))",
    "pin": "And(P(P()), Not(P()))",
    "pni": "And(Not(P(P())), P())",
}
POSITIVE = tuple(name for name, tree in SHAPES.items() if "Not" not in tree)
NEGATIVE = tuple(name for name, tree in SHAPES.items() if "Not" in tree)

# The least and the most inputs that an operator may have; None is no limit.
_FAN_IN = {"P": (0, None), "And": (2, None), "Or": (2, None), "Not": (1, 1), "Any": (0, 0)}


@dataclass(frozen=True, slots=True)
class Shape:
    """The word of an operator (P, And, Or, Not, Any) and the shapes of its inputs."""

    word: str
    inputs: tuple[Shape, ...] = ()

    @classmethod
    def of(cls, operator: Operator) -> Shape:
        """The shape of a tree of operators."""
        return cls(_find_word(operator), tuple(map(cls.of, operator.inputs)))

    def __str__(self) -> str:
        return f"{self.word}({', '.join(map(str, self.inputs))})"

    def walk(self) -> Iterator[Shape]:
        """The shape itself and all shapes below it."""
        yield self
        for one in self.inputs:
            yield from one.walk()

    @property
    def name(self) -> str:
        """Its name if it is one of the 16, in any order of inputs; otherwise the tree as text."""
        return _names().get(self.sorted(), str(self))

    def sorted(self) -> Shape:
        """The shape with its inputs in a fixed order, as their order has no meaning."""
        inputs = sorted((one.sorted() for one in self.inputs), key=str)
        return Shape(self.word, tuple(inputs))


def parse_shape(text: str) -> Shape:
    """The shape that a name (`2in`) or a tree (`And(P(P()), Not(P()))`) stands for."""
    CHARACTERS.check(len(text))
    tree = SHAPES.get(text.strip(), text)
    tokens = re.findall(r"\w+|[(),]|\S", tree)[::-1]
    shape = _parse(tokens, text)
    if tokens:
        raise _misread(text, f"'{tokens[-1]}' is left over")
    return shape


def rank_shape(name: str) -> tuple[int, str]:
    """A sort key for names of shapes: those of the table in its order, then all others."""
    names = list(SHAPES)
    return (names.index(name) if name in names else len(names), name)


def _find_word(operator: Operator) -> str:
    match operator:
        case Projection():
            return "P"
        case Conjunction():
            return "And"
        case Disjunction():
            return "Or"
        case Negation():
            return "Not"
        case Anything():
            return "Any"
        case _:
            assert_never(operator)


@cache
def _names() -> dict[Shape, str]:
    return {parse_shape(name).sorted(): name for name in SHAPES}


def _parse(tokens: list[str], text: str, depth: int = 1) -> Shape:
    """The shape at the end of the tokens, which are in reverse order; removes its tokens."""
    NESTING.check(depth)
    word = tokens.pop() if tokens else ""
    if word not in _FAN_IN:
        found = f"'{word}' is none of {', '.join(_FAN_IN)}" if word else "it ends too early"
        raise _misread(text, found)
    if tokens[-1:] != ["("]:
        raise _misread(text, f"no '(' after {word}")
    tokens.pop()
    inputs: list[Shape] = []
    while tokens[-1:] != [")"]:
        inputs.append(_parse(tokens, text, depth + 1))
        if tokens[-1:] == [","]:
            tokens.pop()
        elif tokens[-1:] != [")"]:
            raise _misread(text, "a bracket is not closed")
    tokens.pop()
    least, most = _FAN_IN[word]
    if len(inputs) < least or (most is not None and len(inputs) > most):
        raise _misread(text, f"{word} does not take {len(inputs)} input(s)")
    return Shape(word, tuple(inputs))


def _misread(text: str, what: str) -> QueryError:
    return QueryError(
        f"shape {show_value(text)} not understood: {what}; write one of {', '.join(SHAPES)} "
        "or a tree such as And(P(P()), Not(P()))"
    )

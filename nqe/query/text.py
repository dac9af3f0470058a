"""The text syntax of queries: parsing text and rendering formulas, inverse to each other."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, assert_never, cast

from lark import Lark, Token, Transformer, UnexpectedInput

from nqe.errors import QueryError
from nqe.query import builders
from nqe.query.formula import (
    And,
    Atom,
    Comparison,
    Formula,
    Not,
    Or,
    Term,
    Variable,
    check_characters,
)
from nqe.query.limits import CHARACTERS, show_text
from nqe.query.sparql_habits import BY_COUNT
from nqe.query.syntax_errors import describe_error

KEYWORDS = frozenset({"and", "or", "not", "only"})
COUNT = "count"
"""A keyword among the targets only."""
_WORD = re.compile(r'[^\s()\[\],;:"&|!?<=>][^\s()\[\],;:"&|!?]*')
_QUOTED_WORDS = KEYWORDS | {COUNT}

Parsed = tuple[tuple[Variable, ...], Formula, Variable | None]
"""The targets of a query, its formula, and the variable that it counts."""


def parse_text(text: str) -> Parsed:
    """What a text such as `?x, ?y: borders(?x, ?y)` or `count ?x: borders(?x, France)` asks."""
    CHARACTERS.check(len(text))
    check_characters(text)
    try:
        # The builder makes formulas while the text is parsed, so that there is no tree.
        return cast(Parsed, _parser().parse(text))
    except UnexpectedInput as error:
        raise describe_error(text, error) from None


def render_query(
    targets: Iterable[Variable], formula: Formula, counted: Variable | None = None
) -> str:
    """A query as text, with brackets only where they are needed."""
    return f"{render_targets(targets, counted)}: {render_formula(formula)}"


def render_targets(targets: Iterable[Variable], counted: Variable | None = None) -> str:
    """What a query asks for, as text: `?x, ?y` or `?x, count ?y`."""
    count = () if counted is None else (f"count {counted}",)
    return ", ".join((*map(str, targets), *count))


def render_formula(formula: Formula) -> str:
    """A formula as text."""
    match formula:
        case Atom():
            return render_atom(formula)
        case Comparison(operator, left, right):
            return f"{left} {operator} {render_term(right)}"
        case Not(part):
            return f"not {_render_bracketed(part, And, Or)}"
        case And(parts):
            return " and ".join(_render_bracketed(part, And, Or) for part in parts)
        case Or(parts):
            return " or ".join(_render_bracketed(part, Or) for part in parts)
        case _:
            assert_never(formula)


def render_atom(atom: Atom) -> str:
    """An atom as text."""
    only = "only " if atom.closed else ""
    pairs = ", ".join(f"{_quote(a)}: {render_term(value)}" for a, value in atom.qualifiers)
    terms = f"{render_term(atom.subject)}, {render_term(atom.object)}"
    return f"{only}{render_term(atom.relation)}({terms}{'; ' + pairs if pairs else ''})"


def render_term(term: Term) -> str:
    """A variable, or a name, in quotes if it needs them."""
    return str(term) if isinstance(term, Variable) else _quote(term)


def _render_bracketed(formula: Formula, *kinds: type) -> str:
    text = render_formula(formula)
    return f"({text})" if isinstance(formula, kinds) else text


def _quote(text: str) -> str:
    """A name, in quotes if it could not be read otherwise."""
    if _WORD.fullmatch(text) and text not in _QUOTED_WORDS:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@dataclass(frozen=True)
class _Counted:
    """A variable that a query counts."""

    variable: Variable


@cache
def _parser() -> Lark:
    grammar = (Path(__file__).parent / "grammar.lark").read_text(encoding="utf-8")
    return Lark(
        grammar, start="query", parser="lalr", maybe_placeholders=True, transformer=_Builder()
    )


class _Builder(Transformer[Token, Any]):
    """Turns the parser's tree into targets, a formula and a counted variable."""

    def query(self, children: list[Any]) -> Parsed:
        (targets, counted), formula = children
        return targets, formula, counted

    def asked(self, children: list[Any]) -> tuple[tuple[Variable, ...], Variable | None]:
        targets = tuple(one for one in children if isinstance(one, Variable))
        [*_, last] = children
        return targets, None if isinstance(last, Variable) or last is None else last.variable

    def counted(self, children: list[Variable]) -> _Counted:
        return _Counted(children[0])

    def disjunction(self, children: list[Any]) -> Or:
        return Or(tuple(children))

    def conjunction(self, children: list[Any]) -> And:
        return And(tuple(children))

    def negation(self, children: list[Any]) -> Not:
        return Not(children[0])

    def atom(self, children: list[Any]) -> Atom:
        only, relation, subject, object_, *qualifiers = children
        pairs = tuple(pair for pair in qualifiers if pair is not None)
        return Atom(relation, subject, object_, pairs, closed=only is not None)

    def qualifier(self, children: list[Any]) -> tuple[str, Term]:
        return children[0], children[1]

    def comparison(self, children: list[Any]) -> Comparison:
        left, operator, right = children
        if not isinstance(left, Variable) and not isinstance(right, Variable):
            shown = show_text(f"{render_term(left)} {operator} {render_term(right)}")
            hint = BY_COUNT if left == "count" else "compare a variable with one of them"
            raise QueryError(f"{shown} compares two names; {hint}")
        return builders.comparison(left, str(operator), right)

    def value(self, children: list[Token]) -> str:
        return str(children[0])

    def variable(self, children: list[Token]) -> Variable:
        return Variable(children[0][1:])

    def name(self, children: list[Token]) -> str:
        token = children[0]
        if token.type == "QUOTED":
            return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL)
        return str(token)

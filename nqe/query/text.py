"""The text syntax of queries: parsing text and rendering formulas, inverse to each other."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, assert_never, cast

from lark import Lark, Token, Transformer, UnexpectedInput

from nqe.errors import QuerySyntaxError
from nqe.query.formula import And, Atom, Formula, Not, Or, Term, Variable, check_characters
from nqe.query.limits import CHARACTERS
from nqe.shown_text import count_cells, make_visible

KEYWORDS = frozenset({"and", "or", "not", "only"})
_WORD = re.compile(r'[^\s()\[\],;:"&|!?]+')

# How many characters before and after an error are shown.
_AROUND = 200

# How error messages call the grammar's terminals.
_TERMINALS = {
    "_AND": "'and'",
    "_OR": "'or'",
    "_NOT": "'not'",
    "ONLY": "'only'",
    "VARIABLE": "a ?variable",
    "QUOTED": "a quoted name",
    "WORD": "a name",
    "LPAR": "'('",
    "RPAR": "')'",
    "COMMA": "','",
    "COLON": "':'",
    "SEMICOLON": "';'",
    "$END": "the end",
}


def parse_text(text: str) -> tuple[Variable, Formula]:
    """The target and the formula of a text such as `?x: borders(?x, France)`."""
    CHARACTERS.check(len(text))
    check_characters(text)
    try:
        # The builder makes formulas while the text is parsed, so that there is no tree.
        target, formula = cast(tuple[Variable, Formula], _parser().parse(text))
    except UnexpectedInput as error:
        raise _describe_error(text, error) from None
    return target, formula


def render_query(targets: Iterable[Variable], formula: Formula) -> str:
    """A query as text, with brackets only where they are needed."""
    return f"{', '.join(map(str, targets))}: {render_formula(formula)}"


def render_formula(formula: Formula) -> str:
    """A formula as text."""
    match formula:
        case Atom():
            return render_atom(formula)
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
    return f"{only}{_quote(atom.relation)}({terms}{'; ' + pairs if pairs else ''})"


def render_term(term: Term) -> str:
    """A variable, or a name, in quotes if it needs them."""
    return str(term) if isinstance(term, Variable) else _quote(term)


def _render_bracketed(formula: Formula, *kinds: type) -> str:
    text = render_formula(formula)
    return f"({text})" if isinstance(formula, kinds) else text


def _quote(text: str) -> str:
    """A name, in quotes if it could not be read otherwise."""
    if _WORD.fullmatch(text) and text not in KEYWORDS:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@cache
def _parser() -> Lark:
    grammar = (Path(__file__).parent / "grammar.lark").read_text(encoding="utf-8")
    return Lark(
        grammar, start="query", parser="lalr", maybe_placeholders=True, transformer=_Builder()
    )


class _Builder(Transformer[Token, Any]):
    """Turns the parser's tree into a target and a formula."""

    def query(self, children: list[Any]) -> tuple[Variable, Formula]:
        return Variable(children[0][1:]), children[1]

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

    def variable(self, children: list[Token]) -> Variable:
        return Variable(children[0][1:])

    def name(self, children: list[Token]) -> str:
        token = children[0]
        if token.type == "QUOTED":
            return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL)
        return str(token)


def _suggest(shown: str, line: int, column: int, error: UnexpectedInput) -> str:
    """What the query lacks at the place of the error; empty if that is not known."""
    if line == 1 and column == 1:
        return "; a query begins with its target variable, as in ?x: capital(?x, ?y)"
    if shown[column - 1 : column] == '"':
        return "; the quote is not closed"
    expected = (
        getattr(error, "accepts", None)
        or getattr(error, "expected", None)
        or getattr(error, "allowed", None)
        or ()
    )
    wanted = sorted({_TERMINALS.get(name, name) for name in expected})
    return f"; expected {' or '.join(wanted)}" if wanted else ""


def _describe_error(text: str, error: UnexpectedInput) -> QuerySyntaxError:
    """The place of the error, what was expected there, and the line with a caret below it."""
    line, column = error.line, error.column
    if line is None or line < 1 or getattr(getattr(error, "token", None), "type", "") == "$END":
        lines = text.rstrip().split("\n")
        line, column = len(lines), len(lines[-1]) + 1
    # The parser counts lines by "\n" alone.
    found = text.split("\n")[line - 1] if text.strip() else ""
    hint = _suggest(found, line, column, error)
    where = f"line {line}, column {column}" if "\n" in text.strip() else f"column {column}"
    first = max(0, column - 1 - _AROUND)
    caret = " " * count_cells(make_visible(found[first : column - 1])) + "^"
    shown = make_visible(found[first : column + _AROUND].rstrip("\r"))
    message = f"query not understood at {where}{hint}\n  {shown}\n  {caret}"
    return QuerySyntaxError(message, line, column)

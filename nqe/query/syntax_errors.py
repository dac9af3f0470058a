"""Errors of query text: the place, what was expected there or how it is written here."""

from __future__ import annotations

import re

from lark import UnexpectedInput

from nqe.errors import QuerySyntaxError
from nqe.query.limits import show_text
from nqe.query.misplaced_parts import find_misplaced, find_open_atom
from nqe.query.sparql_habits import COUNTS, find_habit
from nqe.shown_text import count_cells, make_visible

_QUOTED = re.compile(r'"(?:\\.|[^"\\])*("?)', re.DOTALL)
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\?\w+|&&|\|\||[^\s()\[\]{},;:"&|!?]+|\S', re.DOTALL)
_NAME = re.compile(r'[^\s()\[\]{},;:"&|!?<=>]+|"(?:\\.|[^"\\])*"', re.DOTALL)
_GLUED = re.compile(r"(?<=.)(!=|[<>=]=?)$")
_COUNT = re.compile(r"\(?\s*count\b", re.IGNORECASE)
_REST = re.compile(r'[^\s()\[\],;"&|!?]*')

# How many characters before and after an error are shown.
_AROUND = 200
# How many characters before an error are looked at for what may have been meant.
_BEFORE = 1_000

_KEYWORDS = ("and", "or", "not", "only", "&", "|", "!")

# How error messages call the grammar's terminals.
_TERMINALS = {
    "_AND": "'and'",
    "_OR": "'or'",
    "_NOT": "'not'",
    "_COUNT": "'count'",
    "ONLY": "'only'",
    "VARIABLE": "a ?variable",
    "QUOTED": "a quoted name",
    "WORD": "a name",
    "VALUE": "a name",
    "OPERATOR": "a comparison such as <=",
    "LPAR": "'('",
    "RPAR": "')'",
    "COMMA": "','",
    "COLON": "':'",
    "SEMICOLON": "';'",
    "$END": "the end",
}


def describe_error(text: str, error: UnexpectedInput) -> QuerySyntaxError:
    """The place of the error, what was expected there, and the line with a caret below it."""
    line, column, place = _find_place(text, error)
    hint = _suggest(text, place, error)
    # The parser counts lines by "\n" alone.
    found = text.split("\n")[line - 1] if text.strip() else ""
    where = f"line {line}, column {column}" if "\n" in text.strip() else f"column {column}"
    first = max(0, column - 1 - _AROUND)
    caret = " " * count_cells(make_visible(found[first : column - 1])) + "^"
    shown = make_visible(found[first : column + _AROUND].rstrip("\r"))
    message = f"query not understood at {where}{hint}\n  {shown}\n  {caret}"
    return QuerySyntaxError(message, line, column)


def _find_place(text: str, error: UnexpectedInput) -> tuple[int, int, int]:
    """The line, the column and the place in the text of an error; its end if that is missing."""
    line, column = error.line, error.column
    if line is None or line < 1 or getattr(getattr(error, "token", None), "type", "") == "$END":
        lines = text.rstrip().split("\n")
        return len(lines), len(lines[-1]) + 1, len(text.rstrip())
    return line, column, error.pos_in_stream or 0


def _suggest(text: str, place: int, error: UnexpectedInput) -> str:
    """How to go on at the place of an error; empty if that is not known."""
    before = [one[0] for one in _TOKEN.finditer(text, max(0, place - _BEFORE), place)]
    found = _TOKEN.match(text, place)
    here = found[0] if found else ""
    hint = (
        _find_open_quote(text, place)
        or (":" not in text[:place] and _find_head(before, text, place))
        or find_habit(before, here)
        or _find_glued_operator(before, here)
        or _find_colon(before, text, place)
        or find_misplaced(before, here)
        or _find_words(before, here)
    )
    if not hint and not before:
        hint = "a query begins with its target variable, as in ?x: capital(?x, ?y)"
    return f"; {hint}" if hint else _list_expected(error)


def _find_open_quote(text: str, place: int) -> str:
    """That a quote is not closed, if that is so."""
    for quoted in _QUOTED.finditer(text):
        if not quoted[1]:
            return f"{'the' if quoted.start() == place else 'a'} quote is not closed"
    return ""


def _find_glued_operator(before: list[str], here: str) -> str:
    """That an operator stands between spaces, if a name ends with one."""
    glued = _GLUED.search(before[-1]) if before and here.startswith(("?", '"')) else None
    return f"put spaces around {glued[0]}, because names can have such signs" if glued else ""


def _find_colon(before: list[str], text: str, place: int) -> str:
    """What to do with a name that has a colon, if there is one."""
    if not (before and text[place : place + 1] == ":" and _NAME.fullmatch(before[-1].lstrip("<"))):
        return ""
    rest = _REST.match(text, place)
    name = show_text(before[-1] + (rest[0] if rest else ""))
    prefix, _, local = name.partition(":")
    if prefix.isidentifier() and local and not local.startswith("//"):
        return f"there are no prefixes; write {local} in place of {name}"
    return f'a name with a colon stands in quotes: "{name.strip("<>")}"'


def _find_head(before: list[str], text: str, place: int) -> str:
    """How targets are written, if the error is among them."""
    if "count" in [word.lower() for word in before] or _COUNT.match(text, place):
        return COUNTS
    if before and before[-1].startswith("?") and text[place:]:
        return "targets are separated by ',' and end with ':', as in ?x, ?y: borders(?x, ?y)"
    return ""


def _find_words(before: list[str], here: str) -> str:
    """How a triple, an attribute, or a name of several words is written."""
    last = before[-1] if before else ""
    if last == ";" and here.startswith("?"):
        return f"an attribute is always named, as in year: {here}"
    if not _NAME.fullmatch(here):
        return ""
    if last.startswith("?") and find_open_atom(before) is None:
        return f"a fact is written relation(subject, object), as in {show_text(here)}({last}, ?y)"
    if _NAME.fullmatch(last) and last not in _KEYWORDS:
        name = f"{last} {here}".replace('"', "").strip("'")
        return f'a name of several words stands in double quotes: "{show_text(name)}"'
    return ""


def _list_expected(error: UnexpectedInput) -> str:
    expected = (
        getattr(error, "accepts", None)
        or getattr(error, "expected", None)
        or getattr(error, "allowed", None)
        or ()
    )
    wanted = sorted({_TERMINALS.get(name, name) for name in expected})
    return f"; expected {' or '.join(wanted)}" if wanted else ""

"""Queries to SPARQL endpoints: what they ask for, and the same query for one page of its result.

Endpoints extend SPARQL (Wikidata knows prefixes that no query declares), so a query is split into
tokens and not parsed; the endpoint says what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nqe.errors import InputError

SELECT, CONSTRUCT = "SELECT", "CONSTRUCT"
_OTHER_FORMS = ("ASK", "DESCRIBE", "INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "DROP")
_ADVICE = "write a SELECT or a CONSTRUCT query"
_TOKEN = re.compile(
    r'''
    (?P<space>\s+|\#[^\r\n]*)
    | (?P<iri><[^<>"{}|^`\\\x00-\x20]*>)
    | (?P<text>"""([^"\\]|\\.|"(?!""))*"""|\'\'\'([^'\\]|\\.|'(?!\'\'))*\'\'\'
        |"([^"\\\r\n]|\\.)*"|'([^'\\\r\n]|\\.)*')
    | (?P<variable>[?$]\w+)
    | (?P<name>(_|[^\W\d_][\w.-]*)?:([\w.:%-]|\\.)*)
    | (?P<word>[^\W\d][\w.-]*)
    | (?P<number>[0-9]+)
    | (?P<sign>.)
    ''',
    re.DOTALL | re.VERBOSE,
)
_DEEPER, _HIGHER = "{(", "})"


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int
    depth: int
    """In how many braces and parentheses it stands; a brace stands outside itself."""

    def is_word(self, *words: str) -> bool:
        """Whether it is one of some keywords, outside all braces."""
        return self.kind == "word" and not self.depth and self.text.upper() in words


_Edit = tuple[int, int, str]
"""A part of a text from one position to another, and what replaces it."""


@dataclass(frozen=True)
class SparqlQuery:
    """A SELECT or CONSTRUCT query, in the parts that pages of it are made of."""

    form: str
    limit: int | None
    """How many solutions the query itself asks for; None if for all."""
    offset: int
    """How many solutions the query itself skips."""
    is_ordered: bool
    _main: str
    _counting: str
    _end: str

    def write_page(self, limit: int, offset: int) -> str:
        """The query for the solutions of one page."""
        return f"{self._main}\nLIMIT {limit} OFFSET {offset}\n{self._end}".rstrip() + "\n"

    def write_count(self, limit: int, offset: int) -> str:
        """A SELECT with one short row for each solution of a page of a CONSTRUCT."""
        return f"{self._counting}\nLIMIT {limit} OFFSET {offset}\n{self._end}".rstrip() + "\n"


def parse_query(text: str) -> SparqlQuery:
    """The parts of a query; what is neither SELECT nor CONSTRUCT is an InputError."""
    tokens = list(_split(text))
    form = _find_form(tokens)
    after = tokens[tokens.index(form) + 1 :]
    limits = {key: list(_find_limits(after, key)) for key in ("LIMIT", "OFFSET")}
    edits = [(one.start, number.end, " ") for found in limits.values() for one, number in found]
    # VALUES may follow the limits, which therefore stand before it.
    end = next((one.start for one in after if one.is_word("VALUES")), len(text))
    return SparqlQuery(
        form.text.upper(),
        _read_limit(limits["LIMIT"]),
        _read_limit(limits["OFFSET"]) or 0,
        any(one.is_word("ORDER") for one in after),
        _replace(text[:end], edits),
        _replace(text[:end], [*edits, _count_solutions(text, form, after)]),
        _replace(text, [(0, end, ""), *(edit for edit in edits if edit[0] > end)]),
    )


def _split(text: str) -> Iterator[_Token]:
    """The tokens that are neither spaces nor comments."""
    depth = 0
    for found in _TOKEN.finditer(text):
        kind, written = found.lastgroup or "", found[0]
        depth -= kind == "sign" and written in _HIGHER
        if kind != "space":
            yield _Token(kind, written, found.start(), found.end(), depth)
        depth += kind == "sign" and written in _DEEPER
        if depth < 0:
            raise InputError("a brace or parenthesis is closed that was not opened; correct it")
    if depth:
        raise InputError("a brace or parenthesis is not closed; correct it")


def _find_form(tokens: Sequence[_Token]) -> _Token:
    """The word that says what the query asks for."""
    for token in tokens:
        if token.is_word(SELECT, CONSTRUCT):
            return token
        if token.is_word(*_OTHER_FORMS):
            raise InputError(f"{token.text.upper()} gives no facts; {_ADVICE}")
        if token.text == "{":
            break
    raise InputError(f"neither SELECT nor CONSTRUCT stands in it; {_ADVICE}")


def _find_limits(tokens: Sequence[_Token], key: str) -> Iterator[tuple[_Token, _Token]]:
    """The places where a query limits its solutions, with the numbers there."""
    for place, token in enumerate(tokens):
        if token.is_word(key):
            number = tokens[place + 1] if place + 1 < len(tokens) else token
            if number.kind != "number":
                raise InputError(f"{key} has no number after it; write one, or leave it out")
            yield token, number


def _read_limit(found: Sequence[tuple[_Token, _Token]]) -> int | None:
    return int(found[0][1].text) if found else None


def _count_solutions(text: str, form: _Token, after: Sequence[_Token]) -> _Edit:
    """What makes a SELECT of a CONSTRUCT, of one constant for each solution."""
    end = form.end
    if after and after[0].text == "{":
        end = next(one.end for one in after[1:] if one.text == "}" and not one.depth)
    name = "?nqe_solution"
    while name in text:
        name += "_"
    return form.start, end, f"SELECT (1 AS {name})"


def _replace(text: str, edits: Sequence[_Edit]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        if end <= len(text):
            text = text[:start] + new + text[end:]
    return text

"""How to write here what people write by habit from SPARQL and other languages."""

from __future__ import annotations

import re

_PART = "parts are joined by and, or by or"
_BRACKETS = "parts are grouped by ( … ), not by { … }"
_TARGETS = "the targets stand before a ':' and there is no WHERE, as in ?x, ?y: borders(?x, ?y)"
_OPTION = (
    "how many answers are given, and in which order, is an option, no part of a query: "
    "--limit 10, --order-by '?y desc'"
)
COUNTS = "count ?x: … counts, and ?y, count ?x: … counts for each ?y"
"""How counts are written."""
_FUNCTIONS = (
    "there are no functions and no arithmetic; compare values as they are, as in ?y >= 1999"
)
BY_COUNT = "answers cannot be chosen by a count; keep those you want from the result"
"""What to do where a count is compared."""
_NEGATION = "write not ( … )"
_CHOICE = "write (?y = a or ?y = b)"

# What to write in place of a word.
_WORDS = {
    "&&": "'&&' is written and",
    "||": "'||' is written or",
    ".": f"{_PART}, and no point ends them",
    "{": _BRACKETS,
    "}": _BRACKETS,
    "SELECT": _TARGETS,
    "ASK": _TARGETS,
    "CONSTRUCT": _TARGETS,
    "DESCRIBE": _TARGETS,
    "WHERE": _TARGETS,
    "PREFIX": f"there are no prefixes, as names are ids or labels; {_TARGETS}",
    "DISTINCT": "every answer is given once, so leave out DISTINCT",
    "FILTER": "a filter is a part like others: … and ?y >= 1999 and ?x != France",
    "OPTIONAL": "there is no OPTIONAL; ask one query with the part and one without it",
    "UNION": "UNION is written or",
    "MINUS": _NEGATION,
    "EXISTS": _NEGATION,
    "BIND": _FUNCTIONS,
    "VALUES": _CHOICE,
    "IN": _CHOICE,
    "COUNT": COUNTS,
    "GROUP": COUNTS,
    "HAVING": BY_COUNT,
    "HOW": COUNTS,
    "ORDER": _OPTION,
    "LIMIT": _OPTION,
    "OFFSET": _OPTION,
    "+": _FUNCTIONS,
    "-": _FUNCTIONS,
    "*": _FUNCTIONS,
    "/": _FUNCTIONS,
    "==": "'==' is written =",
    "<>": "'<>' is written !=",
    "=>": "'=>' is written >=",
    "=<": "'=<' is written <=",
    "≠": "'≠' is written !=",
    "≤": "'≤' is written <=",
    "≥": "'≥' is written >=",
    **dict.fromkeys(("SUM", "AVG", "MIN", "MAX"), f"nothing is computed but numbers; {COUNTS}"),
    **dict.fromkeys(("YEAR", "MONTH", "DAY", "STR", "LANG", "REGEX", "CONTAINS"), _FUNCTIONS),
}
_KEYWORDS = ("and", "or", "not", "only", "count")
# Words that may well be names; in small letters they count only where the error is.
_ALSO_NAMES = {
    "ask",
    "in",
    "count",
    "how",
    "group",
    "order",
    "limit",
    "offset",
    "describe",
    "values",
} | {*("sum", "avg", "min", "max", "year", "month", "day", "str", "lang", "minus", "union")}
# How many words before an error are looked at.
_NEAR = 3
_FUNCTION_CALL = re.compile(r"(\w+) \( \S+ \)")
_COUNT_CALL = re.compile(r"count \( (\?\w+ \)|\S+ \()", re.IGNORECASE)


def find_habit(before: list[str], here: str) -> str:
    """How the first of the words at an error is written here; empty if none is known.

    `before` are the words before the error, `here` is the one at it.
    """
    near = [*before[-_NEAR:], here]
    called = _FUNCTION_CALL.fullmatch(" ".join(near))
    if called and _WORDS.get(called[1].upper()) == _FUNCTIONS:
        return _FUNCTIONS
    if _COUNT_CALL.search(" ".join(near)):
        return COUNTS
    for place, word in enumerate(near):
        if word.lower() in _KEYWORDS and word.lower() != word and word.lower() != "count":
            return f"'{word}' is written {word.lower()}"
        is_name = word in _ALSO_NAMES and place < len(near) - 1
        if word.upper() in _WORDS and not is_name:
            return _WORDS[word.upper()]
    return _WORDS.get(near[-2] + here, "") if before else ""

"""What to write in place of a part that stands where none can: in an atom, in a list, in words."""

from __future__ import annotations

import re

_SIGNS = ("=", "<", ">", "<=", ">=", "!")
"""The words that operators consist of; `!=` is two."""
_BRACKET_WORDS = ("and", "or", "not", "only", "&", "|", "!")
"""What may stand before the bracket of a formula, unlike the name of a relation."""
_NAME = re.compile(r'[^\s()\[\]{},;:"&|!<=>]+|"(?:\\.|[^"\\])*"', re.DOTALL)

_OTHER = "for any other than France, compare a variable: … ?y) and ?y != France"
_OUTSIDE = "comparisons stand outside of atoms: … ?y) and ?y >= 1999"
_QUALIFIERS = "further names are qualifiers after ';', as in currency(?x, Euro; start_year: ?y)"
_OBJECT = "an atom has a subject and an object, as in capital(?x, ?y)"
_EACH = "parts are joined by and, and each comparison has one value: ?x != a and ?x != b"
_RANGE = "a range is two comparisons: ?y > 1999 and ?y < 2005"
_IN_WORDS = {
    "not": "any other than France is ?x != France",
    "is": "one and the same is ?x = France, any other ?x != France",
    "between": _RANGE,
    "after": "after 1999 is ?y > 1999",
    "before": "before 1999 is ?y < 1999",
}


def find_misplaced(before: list[str], here: str) -> str:
    """How to write what is misplaced at an error; empty if nothing is known.

    `before` are the words before the error, `here` is the one at it.
    """
    atom = find_open_atom(before)
    return _find_in_formula(before, here) if atom is None else _find_in_atom(atom, here)


def find_open_atom(before: list[str]) -> list[str] | None:
    """The words after the bracket of the atom that is not closed at the end; None if none is."""
    closed = 0
    for place in reversed(range(len(before))):
        closed += before[place] == ")"
        closed -= before[place] == "("
        if closed < 0:
            name = before[place - 1] if place else ""
            is_relation = bool(_NAME.fullmatch(name)) and name not in _BRACKET_WORDS
            return before[place + 1 :] if is_relation else None
    return None


def _find_in_atom(atom: list[str], here: str) -> str:
    last = atom[-1] if atom else ""
    if last == "not" or (here == "!" and not last.startswith("?")):
        return _OTHER
    if here in _SIGNS or last in _SIGNS:
        return _OUTSIDE
    if here == "," and ";" not in atom:
        return _QUALIFIERS
    return _OBJECT if here == ")" and len(atom) == 1 else ""


def _find_in_formula(before: list[str], here: str) -> str:
    last = before[-1] if before else ""
    if here == "," or (here == "(" and last in _SIGNS):
        return _EACH
    if _is_range(before, here):
        return _RANGE
    return _IN_WORDS.get(here, "") if last.startswith("?") else ""


def _is_range(before: list[str], here: str) -> bool:
    """Whether a comparison begins with its operator, or has two."""
    left, sign = ["", "", *before][-2:]
    return (here in _SIGNS and left in _SIGNS) or (sign in _SIGNS and left in ("and", "or"))

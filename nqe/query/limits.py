"""The limits of a query's size, and how much of a large one an error message shows."""

from __future__ import annotations

from dataclasses import dataclass
from reprlib import Repr

from nqe.errors import QueryError


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that a query may have of something, and the error for more."""

    what: str
    most: int
    error: str

    def check(self, size: int) -> None:
        """Refuse a size above the limit."""
        if size > self.most:
            raise self.exceeded()

    def exceeded(self) -> QueryError:
        """The error for a query that is larger."""
        return QueryError(self.error.format(most=self.most))


CHARACTERS = Limit(
    "characters of the text",
    100_000,
    "the query has more than {most:,} characters; split it into smaller ones",
)
ATOMS = Limit(
    "atoms and comparisons",
    1_000,
    "the query has more than {most:,} atoms and comparisons; split it into smaller ones",
)
TARGETS = Limit("targets", 50, "the query has more than {most:,} targets; ask for fewer")
QUALIFIERS = Limit(
    "qualifiers of one atom",
    200,
    "an atom has more than {most:,} qualifiers; leave some out",
)
NESTING = Limit(
    "nesting of `and`, `or`, `not` and of steps",
    100,
    "the query is nested more than {most:,} deep; split it into smaller ones",
)
# JSON is longer than text. What is within the limits above is within these two as well.
JSON_CHARACTERS = Limit(
    "characters of JSON text",
    2_000_000,
    "query JSON: more than {most:,} characters; split the query into smaller ones",
)
JSON_VALUES = Limit(
    "values in JSON",
    200_000,
    "query JSON: more than {most:,} values; split the query into smaller ones",
)

LIMITS = (CHARACTERS, TARGETS, ATOMS, QUALIFIERS, NESTING, JSON_CHARACTERS, JSON_VALUES)

_SHOWN = 100
_short = Repr()
_short.maxstring = _short.maxother = _SHOWN


def show_value(value: object) -> str:
    """A value of any kind for an error message, in quotes if it is text; long ones are cut."""
    shown = _short.repr(value)
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"


def show_text(text: str) -> str:
    """Text for an error message; long text is cut."""
    return text if len(text) <= 2 * _SHOWN else f"{text[:_SHOWN]} … {text[-_SHOWN:]}"

"""The errors that a user can cause; each message says where, what, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from nqe.shown_text import make_lines_visible, make_visible

Value = TypeVar("Value")


class NqeError(Exception):
    """Base of all errors that a user can cause; the command line prints it and exits with 2.

    A message may quote what was read or typed: as text it is visible, `args` keep it as it is.
    """

    def __str__(self) -> str:
        return make_lines_visible(super().__str__())


class OneLineError(NqeError):
    """An error whose message is one line, whatever a library's message in it or a name holds."""

    def __str__(self) -> str:
        return " ".join(super().__str__().splitlines())


class InputError(OneLineError):
    """A source cannot be read, or one of its lines is wrong."""


class StorageError(OneLineError):
    """A file or folder cannot be written, or a saved folder cannot be read."""


class NameLookupError(NqeError):
    """A name stands for no entity or relation, or for several."""


class UnknownName(NameLookupError):
    """No entity or relation has this name."""

    def __init__(self, kind: str, text: str, nearest: Sequence[str] = ()) -> None:
        self.kind, self.text, self.nearest = kind, text, tuple(nearest)
        hint = f"did you mean {_either(nearest)}?" if nearest else "try `nqe find` with part of it"
        super().__init__(f"no {kind} is called '{_cut(text)}'; {hint}")


class AmbiguousName(NameLookupError):
    """Several entities or relations have this name."""

    def __init__(self, kind: str, text: str, candidates: Sequence[str]) -> None:
        self.kind, self.text, self.candidates = kind, text, tuple(candidates)
        more = ("…",) if len(candidates) > 8 else ()
        listed = "; ".join((*map(make_visible, candidates[:8]), *more))
        super().__init__(
            f"'{_cut(text)}' names {len(candidates)} {form_plural(kind)}; "
            f"use an id instead: {listed}"
        )


class QueryError(NqeError):
    """A query cannot be parsed, or has no meaning."""


class WrongValue(QueryError):
    """A comparison cannot compare with this; `text` is what was written."""

    def __init__(self, message: str, text: str) -> None:
        self.text = text
        super().__init__(message)


class QuerySyntaxError(QueryError):
    """The text of a query cannot be parsed; `line` and `column` count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        self.line, self.column = line, column
        super().__init__(message)


class TooManyBindings(NqeError):
    """Matching a pattern would look at more facts than the limit allows."""

    def __init__(self, needed: int, limit: int) -> None:
        super().__init__(
            f"a step would look at {needed:,} facts, more than the limit of {limit:,}; "
            "name more entities in the query or raise the limit (--max-bindings)"
        )


def form_plural(kind: str) -> str:
    """The plural of 'entity' or 'relation'."""
    return kind[:-1] + "ies" if kind.endswith("y") else kind + "s"


def choose(table: Mapping[str, Value], name: str, what: str) -> Value:
    """The entry of a table by its name; the error for an unknown name lists the known ones."""
    if name not in table:
        raise NqeError(f"unknown {what} '{name}'; choose one of {', '.join(table)}")
    return table[name]


def _cut(text: str, most: int = 200) -> str:
    """A name for an error message; a very long one is cut."""
    return make_visible(text if len(text) <= most else text[:most] + "…")


def _either(options: Iterable[str]) -> str:
    quoted = [f"'{make_visible(option)}'" for option in options]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"

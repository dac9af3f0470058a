"""Literals: times, numbers and texts as entities, whose ids say what they are.

The id of a literal is its canonical form, `^^` and its kind: `1903-06-01^^time`,
`12.5 kg^^number`, `some text^^text`, `some text^^text@en`. An entity is a literal exactly if its
id has this form, so literals survive every format that holds ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar
from unicodedata import category

from nqe.errors import InputError
from nqe.graph.number_values import Number, parse_number
from nqe.graph.time_values import Time, parse_time

MARK = "^^"
"""Stands between the canonical form of a literal and its kind."""
KINDS = ("time", "number", "text")
ENDING = r"\^\^(time|number|text)(@[a-z0-9-]+)?$"
"""What the ids of literals end in, as a regular expression."""
_ENDING = re.compile(ENDING)
_LANGUAGE = re.compile(r"[a-z0-9]+(-[a-z0-9]+|--(ltr|rtl))*")
_ESCAPE = re.compile(r"\\(\\|u[0-9a-f]{4}|.?)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Text:
    """A text, in a language if that is known; any characters, also line breaks."""

    kind: ClassVar[str] = "text"
    text: str
    language: str | None = None

    def __post_init__(self) -> None:
        if self.language is not None and not _LANGUAGE.fullmatch(self.language):
            raise InputError(f"'{self.language:.60}' is no language; write a code such as en")
        try:
            self.text.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"a text has half a character ({error}); mend it") from error

    @property
    def lexical(self) -> str:
        """The text itself."""
        return self.text

    @property
    def shown(self) -> str:
        """The text itself."""
        return self.text

    @property
    def bounds(self) -> None:
        """A text has no number to sort by."""
        return None

    @property
    def sort_key(self) -> str:
        """Orders texts by their characters."""
        return self.text


Literal = Time | Number | Text


def to_id(literal: Literal) -> str:
    """The id of the entity that a literal is."""
    language = f"@{literal.language}" if isinstance(literal, Text) and literal.language else ""
    return f"{_escape(literal.lexical)}{MARK}{literal.kind}{language}"


def parse_id(name: str) -> Literal | None:
    """The literal that an id stands for; None if it is an ordinary id.

    An id that ends like a literal's but is not in canonical form is an error, as it would be
    another entity than the literal that it looks like.
    """
    found = _ENDING.search(name)
    if found is None:
        return None
    kind, language = found[1], found[2]
    try:
        lexical = _unescape(name[: found.start()])
        literal = _parse_lexical(kind, lexical, language and language[1:])
    except InputError as error:
        raise InputError(f"'{name:.60}' is written like a value, but {error}") from error
    if to_id(literal) != name:
        raise InputError(f"'{name:.60}' is not how this value is written; write '{to_id(literal)}'")
    return literal


def is_literal_id(name: str) -> bool:
    """Whether an id is written as that of a literal."""
    return find_kind(name) is not None


def find_kind(name: str) -> str | None:
    """The kind of the literal that an id is written for; None if it is an ordinary id."""
    found = _ENDING.search(name) if MARK in name else None
    return found and found[1]


def list_readings(text: str) -> Iterator[str]:
    """The ids of all literals that a person may mean by a text: the time 1903, the number 1903."""
    for kind in KINDS:
        with suppress(InputError):
            yield to_id(_parse_lexical(kind, text, None))


def _parse_lexical(kind: str, lexical: str, language: str | None) -> Literal:
    if language and kind != "text":
        raise InputError(f"a {kind} has no language; leave out @{language}")
    return Text(lexical, language) if kind == "text" else _PARSERS[kind](lexical)


_PARSERS: dict[str, Callable[[str], Literal]] = {"time": parse_time, "number": parse_number}


def _escape(text: str) -> str:
    """A text without the characters that no id may have: control characters, a leading space."""
    if text.isprintable() and "\\" not in text and text[:1] != " ":
        return text
    return "".join(
        _escape_character(letter, is_first=place == 0) for place, letter in enumerate(text)
    )


def _escape_character(letter: str, *, is_first: bool) -> str:
    if letter == "\\":
        return r"\\"
    is_hidden = letter == "\ufeff" or category(letter) in ("Cc", "Cs", "Zl", "Zp")
    return f"\\u{ord(letter):04x}" if is_hidden or (is_first and letter.isspace()) else letter


def _unescape(text: str) -> str:
    return _ESCAPE.sub(_read_escape, text) if "\\" in text else text


def _read_escape(found: re.Match[str]) -> str:
    written = found[1]
    if written == "\\":
        return written
    if len(written) != 5:
        raise InputError(r"a backslash in it stands alone; write it twice")
    return chr(int(written[1:], 16))

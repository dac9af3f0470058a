"""Text as people see it: characters that act on a screen instead of being seen are replaced.

Labels, queries and file names are data and can hold any character. What is shown of them holds
escapes such as `\\x1b` in place of hidden characters; the data itself is never changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any
from unicodedata import category, east_asian_width

# Control characters (C0, DEL, C1), ends of lines and paragraphs, the embeddings, overrides and
# isolates that reorder the text around them, halves of surrogate pairs, and the two other
# characters that XML forbids. Joiners and the marks U+200E and U+200F are part of ordinary text
# in Persian, Arabic, Hebrew and emoji, and stay.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_MARKDOWN = re.compile(r"[\\`*_\[\]<>|&~$]")
_WIDE = ("W", "F")
_WITHOUT_WIDTH = ("Mn", "Me", "Cf")


def make_visible(text: str) -> str:
    """The text on one line, with an escape such as `\\x1b` in place of each hidden character.

    The escapes are ASCII, so that every terminal can show them. A backslash of the text itself
    stays as it is: what is visible already is not changed again.
    """
    return _HIDDEN.sub(lambda found: ascii(found[0])[1:-1], text)


def make_lines_visible(text: str) -> str:
    """The text with its hidden characters visible, but for the ends of its lines."""
    return join_visible(text.split("\n"))


def join_visible(lines: Iterable[str]) -> str:
    """Lines as one text; a line break within one of them is made visible."""
    return "\n".join(map(make_visible, lines))


def escape_markdown(text: str) -> str:
    """The visible text with the signs of Markdown and HTML escaped, to stand in a line or cell."""
    return _MARKDOWN.sub(r"\\\g<0>", make_visible(text))


def to_code_span(text: str) -> str:
    """The visible text as code in a line of Markdown, whatever backquotes it holds."""
    visible = make_visible(text)
    longest = max((len(run) for run in re.findall("`+", visible)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {visible} {fence}" if longest else f"{fence}{visible}{fence}"


def dump_json(value: Any, indent: int | None = None) -> str:
    """JSON text with exactly this data, in which hidden characters are JSON's own escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    # Line breaks are JSON's own here: within strings they are escaped already.
    return "\n".join(map(_escape_for_json, text.split("\n")))


def _escape_for_json(line: str) -> str:
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", line)


def count_cells(text: str) -> int:
    """How many cells of a terminal's line a visible text takes; East Asian letters take two."""
    return sum(_count_cells_of(letter) for letter in text)


def _count_cells_of(letter: str) -> int:
    if category(letter) in _WITHOUT_WIDTH:
        return 0
    return 2 if east_asian_width(letter) in _WIDE else 1

"""Completion of query text: which names can stand at the cursor, and those that fit best.

The shell and the server's editor use this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nqe.graph.vocabulary import Names, Vocabulary
from nqe.query.labelled import choose_name
from nqe.query.text import KEYWORDS, render_term
from nqe.shown_text import make_visible

LIMIT = 20
_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"?|[(),;:]|[^\s()\[\],;:"&|!?]+|\S')
_NAME = re.compile(r'"(?:\\.|[^"\\])*"|[^\s()\[\],;:"&|!?]+')
# The part of a name before the cursor: back to the last character that cannot be in a name.
LONGEST = 5_000
"""A longer text before the cursor is not completed, as searching it would be felt."""
_TYPED = re.compile(r'("[^"]*|[^\s()\[\],;:"&|!?]+)$')


@dataclass(frozen=True)
class Suggestion:
    """A text that can replace what is typed of a name, and how to show it."""

    text: str
    replaces: int
    """The number of characters before the cursor that it replaces."""
    name: str
    description: str


def complete(before: str, vocabulary: Vocabulary, limit: int = LIMIT) -> Iterator[Suggestion]:
    """Names that start with, contain or resemble what is typed before the cursor."""
    typed = _TYPED.search(before) if len(before) <= LONGEST else None
    if not typed:
        return
    text, length = typed.group().strip('"').replace("_", " "), len(typed.group())
    names = expected_names(before[: typed.start()], vocabulary)
    if names is vocabulary.relations:
        for word in sorted(KEYWORDS):
            if word.startswith(text):
                yield Suggestion(word, length, word, "")
    for hit in names.search(text, limit):
        name = choose_name(names, hit.number)
        description = names.descriptions[hit.number] or names.ids[hit.number]
        shown = make_visible(names.labels[hit.number] or name)
        yield Suggestion(render_term(name), length, shown, make_visible(description))


def expected_names(before: str, vocabulary: Vocabulary) -> Names:
    """Entities inside the brackets of an atom; attributes after its `;`; otherwise relations."""
    brackets: list[str] = []
    last = ""
    for token in _TOKEN.findall(before):
        if token == "(":
            is_atom = bool(_NAME.fullmatch(last)) and last not in KEYWORDS
            brackets.append("entity" if is_atom else "relation")
        elif token == ")" and brackets:
            brackets.pop()
        elif brackets and (token in (";", ":") or (token == "," and brackets[-1] != "relation")):
            brackets[-1] = _after(token, brackets[-1])
        last = token
    expected = brackets[-1] if brackets else "relation"
    return vocabulary.entities if expected in ("entity", "value") else vocabulary.relations


def _after(token: str, before: str) -> str:
    """What stands next in an atom: qualifiers begin at `;`, and each has a `:`."""
    if token == ";" or (token == "," and before == "value"):
        return "attribute"
    return "value" if token == ":" else before

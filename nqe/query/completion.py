"""Completion of query text: which names can stand at the cursor, and those that fit best.

The shell and the server's editor use this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nqe.errors import NqeError
from nqe.graph.entity_set import EntitySet
from nqe.graph.graph import Graph
from nqe.graph.pattern import OBJECT, SUBJECT
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.query.labelled import choose_name
from nqe.query.text import COUNT, KEYWORDS, render_term
from nqe.shown_text import make_visible

LIMIT = 20
WIDER = 5
"""This many times as many names are looked at when some of them come first."""
# A variable with the operator after it is one token.
_TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*"?|[(),;:]|\?\w+(?:\s*(?:[!<>]=|[<>=]))?|[^\s()\[\],;:"&|!?]+|\S'
)
_COMPARED = re.compile(r"(\?\w+)\s*[!<>=]{1,2}")
_NAME = re.compile(r'"(?:\\.|[^"\\])*"|[^\s()\[\],;:"&|!?]+')
# An atom whose main slots are not complete, at the end of a text.
_ATOM = re.compile(r'(?P<name>"(?:\\.|[^"\\])*"|[^\s()\[\],;:"&|!?]+)\((?P<terms>[^();]*)$')
LONGEST = 5_000
"""A longer text before the cursor is not completed, as searching it would be felt."""
# The part of a name before the cursor: a quote that is not closed, or a word.
_TYPED = re.compile(r'"(?:\\.|[^"\\])*|[^\s()\[\],;:"&|!?]+')


@dataclass(frozen=True)
class Suggestion:
    """A text that can replace what is typed of a name, and how to show it."""

    text: str
    replaces: int
    """The number of characters before the cursor that it replaces."""
    name: str
    description: str


def complete(before: str, graph: Vocabulary | Graph, limit: int = LIMIT) -> Iterator[Suggestion]:
    """Names that start with, contain or resemble what is typed before the cursor.

    With a graph, entities that stand in that slot of the relation come first.
    """
    vocabulary = graph if isinstance(graph, Vocabulary) else graph.vocabulary
    typed = _find_typed(before) if len(before) <= LONGEST else None
    if not typed:
        return
    text, length = typed.group().strip('"').replace("_", " "), len(typed.group())
    names = expected_names(before[: typed.start()], vocabulary)
    if names is vocabulary.relations:
        is_head = ":" not in before
        for word in (COUNT,) if is_head else sorted(KEYWORDS):
            if word.startswith(text):
                yield Suggestion(word, length, word, "")
    hits = names.search(text, limit if isinstance(graph, Vocabulary) else WIDER * limit)
    if not isinstance(graph, Vocabulary) and names is vocabulary.entities:
        standing = _find_standing(before[: typed.start()], graph)
        hits.sort(key=lambda hit: standing is None or hit.number not in standing)
    for hit in hits[:limit]:
        name = choose_name(names, hit.number)
        description = names.descriptions[hit.number] or names.ids[hit.number]
        shown = make_visible(names.labels[hit.number] or name)
        yield Suggestion(render_term(name), length, shown, make_visible(description))


def _find_typed(before: str) -> re.Match[str] | None:
    """What is typed of a name at the end of a text, if anything is."""
    tokens = list(_TOKEN.finditer(before))
    is_typed = tokens and tokens[-1].end() == len(before) and _TYPED.fullmatch(tokens[-1].group())
    return tokens[-1] if is_typed else None


def expected_names(before: str, vocabulary: Vocabulary) -> Names:
    """Entities inside the brackets of an atom; attributes after its `;`; otherwise relations.

    After an operator stands what the variable before it stands for.
    """
    brackets: list[str] = []
    last = ""
    for token in _TOKEN.findall(before):
        if token == "(":
            is_name = last.startswith("?") or bool(_NAME.fullmatch(last))
            is_atom = is_name and last not in KEYWORDS
            brackets.append("entity" if is_atom else "relation")
        elif token == ")" and brackets:
            brackets.pop()
        elif brackets and (token in (";", ":") or (token == "," and brackets[-1] != "relation")):
            brackets[-1] = _after(token, brackets[-1])
        last = token
    if compared := _COMPARED.fullmatch(last):
        is_relation = f"{compared[1]}(" in before
        return vocabulary.relations if is_relation else vocabulary.entities
    expected = brackets[-1] if brackets else "relation"
    return vocabulary.entities if expected in ("entity", "value") else vocabulary.relations


def _after(token: str, before: str) -> str:
    """What stands next in an atom: qualifiers begin at `;`, and each has a `:`."""
    if token == ";" or (token == "," and before == "value"):
        return "attribute"
    return "value" if token == ":" else before


def _find_standing(before: str, graph: Graph) -> EntitySet | None:
    """The entities that stand in the slot at the cursor; None if it is not a main slot."""
    begun = _ATOM.search(before)
    if begun is None:
        return None
    name = begun["name"].strip('"')
    try:
        relation = graph.vocabulary.relations.resolve(name)
    except NqeError:
        return None
    return graph.relation_profile.standing(relation, OBJECT if "," in begun["terms"] else SUBJECT)

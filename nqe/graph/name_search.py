"""Search for entities and relations by a text: names that fit it, and how each was found."""

from __future__ import annotations

from dataclasses import dataclass

from nqe.graph.vocabulary import Vocabulary


@dataclass(frozen=True)
class FoundName:
    """An entity or relation whose name fits a text."""

    kind: str
    id: str
    label: str | None
    description: str | None
    how: str
    """How it was found: by id, label, prefix, part or spelling."""


def find_names(vocabulary: Vocabulary, text: str, limit: int) -> list[FoundName]:
    """At most `limit` relations and as many entities whose names fit a text, best first."""
    return [
        FoundName(
            names.kind,
            names.ids[hit.number],
            names.labels[hit.number],
            names.descriptions[hit.number],
            hit.how,
        )
        for names in (vocabulary.relations, vocabulary.entities)
        for hit in names.search(text, limit)
    ]

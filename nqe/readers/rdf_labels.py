"""Labels, descriptions and aliases that RDF gives in a chosen language."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from nqe.graph.vocabulary import Description
from nqe.readers.languages import check_language
from nqe.readers.rdf_names import DESCRIPTIONS, LABELS


@dataclass
class _Texts:
    """The texts that describe one id, each with how well its language fits (0 is best)."""

    labels: list[tuple[int, str]] = field(default_factory=list)
    descriptions: list[tuple[int, str]] = field(default_factory=list)
    aliases: list[str] = field(default_factory=list)

    def to_description(self) -> Description:
        """The best label and description; further labels are aliases."""
        labels = [text for _, text in sorted(self.labels, key=_rank)]
        descriptions = [text for _, text in sorted(self.descriptions, key=_rank)]
        names = dict.fromkeys([*labels[1:], *self.aliases])
        label = labels[0] if labels else None
        aliases = tuple(name for name in names if name != label)
        return Description(label, descriptions[0] if descriptions else None, aliases)


class LabelCollector:
    """Collects the texts in one language, and those without a language."""

    def __init__(self, language: str | None = None) -> None:
        self._language = check_language(language)
        self._texts: dict[str, _Texts] = {}

    def add(self, name: str, predicate: str, text: Any) -> bool:
        """Take a text that describes an id; return whether its language is wanted."""
        fit = self._find_fit((text.language or "").lower())
        if fit is None:
            return False
        texts = self._texts.setdefault(name, _Texts())
        if predicate in LABELS:
            texts.labels.append((fit, text.value))
        elif predicate in DESCRIPTIONS:
            texts.descriptions.append((fit, text.value))
        else:
            texts.aliases.append(text.value)
        return True

    def finish(self) -> Iterator[tuple[str, Description]]:
        """What was collected, by the key of each id."""
        for key, texts in self._texts.items():
            yield key, texts.to_description()

    def has_label(self, key: str) -> bool:
        """Whether a label was collected."""
        return key in self._texts and bool(self._texts[key].labels)

    def _find_fit(self, language: str) -> int | None:
        """0 for the language itself, 1 for no language, 2 for a form of it such as en-gb."""
        if language == self._language:
            return 0
        if not language:
            return 1
        return 2 if language.startswith(f"{self._language}-") else None


def _rank(text: tuple[int, str]) -> int:
    return text[0]

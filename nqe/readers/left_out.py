"""Counts what readers leave out on purpose, so that an import can tell it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from nqe.graph.dataset import Dataset
from nqe.graph.literals import find_kind
from nqe.graph.vocabulary import Names
from nqe.readers.languages import check_language
from nqe.readers.records import Skipped

SHOWN = 5
"""At most this many languages are named."""


@dataclass
class LeftOut:
    """How many things of each kind were left out."""

    counts: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    """How many labels of each language were left out."""

    def add(self, skipped: Skipped) -> None:
        """Count one thing."""
        self.counts[skipped.what] += 1
        if skipped.language:
            self.languages[skipped.language] += 1

    def describe(self) -> str | None:
        """A sentence about all of it; None if nothing was left out."""
        if not self.counts:
            return None
        return "left out: " + ", ".join(
            f"{what} ({count:,})" for what, count in sorted(self.counts.items())
        )

    def describe_languages(self, dataset: Dataset, language: str | None) -> str | None:
        """A sentence about the languages of labels if none was in the right one; otherwise None."""
        names = dataset.vocabulary
        if not self.languages or _has_label(names.entities) or _has_label(names.relations):
            return None
        seen = [f"{name} ({count:,})" for name, count in self.languages.most_common(SHOWN)]
        more = ", …" if len(self.languages) > SHOWN else ""
        return (
            f"no label in the language '{check_language(language)}'; there are labels in "
            f"{', '.join(seen)}{more}: choose one with --language"
        )


def _has_label(names: Names) -> bool:
    """Whether anything but a literal, which is shown as its value, has a label."""
    pairs = zip(names.ids, names.labels, strict=True)
    return any(label and not find_kind(name) for name, label in pairs)

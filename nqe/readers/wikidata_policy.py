"""Which of Wikidata's statements an import takes, and how many it leaves out for which reason."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from nqe.errors import InputError
from nqe.readers.languages import DEFAULT_LANGUAGE

# Why an entity, a statement or a qualifier is left out, as the report says it.
DEPRECATED = "deprecated"
EXTERNAL_ID = "with an external id"
IMPOSSIBLE = "with an impossible value"
OTHER_CLASS = "of other classes"
OTHER_RELATION = "of other relations"
REDIRECT = "that are redirects"
UNKNOWN_KIND = "with an unknown kind of value"
NO_VALUES = {"novalue": "without a value", "somevalue": "with an unknown value"}
"""The kinds of snaks that have no value."""

_PLURALS = {"entity": "entities", "statement": "statements", "qualifier": "qualifiers"}
_CLASS, _RELATION = re.compile(r"Q[1-9][0-9]*"), re.compile(r"P[1-9][0-9]*")


@dataclass
class WikidataPolicy:
    """Chooses statements of a dump, and counts what is left out."""

    deprecated: bool = False
    """Whether statements of deprecated rank are taken."""
    external_ids: bool = False
    """Whether the ids that things have in other databases are taken, as texts."""
    keep_relations: Collection[str] | None = None
    """The properties whose statements are taken, such as P31; None for all."""
    keep_classes: Collection[str] | None = None
    """The classes (values of P31) whose members' statements are taken; None for all."""
    entity_count: int = 0
    """How many entities were read."""
    labels: Counter[bool] = field(default_factory=Counter)
    """How many labels were in the chosen language (True), and in others for want of one."""
    left_out: dict[str, Counter[str]] = field(
        default_factory=lambda: {what: Counter() for what in _PLURALS}
    )
    """How many entities, statements and qualifiers were left out, by the reason."""

    def __post_init__(self) -> None:
        self.keep_relations = _check_ids(self.keep_relations, _RELATION, "relation", "P31")
        self.keep_classes = _check_ids(self.keep_classes, _CLASS, "class", "Q5")

    @property
    def is_given(self) -> bool:
        """Whether anything was chosen that only Wikidata's JSON has."""
        kept = self.keep_relations, self.keep_classes
        return self.deprecated or self.external_ids or kept != (None, None)

    def describe(self, language: str | None = None) -> str | None:
        """A sentence about what was read and left out; None if no dump was read.

        `language` is that in which labels were asked for.
        """
        if not self.entity_count:
            return None
        total = f"Wikidata: {_count(self.entity_count, 'entity')} read"
        parts = (
            f"{_count(reasons.total(), what)} ({_list_reasons(reasons)})"
            for what, reasons in self.left_out.items()
            if reasons
        )
        listed = ", ".join(parts)
        told = f"{total}; left out: {listed}" if listed else total
        if language is None or self.labels[True] or not self.labels[False]:
            return told
        return (
            f"{told}; no label in the language '{language}', so labels are in {DEFAULT_LANGUAGE} "
            "or for all languages"
        )


def _check_ids(
    ids: Collection[str] | None, form: re.Pattern[str], what: str, example: str
) -> frozenset[str] | None:
    if ids is None:
        return None
    names = [ids] if isinstance(ids, str) else list(ids)
    for name in names:
        if not form.fullmatch(name):
            raise InputError(f"'{name:.60}' is no {what} of Wikidata; give ids such as {example}")
    if not names:
        raise InputError(f"no {what} is named to keep; give ids such as {example}")
    return frozenset(names)


def _list_reasons(reasons: Counter[str]) -> str:
    return ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common())


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else _PLURALS[noun]}"

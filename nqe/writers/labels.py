"""Writes the labels file: id, label, description and aliases, separated by tabs."""

from __future__ import annotations

from collections.abc import Iterator

from nqe.errors import InputError
from nqe.graph.literal_columns import is_shown_form
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.text_format import ALIAS_SEPARATOR, LABELS_FILE


def list_lines(vocabulary: Vocabulary) -> Iterator[str]:
    """The lines for all entities and relations that have a label, description or alias."""
    yield from _list_lines(vocabulary.entities)
    yield from _list_lines(vocabulary.relations)


def _list_lines(names: Names) -> Iterator[str]:
    for number, name in enumerate(names.ids):
        label, description = find_own_label(names, number), names.descriptions[number] or ""
        aliases = names.aliases.get(number, ())
        joined = ALIAS_SEPARATOR.join(alias for alias in aliases if ALIAS_SEPARATOR not in alias)
        alone = [alias for alias in aliases if ALIAS_SEPARATOR in alias]
        for text in (label, description, joined, *alone):
            _check_cell(text, f"{names.kind} '{name}'")
        if label or description or aliases:
            yield "\t".join((name, label, description, joined)).rstrip("\t") + "\n"
        # A second line for an id adds an alias, which there may contain any character but a tab.
        yield from (f"{name}\t{alias}\n" for alias in alone)


def find_own_label(names: Names, number: int) -> str:
    """The label of a name; empty if it has none but what reading the id of a literal gives."""
    label = names.labels[number] or ""
    return "" if names.literals and is_shown_form(names.ids[number], label) else label


def _check_cell(text: str, owner: str) -> None:
    """Refuse a text that would be read back as another one."""
    if "\t" in text or "\n" in text or text != text.strip():
        raise InputError(
            f"{owner} is described by {text!r:.80}, but {LABELS_FILE} cannot hold tabs, line "
            "breaks and outer spaces; change it, or write the facts to one file, without labels"
        )

"""Labels, descriptions and aliases of Wikidata's entities in one language, or those next to it."""

from __future__ import annotations

from collections import Counter
from itertools import chain

from msgspec import Raw

from nqe.graph.vocabulary import Description
from nqe.readers.languages import DEFAULT_LANGUAGE, check_language
from nqe.readers.wikidata_json import Entity, Term, TermDecoder, decode_first_term

ALL_LANGUAGES = "mul"
"""Wikidata's code for names that are the same in all languages."""


class TermReader:
    """Describes entities in a language.

    What the language lacks is taken from the language without its region (`pt` for `pt-br`), then
    from `mul`, then from English. `counts` is told for each label whether its language is the first
    of these, or that without its region.
    """

    def __init__(self, language: str | None = None, counts: Counter[bool] | None = None) -> None:
        languages = list_fallbacks(language)
        self._counts = Counter() if counts is None else counts
        self._shared = languages.index(ALL_LANGUAGES)
        self._terms, self._lists = TermDecoder(languages, Term), TermDecoder(languages, list[Term])

    def describe(self, entity: Entity) -> Description:
        """The label, description and aliases of an entity."""
        labels = self._terms.decode(entity.labels)
        place = next((place for place, term in enumerate(labels) if term), self._shared)
        if labels[place]:
            self._counts[place < max(self._shared, 1)] += 1
        label = labels[place] or self._find_lemma(entity.lemmas)
        description = next(filter(None, self._terms.decode(entity.descriptions)), None)
        return Description(
            label.value if label else None,
            description.value if description else None,
            self._list_aliases(entity.aliases, place, label),
        )

    def _list_aliases(self, aliases: Raw, place: int, label: Term | None) -> tuple[str, ...]:
        """The aliases in the label's language, and those of all languages."""
        found = self._lists.decode(aliases)
        places = dict.fromkeys((place, self._shared))
        texts = chain.from_iterable(found[place] or () for place in places)
        names = dict.fromkeys(term.value for term in texts)
        if label:
            names.pop(label.value, None)
        return tuple(names)

    def _find_lemma(self, lemmas: Raw) -> Term | None:
        """The lemma of a lexeme, which has few of them: any if none is in these languages."""
        return next(filter(None, self._terms.decode(lemmas)), None) or decode_first_term(lemmas)


def list_fallbacks(language: str | None) -> list[str]:
    """The languages to look for a text in, best first."""
    code = check_language(language)
    return list(dict.fromkeys((code, code.partition("-")[0], ALL_LANGUAGES, DEFAULT_LANGUAGE)))

"""Names of entities and relations: ids, labels, descriptions and aliases, and their lookup."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cached_property
from itertools import chain, islice
from operator import le
from typing import Any

import numpy as np
import numpy.typing as npt

from nqe.errors import AmbiguousName, NqeError, UnknownName
from nqe.graph.array_file import Array
from nqe.graph.folded_names import FoldedNames, to_spaces
from nqe.graph.literal_columns import (
    NO_LITERAL,
    LiteralColumns,
    find_literals,
    find_units,
    is_shown_form,
    name_units,
)
from nqe.graph.literals import list_readings
from nqe.graph.spelling import find_nearest_words
from nqe.graph.stored_texts import StoredIds

ENTITY = "entity"


@dataclass(frozen=True, slots=True)
class Description:
    """The label, description and aliases of one entity or relation."""

    label: str | None = None
    description: str | None = None
    aliases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Leave out NUL bytes, which no file of text can hold."""
        if any(text and "\0" in text for text in (self.label, self.description, *self.aliases)):
            for name in ("label", "description"):
                object.__setattr__(self, name, _drop_nul(getattr(self, name)))
            kept = tuple(filter(None, map(_drop_nul, self.aliases)))
            object.__setattr__(self, "aliases", kept)

    def merge(self, other: Description) -> Description:
        """Both together: this label and description are kept, another label becomes an alias."""
        labels = (*self.aliases, *((other.label,) if self.label else ()), *other.aliases)
        aliases = dict.fromkeys(name for name in labels if name and name != self.label)
        return Description(
            self.label or other.label, self.description or other.description, tuple(aliases)
        )


def _drop_nul(text: str | None) -> str | None:
    return None if text is None else text.replace("\0", "")


@dataclass(frozen=True, slots=True)
class Hit:
    """One name that a search found: its number, and how it was found."""

    number: int
    how: str
    """id, label, prefix, part or spelling."""


class Rank(IntEnum):
    """How well a text fits a name that is the same, apart from case and `_` for a space.

    The best rank that occurs decides what a text means. Texts are often the names of what they are
    about, so a literal comes after what has the same name in the same case.
    """

    ID = 0
    NAME = 1
    """A label or an alias of what is no literal."""
    ID_WITH_SPACES = 2
    """The same id, but for `_` in place of spaces."""
    NAME_WITH_SPACES = 3
    LITERAL = 4
    """What a literal is shown as, or another name of it."""
    LITERAL_WITH_SPACES = 5
    NAME_IN_OTHER_CASE = 6
    LITERAL_IN_OTHER_CASE = 7
    ID_IN_OTHER_CASE = 8
    """Ids are case-sensitive, so a text never means this, but it may have been meant."""

    @property
    def is_id(self) -> bool:
        """Whether the name is an id."""
        return self in _RANKS["id"]

    @classmethod
    def of(cls, text: str, name: str, kind: str) -> Rank:
        """The rank of a name (id, name or literal) that is equal to the text if both are folded."""
        exact, with_spaces, in_other_case = _RANKS[kind]
        if name == text:
            return exact
        return with_spaces if to_spaces(name) == to_spaces(text) else in_other_case


# For each kind of name: the ranks if it is exact, if `_` stands for spaces, and in another case.
_RANKS = {
    "id": (Rank.ID, Rank.ID_WITH_SPACES, Rank.ID_IN_OTHER_CASE),
    "name": (Rank.NAME, Rank.NAME_WITH_SPACES, Rank.NAME_IN_OTHER_CASE),
    "literal": (Rank.LITERAL, Rank.LITERAL_WITH_SPACES, Rank.LITERAL_IN_OTHER_CASE),
}


@dataclass(frozen=True)
class Names:
    """The names of all entities or of all relations, numbered in the order of their ids."""

    kind: str
    """entity or relation."""
    ids: Sequence[str]
    labels: Sequence[str | None]
    descriptions: Sequence[str | None]
    aliases: Mapping[int, tuple[str, ...]]
    literals: LiteralColumns | None = field(default=None, compare=False)
    """Which entities are times, numbers and texts, with their values; None if there are none."""

    @classmethod
    def of(cls, kind: str, ids: Sequence[str]) -> Names:
        """Names that have ids and nothing else; those of literals have a label as well."""
        none: list[str | None] = [None] * len(ids)
        literals = find_literals(ids) if kind == ENTITY else {}
        if not literals:
            return cls(kind, ids, none, none, {})
        labels = list(none)
        for number, literal in literals.items():
            labels[number] = literal.shown or None
        return cls(kind, ids, labels, none, {}, LiteralColumns.of(literals, len(ids)))

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<Names: {len(self):,} of kind {self.kind}>"

    def describe(self, descriptions: Mapping[str, Description]) -> Names:
        """The same names with descriptions added; descriptions of unknown ids are ignored."""
        labels, texts, aliases = list(self.labels), list(self.descriptions), dict(self.aliases)
        for name in descriptions:
            number = self.number(name)
            if number is None:
                continue
            own = labels[number]
            label = None if self.literals and is_shown_form(name, own) else own
            earlier = Description(label, texts[number], aliases.get(number, ()))
            merged = earlier.merge(descriptions[name])
            labels[number], texts[number] = merged.label or own, merged.description
            if merged.aliases:
                aliases[number] = merged.aliases
        if self.literals:
            name_units(self.ids, self.literals, descriptions, labels)
        ordered = dict(sorted(aliases.items()))
        return replace(self, labels=labels, descriptions=texts, aliases=ordered)

    @cached_property
    def id_order(self) -> npt.NDArray[np.int64]:
        """The place of each name in the order of the ids; the number itself if that is kept."""
        places = np.arange(len(self))
        if not isinstance(self.ids, StoredIds) and not all(
            map(le, self.ids, islice(self.ids, 1, None))
        ):
            places[sorted(range(len(self)), key=self.ids.__getitem__)] = np.arange(len(self))
        return places

    @cached_property
    def is_in_order(self) -> bool:
        """Whether the numbers are in the order of the ids."""
        return bool((self.id_order == np.arange(len(self))).all())

    def name(self, number: int) -> str:
        """The label of an entity or relation, or its id if it has none."""
        return self.labels[number] or self.ids[number]

    def label_of(self, name: str) -> str:
        """The label of an id; the id itself if it has none or is unknown."""
        number = self.number(name)
        return name if number is None else self.name(number)

    def full_name(self, number: int) -> str:
        """Label, id and description, for a person who has to choose between names."""
        label, text = self.labels[number], self.descriptions[number]
        named = f"{label} ({self.ids[number]})" if label else self.ids[number]
        return f"{named}, {text}" if text else named

    def number(self, name: str) -> int | None:
        """The number of an id, or None."""
        return self.ids.find(name) if isinstance(self.ids, StoredIds) else self._numbers.get(name)

    def resolve(self, text: str) -> int:
        """The number of an id, a label or an alias; `_` may stand for a space.

        An id goes first, then labels and aliases in the same case, then those in another case;
        in both, literals come after everything else.
        """
        number = self.number(text)
        if number is not None:
            return number
        found = self._find_best(text)
        if len(found) == 1:
            return found[0]
        if found:
            raise AmbiguousName(self.kind, text, [self.full_name(number) for number in found])
        near = dict.fromkeys(self.name(hit.number) for hit in self.search(text, 3))
        raise UnknownName(self.kind, text, list(near))

    def find_namesakes(self, text: str) -> list[int]:
        """What a text that can be resolved does not mean, but would in another case."""
        meant = self.resolve(text)
        found = dict.fromkeys(number for _, number in self._find_candidates(text))
        return [number for number in found if number != meant and not self._is_hidden(number)]

    def to_number(self, name: int | np.integer[Any] | str) -> int:
        """The number of a name; a number is checked and returned."""
        if isinstance(name, str):
            return self.resolve(name)
        if not 0 <= name < len(self):
            raise NqeError(f"there is no {self.kind} number {name}; they go to {len(self) - 1}")
        return int(name)

    def search(self, text: str, limit: int) -> list[Hit]:
        """Names that a text may mean, best first: by id, label, prefix, part, nearest spelling."""
        number = self.number(text)
        folded = text.replace("_", " ").casefold()
        ways: tuple[tuple[str, Iterable[int]], ...] = (
            ("id", () if number is None else (number,)),
            ("label", chain(self._find_labels(text), self._find_values(text))),
            ("prefix", self._find_prefix(folded)),
            ("part", self._find_part(folded)),
            ("spelling", self._find_spelling(text, limit)),
        )
        hits: dict[int, Hit] = {}
        for hit in (Hit(found, how) for how, numbers in ways for found in numbers):
            hits.setdefault(hit.number, hit)
            if len(hits) >= limit:
                break
        return list(hits.values())

    def find_nearest(self, text: str, count: int) -> list[int]:
        """Numbers of at most `count` names whose spelling is nearest to the text."""
        texts, numbers = self._spellings
        count = min(count, len(texts))  # islice takes no number of 2^63 or more
        found = find_nearest_words(text.replace("_", " "), texts, 4 * count)
        return list(islice(dict.fromkeys(numbers[i] for i in found), count))

    @cached_property
    def units(self) -> Mapping[str, str]:
        """The units of all numbers, by their ids and by their labels."""
        return find_units(self.ids, self.labels, self.literals)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.ids)}

    @cached_property
    def _spellings(self) -> tuple[list[str], list[int]]:
        """All labels, the ids without a label, and all aliases; and the number of each."""
        aliases = ((alias, n) for n, names in self.aliases.items() for alias in names)
        pairs = list(chain(((self.name(n), n) for n in range(len(self))), aliases))
        return [text.replace("_", " ") for text, _ in pairs], [number for _, number in pairs]

    @cached_property
    def all_names(self) -> tuple[Sequence[str], Array]:
        """All ids, then all labels, then all aliases; and the number of each."""
        labels = ((label, n) for n, label in enumerate(self.labels) if label)
        aliases = ((alias, n) for n, names in self.aliases.items() for alias in names)
        named = list(chain(labels, aliases))
        numbers = np.array([number for _, number in named], dtype=np.int64)
        texts = [*self.ids, *(text for text, _ in named)]
        return texts, np.concatenate([np.arange(len(self)), numbers])

    @cached_property
    def folded(self) -> FoldedNames:
        """All names by what they are when folded."""
        return FoldedNames.of(self.all_names[0])

    def _find_candidates(self, text: str) -> list[tuple[Rank, int]]:
        """The numbers of all that has this name in any case, each with its rank, best first."""
        texts, numbers = self.all_names
        found = [(place, int(numbers[place])) for place in self.folded.find(text)]
        return sorted(
            (Rank.of(text, texts[place], self._kind_of_name(place, number)), number)
            for place, number in found
        )

    def _kind_of_name(self, place: int, number: int) -> str:
        if place < len(self):
            return "id"
        return "literal" if self._is_literal(number) else "name"

    def _find_best(self, text: str) -> list[int]:
        """The numbers of what a text means: those of the best rank."""
        values = ((Rank.LITERAL, number) for number in self._find_values(text))
        found = [*self._find_candidates(text), *values]
        best = min((rank for rank, _ in found), default=Rank.ID_IN_OTHER_CASE)
        if best == Rank.ID_IN_OTHER_CASE:
            return []
        return list(dict.fromkeys(number for rank, number in found if rank == best))

    def _find_labels(self, text: str) -> Iterator[int]:
        """The numbers of those whose label or alias is the text, in the same case first."""
        return (number for rank, number in self._find_candidates(text) if not rank.is_id)

    def _is_literal(self, number: int) -> bool:
        return self.literals is not None and int(self.literals.kind[number]) != NO_LITERAL

    def _is_hidden(self, number: int) -> bool:
        """Whether a literal is shown as another name that goes before it, in whatever case."""
        return self._is_literal(number) and not any(
            map(self._is_literal, self._find_best(self.name(number)))
        )

    def _find_values(self, text: str) -> list[int]:
        """The literals that a text may stand for; one such as 1903-06-01 is no label."""
        readings = list_readings(text) if self.literals else ()
        return [number for number in map(self.number, readings) if number is not None]

    @cached_property
    def _sorted(self) -> list[tuple[str, int]]:
        texts, numbers = self._spellings
        return sorted(zip((text.casefold() for text in texts), numbers, strict=True))

    def _find_prefix(self, prefix: str) -> Iterator[int]:
        for text, number in islice(self._sorted, bisect_left(self._sorted, (prefix, -1)), None):
            if not text.startswith(prefix):
                return
            yield number

    def _find_spelling(self, text: str, count: int) -> Iterator[int]:
        # A generator, so that spellings are compared only if there are not enough better names.
        yield from self.find_nearest(text, count)

    def _find_part(self, part: str) -> Iterator[int]:
        return (number for text, number in self._sorted if part in text)


@dataclass(frozen=True)
class Vocabulary:
    """The names of a graph's entities and relations, each numbered from 0."""

    entities: Names
    relations: Names

    def describe(self, descriptions: Mapping[str, Description]) -> Vocabulary:
        """The same vocabulary with labels, descriptions and aliases added."""
        return Vocabulary(
            self.entities.describe(descriptions), self.relations.describe(descriptions)
        )

    def same_ids(self, other: Vocabulary) -> bool:
        """Whether both have the same ids with the same numbers."""
        return self is other or (
            list(self.entities.ids) == list(other.entities.ids)
            and list(self.relations.ids) == list(other.relations.ids)
        )

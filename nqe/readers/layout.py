"""The layout of a table: where its columns are, and which records a row holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from nqe.errors import InputError
from nqe.graph.fact import Fact
from nqe.graph.vocabulary import Description
from nqe.readers.cells import list_texts
from nqe.readers.columns import KNOWN_COLUMNS, Columns, Main, find_column
from nqe.readers.records import DescribedId, Record
from nqe.readers.typed_values import LiteralType, read_cell
from nqe.text_format import ALIAS_SEPARATOR, MAIN_COLUMNS

# A column that pandas adds to Parquet for the numbers of rows.
PANDAS_INDEX = re.compile(r"__index_level_[0-9]+__")
RELATION_COLUMNS = frozenset(relation.casefold() for _, relation, _ in KNOWN_COLUMNS)

Cells = Mapping[int, Any]
"""The filled cells of a row by the position of their column."""
ListIds = Callable[[Any], list[str]]
"""Gives the ids of the values in a cell."""


@dataclass(frozen=True)
class Described:
    """The columns that describe the entity in another column."""

    entity: int
    label: int | None = None
    description: int | None = None
    aliases: int | None = None

    def describe(self, cells: Cells, name: str) -> DescribedId | None:
        """What a row says about the entity of that id; None if it says nothing."""
        labels = _texts_at(cells, self.label)  # a list in Parquet may hold several
        description = " ".join(_texts_at(cells, self.description)) or None
        aliases = [part for text in _texts_at(cells, self.aliases) for part in _split(text)]
        names = tuple(dict.fromkeys([*labels[1:], *aliases]))
        found = Description(labels[0] if labels else None, description, names)
        return None if found == Description() else DescribedId(name, found)


@dataclass(frozen=True)
class MainFact:
    """The columns of the fact of each row; `relation` is a position, or one relation for all."""

    subject: int
    relation: int | str
    object: int
    attributes: Mapping[int, str]

    def make(self, cells: Cells, list_ids: Mapping[int, ListIds]) -> Fact:
        """The fact of a row: the main triple, and its other filled cells by attribute.

        `list_ids` reads the cells of objects and attributes, by column.
        """
        relation = self.relation if isinstance(self.relation, str) else cells.get(self.relation)
        texts = [list_texts(cells.get(self.subject)), list_texts(relation)]
        texts.append(list_ids[self.object](cells.get(self.object)))
        if any(len(values) != 1 for values in texts):
            raise InputError(
                "subject, relation and object need one value each; fill them or drop the row"
            )
        names = self.attributes
        pairs = [(names[at], one) for at in cells if at in names for one in list_ids[at](cells[at])]
        return Fact(texts[0][0], texts[1][0], texts[2][0], tuple(pairs))


@dataclass(frozen=True)
class Layout:
    """What a row of a table holds: a fact, further facts about its subject, and descriptions."""

    subject: int
    main: MainFact | None
    properties: tuple[tuple[int, str], ...]
    described: tuple[Described, ...]
    width: int
    list_ids: Mapping[int, ListIds] = field(default_factory=dict)
    """What reads the cells of objects, attributes and properties, by column."""

    @classmethod
    def of(
        cls, header: Sequence[str], columns: Columns, source: str, *, typed: bool = False
    ) -> Layout:
        """The layout that a header describes.

        If `typed`, cells that hold numbers and dates, and not texts, are literals; those of a
        column whose type `columns` names always are.
        """
        find = _Finder(header, columns, source)
        found = cls._find(find, len(header))
        return replace(found, list_ids=find.list_ids(found, typed=typed))

    @classmethod
    def _find(cls, find: _Finder, width: int) -> Layout:
        """The layout before it is known what reads the cells."""
        columns = find.columns
        properties = tuple(
            (find.place(one, "properties"), name) for one, name in columns.properties
        )
        if columns.describe_entities:
            subject = find.place(columns.subject or MAIN_COLUMNS[0], "subject")
            described = find.described(subject, None)
            return cls(subject, None, properties, described, width)
        subject, relation, object_ = find.main()
        described = find.described(subject, object_)
        used = {subject, relation, object_, *(place for place, _ in properties)}
        used |= {place for one in described for place in (one.label, one.description, one.aliases)}
        name = columns.relation_name if relation is None else relation
        main = MainFact(subject, name or "", object_, find.attributes(used))
        return cls(subject, main, properties, described, width)

    @property
    def value_places(self) -> set[int]:
        """The positions of objects, attributes and properties, whose cells may hold literals."""
        main = set() if self.main is None else {self.main.object, *self.main.attributes}
        return main | {place for place, _ in self.properties}

    @cached_property
    def places(self) -> list[int]:
        """The positions of all columns that mean something."""
        main = self.main
        places: set[int | str | None] = {self.subject, *self.value_places}
        places |= {at for one in self.described for at in (one.label, one.description, one.aliases)}
        places |= set() if main is None else {main.relation}
        return sorted(place for place in places if isinstance(place, int))

    def list_records(self, cells: Cells) -> list[Record]:
        """Everything that a row says."""
        records: list[Record] = [] if self.main is None else [self.main.make(cells, self.list_ids)]
        if not self.properties and not self.described:
            return records
        subject = _one_text(cells, self.subject)
        for place, relation in self.properties:
            ids = self.list_ids[place](cells.get(place))
            records += [Fact(subject, relation, one) for one in ids]
        for described in self.described:
            at = described.entity
            names = [subject] if at == self.subject else self.list_ids[at](cells.get(at))
            found = described.describe(cells, names[0])
            records += [] if found is None else [found]
        return records


@dataclass(frozen=True)
class _Finder:
    """Finds columns in a header; what is missing is an error that says what to do."""

    header: Sequence[str]
    columns: Columns
    source: str

    def main(self) -> Main:
        """The positions of subject, relation and object."""
        found = self.columns.find(self.header)
        if found is None:
            raise InputError(f"{self.source}:1: {_explain_missing(self.header, self.columns)}")
        if found[0] == found[2]:
            options = f"{self.columns.option('subject')} and {self.columns.option('object')}"
            raise InputError(
                f"{self.source}:1: subject and object are the same column, "
                f"{self.header[found[0]]:.60}; name two with {options}"
            )
        return found

    def place(self, name: str, key: str) -> int:
        """The position of a column that must be there."""
        place = find_column(self.header, name)
        if place is None:
            raise InputError(
                f"{self.source}:1: {_explain_unknown(self.header, name, key, self.columns)}"
            )
        return place

    def described(self, subject: int, object_: int | None) -> tuple[Described, ...]:
        """The columns that describe the subject and the object."""
        keys = ("label", "description", "aliases")
        found = [Described(subject, *map(self._place_of, keys))]
        if object_ is not None:
            found.append(Described(object_, self._place_of("object_label")))
        return tuple(one for one in found if one != Described(one.entity))

    def attributes(self, used: set[int | None]) -> dict[int, str]:
        """The attributes of columns: those that were chosen, or all others that have a name."""
        if self.columns.qualifiers is not None:
            pairs = self.columns.qualifiers
            return {self.place(column, "qualifiers"): name for column, name in pairs}
        prefix = "column_" if self.columns.are_numbered else ""
        names = ((place, name.strip()) for place, name in enumerate(self.header))
        found = {
            place: prefix + name
            for place, name in names
            if name and place not in used and not PANDAS_INDEX.fullmatch(name)
        }
        self._check_relation(found.values())
        return found

    def _check_relation(self, attributes: Iterable[str]) -> None:
        """Refuse one relation for all rows of a table whose rows have relations of their own."""
        others = [name for name in attributes if name.casefold() in RELATION_COLUMNS]
        if others and self.columns.relation_name is not None:
            option = self.columns.option
            raise InputError(
                f"{self.source}:1: {option('relation_name')} gives all rows one relation, but "
                f"{_show(self.header, self.columns)} has a column '{others[0]:.60}'; leave it out, "
                f"or name the columns of qualifiers with {option('qualifiers')}"
                f"{_say_where(self.columns)}"
            )

    def list_ids(self, layout: Layout, *, typed: bool) -> dict[int, ListIds]:
        """What reads the cells of objects, attributes and properties, by column."""
        usual = partial(list_texts, write=read_cell) if typed else list_texts
        found: dict[int, ListIds] = dict.fromkeys(layout.value_places, usual)
        # What has a label in another column is an entity, even if its id is a number.
        labelled = {one.entity for one in layout.described} & found.keys()
        found |= dict.fromkeys(labelled, list_texts)
        for name, type_ in self.columns.literals:
            place = self.place(name, "literals")
            if place not in found:
                raise InputError(
                    f"{self.source}:1: the column '{name:.60}' has no objects, qualifiers or "
                    f"properties; correct literals{_say_where(self.columns)}"
                )
            found[place] = partial(_list_literals, type_)
        return found

    def _place_of(self, key: str) -> int | None:
        name = getattr(self.columns, key)
        return None if name is None else self.place(name, key)


def _explain_missing(header: Sequence[str], columns: Columns) -> str:
    """Which main columns a header lacks, and what to do."""
    shown = _show(header, columns)
    for key in MAIN_COLUMNS:
        name = getattr(columns, key)
        if name is not None and find_column(header, name) is None:
            return _explain_unknown(header, name, key, columns)
    wanted = min((_list_missing(header, names) for names in columns.list_choices()), key=len)
    options = [columns.option(key) for key in wanted]
    advice = f"name the columns with {_join(options, 'and')}{_say_where(columns)}"
    if "relation" in wanted:
        advice += f" ({columns.option('relation_name')} NAME if all rows have one relation)"
    if columns.has_header:
        none = "--no-header" if columns.mapping is None else "header = false"
        advice += f", or give {none} if this line is a row"
    return f"{shown} lacks {_join(wanted, 'or')}; {advice}"


def _list_missing(header: Sequence[str], names: Sequence[str | None]) -> list[str]:
    """Which of subject, relation and object a header lacks if they have the given names."""
    named = zip(MAIN_COLUMNS, names, strict=True)
    return [key for key, name in named if name and find_column(header, name) is None]


def _explain_unknown(header: Sequence[str], name: str, key: str, columns: Columns) -> str:
    what = f"{_show(header, columns)} has no column '{name:.60}'"
    return f"{what}; correct {columns.option(key)}{_say_where(columns)}"


def _show(header: Sequence[str], columns: Columns) -> str:
    shown = ", ".join(f"{name.strip():.60}" for name in header[:8])
    more = ", …" if len(header) > 8 else ""
    return f"{'the header' if columns.has_header else 'the table of columns'} {shown}{more}"


def _say_where(columns: Columns) -> str:
    return "" if columns.mapping is None else f" in {columns.mapping}"


def _join(words: Sequence[str], last: str) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def _texts_at(cells: Cells, place: int | None) -> list[str]:
    return [] if place is None else list_texts(cells.get(place))


def _list_literals(type_: LiteralType, cell: Any) -> list[str]:
    return [type_.read(text) for text in list_texts(cell)]


def _one_text(cells: Cells, place: int) -> str:
    texts = _texts_at(cells, place)
    if len(texts) != 1:
        raise InputError("the column of the entity needs one value; fill it or drop the row")
    return texts[0]


def _split(aliases: str) -> list[str]:
    return [alias.strip() for alias in aliases.split(ALIAS_SEPARATOR) if alias.strip()]

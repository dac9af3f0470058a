"""What the columns of a table mean: the main triple, qualifiers, labels, and other facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

from nqe.errors import InputError
from nqe.readers.typed_values import LiteralType
from nqe.text_format import MAIN_COLUMNS, SEPARATOR_NAMES, split_cells

TYPE_RELATION = "type"
"""The relation between an entity and what stands in the column of its type."""
KNOWN_COLUMNS = (
    MAIN_COLUMNS,
    ("subject", "predicate", "object"),
    ("head", "relation", "tail"),
    ("source", "relation", "target"),
    ("from", "relation", "to"),
    (":START_ID", ":TYPE", ":END_ID"),
)
"""The names that tools give to the columns of subject, relation and object."""
NUMBERED_COLUMNS = ("1", "2", "3")
"""The columns of subject, relation and object if there is no header."""

Pairs = tuple[tuple[str, str], ...]
Main = tuple[int, int | None, int]


@dataclass(frozen=True)
class Columns:
    """Which column of a table means what; what is None is found by the usual names.

    Columns are called by their names in the header, in any case. If there is no header, they are
    called 1, 2, 3, …, or by `names`.
    """

    subject: str | None = None
    relation: str | None = None
    object: str | None = None
    relation_name: str | None = None
    """The relation of all rows, for a table without a column for it."""
    qualifiers: Pairs | None = None
    """Columns and the attributes that they hold values of; None means all other columns."""
    properties: Pairs = ()
    """Columns and relations: each filled cell states one more fact about the subject."""
    literals: tuple[tuple[str, LiteralType], ...] = ()
    """Columns whose values are times, numbers or texts, and not the ids of entities."""
    label: str | None = None
    description: str | None = None
    aliases: str | None = None
    object_label: str | None = None
    header: bool = True
    names: tuple[str, ...] | None = None
    """The names of the columns of a table without a header."""
    separator: str | None = None
    missing: frozenset[str] = frozenset()
    """Texts that mean an empty cell, such as NULL."""
    mapping: str | None = None
    """Where the mapping file describes these columns; None if options do."""

    def __post_init__(self) -> None:
        if self.relation is not None and self.relation_name is not None:
            raise InputError(
                f"a column of the relation ({self.relation}) and one relation for all rows "
                f"({self.relation_name}) at once; choose one of them"
            )

    @property
    def are_given(self) -> bool:
        """Whether anything is said about the columns, so that the source must be a table."""
        return any(getattr(self, field.name) != field.default for field in fields(self))

    @property
    def has_header(self) -> bool:
        """Whether the first line names the columns."""
        return self.header and self.names is None

    @property
    def are_numbered(self) -> bool:
        """Whether columns have no names, so that they are called 1, 2, 3, …"""
        return not self.header and self.names is None

    @property
    def describe_entities(self) -> bool:
        """Whether a row is about one entity: it has labels or properties, and no object."""
        main = (self.relation, self.object, self.relation_name)
        return main == (None, None, None) and bool(self.list_described() or self.properties)

    def list_described(self) -> list[str]:
        """The columns with labels, descriptions and aliases."""
        texts = (self.label, self.description, self.aliases, self.object_label)
        return [name for name in texts if name is not None]

    def find(self, header: Sequence[str]) -> Main | None:
        """The positions of subject, relation and object in a header; None if one is missing.

        A table in which all rows have one relation needs no column for it.
        """
        for names in self.list_choices():
            places = [None if name is None else find_column(header, name) for name in names]
            subject, relation, object_ = places
            if subject is None or object_ is None or (names[1] is not None and relation is None):
                continue
            return subject, relation, object_
        return None

    def list_choices(self) -> list[tuple[str, str | None, str]]:
        """The names that the three columns may have, the likeliest first."""
        if self.are_numbered:
            numbers = ("1", None, "2") if self.relation_name else NUMBERED_COLUMNS
            return [self._complete(numbers)]
        return [self._complete(names) for names in KNOWN_COLUMNS]

    def find_separator(self, header: str) -> str | None:
        """The separator that splits a header line into columns with all three names, or None."""
        for separator in SEPARATOR_NAMES:
            try:
                names = split_cells(header, separator)
            except InputError:
                continue
            if self.find(names):
                return separator
        return None

    def option(self, name: str) -> str:
        """What a user writes to say what a column means: an option, or a key of the mapping."""
        return f"--{name.replace('_', '-')}" if self.mapping is None else name

    def _complete(self, usual: tuple[str, str | None, str]) -> tuple[str, str | None, str]:
        relation = None if self.relation_name is not None else self.relation or usual[1]
        return self.subject or usual[0], relation, self.object or usual[2]


def find_column(header: Sequence[str], name: str) -> int | None:
    """The position of a column; a name in another case is found if none is in the right case."""
    exact = [cell.strip() for cell in header]
    if name in exact:
        return exact.index(name)
    folded = [cell.casefold() for cell in exact]
    return folded.index(name.casefold()) if name.casefold() in folded else None

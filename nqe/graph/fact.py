"""A fact as a person reads and writes it: a triple of ids with qualifiers."""

from __future__ import annotations

from dataclasses import dataclass

from nqe.shown_text import make_visible

Qualifier = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Fact:
    """(subject, relation, object) and an unordered multiset of (attribute, value) pairs."""

    subject: str
    relation: str
    object: str
    qualifiers: tuple[Qualifier, ...] = ()

    def __post_init__(self) -> None:
        # Sorted, so that facts are equal whatever the order their qualifiers are given in.
        if len(self.qualifiers) > 1:
            object.__setattr__(self, "qualifiers", tuple(sorted(self.qualifiers)))

    @property
    def arity(self) -> int:
        """The number of entities in the fact."""
        return 2 + len(self.qualifiers)

    def __str__(self) -> str:
        pairs = ", ".join(f"{attribute}: {value}" for attribute, value in self.qualifiers)
        main = f"{self.subject}, {self.relation}, {self.object}"
        return make_visible(f"({main}, {{{pairs}}})" if pairs else f"({main})")

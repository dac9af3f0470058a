"""What a person sees of one entity: its facts from every slot, and names that fit a text."""

from __future__ import annotations

from dataclasses import dataclass

from nqe.graph.fact import Fact, Qualifier
from nqe.graph.fact_source import FactSource
from nqe.graph.vocabulary import Names, Vocabulary


@dataclass(frozen=True)
class Words:
    """A fact in labels, its parts in the order of the fact in ids."""

    subject: str
    relation: str
    object: str
    qualifiers: tuple[Qualifier, ...]

    def __str__(self) -> str:
        pairs = ", ".join(f"{attribute}: {value}" for attribute, value in self.qualifiers)
        main = f"{self.subject}, {self.relation}, {self.object}"
        return f"({main}, {{{pairs}}})" if pairs else f"({main})"


@dataclass(frozen=True)
class LabelledFact:
    """A fact in ids and the same in labels."""

    ids: Fact
    labels: Words


@dataclass(frozen=True)
class Portrait:
    """An entity with its facts by the slot it stands in; one in two slots stands in both lists."""

    id: str
    label: str | None
    description: str | None
    aliases: tuple[str, ...]
    as_subject: tuple[LabelledFact, ...]
    as_object: tuple[LabelledFact, ...]
    as_value: tuple[LabelledFact, ...]


@dataclass(frozen=True)
class FoundName:
    """A name that fits a text, and how it was found."""

    kind: str
    id: str
    label: str | None
    description: str | None
    how: str


def portrait(source: FactSource, entity: int) -> Portrait:
    """The facts of an entity, sorted by relation and labels."""
    names = source.vocabulary.entities
    name = names.ids[entity]
    facts = sorted(
        (labelled(source, row) for row in source.mentions(entity).tolist()),
        key=lambda fact: (fact.labels.relation, fact.labels.subject, fact.labels.object),
    )
    return Portrait(
        name,
        names.labels[entity],
        names.descriptions[entity],
        names.aliases.get(entity, ()),
        tuple(fact for fact in facts if fact.ids.subject == name),
        tuple(fact for fact in facts if fact.ids.object == name),
        tuple(fact for fact in facts if any(value == name for _, value in fact.ids.qualifiers)),
    )


def labelled(source: FactSource, row: int) -> LabelledFact:
    """One fact in ids and in labels."""
    entities, relations = source.vocabulary.entities, source.vocabulary.relations
    fact = source.fact(row)
    words = Words(
        entities.label_of(fact.subject),
        relations.label_of(fact.relation),
        entities.label_of(fact.object),
        tuple((relations.label_of(a), entities.label_of(value)) for a, value in fact.qualifiers),
    )
    return LabelledFact(fact, words)


def found_names(vocabulary: Vocabulary, text: str, limit: int) -> list[FoundName]:
    """Relations and entities that a text may mean, best first of each kind."""
    return [
        FoundName(names.kind, names.ids[n], names.labels[n], names.descriptions[n], how)
        for names in (vocabulary.relations, vocabulary.entities)
        for n, how in _search(names, text, limit)
    ]


def _search(names: Names, text: str, limit: int) -> list[tuple[int, str]]:
    return [(hit.number, hit.how) for hit in names.search(text, limit)]

"""Facts with labels, and all facts of one entity by the slot that it is in."""

from __future__ import annotations

from dataclasses import dataclass

from nqe.graph.fact import Fact, Qualifier
from nqe.graph.fact_source import FactSource
from nqe.shown_text import make_visible


@dataclass(frozen=True)
class FactLabels:
    """The labels of a fact's parts, with its qualifiers in the order that the fact has them."""

    subject: str
    relation: str
    object: str
    qualifiers: tuple[Qualifier, ...]

    def __str__(self) -> str:
        pairs = ", ".join(f"{attribute}: {value}" for attribute, value in self.qualifiers)
        main = f"{self.subject}, {self.relation}, {self.object}"
        return make_visible(f"({main}, {{{pairs}}})" if pairs else f"({main})")


@dataclass(frozen=True)
class LabelledFact:
    """A fact in ids, and its labels."""

    ids: Fact
    labels: FactLabels


@dataclass(frozen=True)
class EntityFacts:
    """An entity and its facts by the slot that it is in; a fact may be in several lists."""

    id: str
    label: str | None
    description: str | None
    aliases: tuple[str, ...]
    as_subject: tuple[LabelledFact, ...]
    as_object: tuple[LabelledFact, ...]
    as_value: tuple[LabelledFact, ...]


def collect_entity_facts(source: FactSource, entity: int) -> EntityFacts:
    """The facts of an entity, sorted by relation and labels."""
    names = source.vocabulary.entities
    name = names.ids[entity]
    facts = sorted(
        (label_fact(source, row) for row in source.mentions(entity).tolist()),
        key=lambda fact: (fact.labels.relation, fact.labels.subject, fact.labels.object),
    )
    return EntityFacts(
        name,
        names.labels[entity],
        names.descriptions[entity],
        names.aliases.get(entity, ()),
        tuple(fact for fact in facts if fact.ids.subject == name),
        tuple(fact for fact in facts if fact.ids.object == name),
        tuple(fact for fact in facts if any(value == name for _, value in fact.ids.qualifiers)),
    )


def label_fact(source: FactSource, row: int) -> LabelledFact:
    """The fact of one row, in ids and in labels."""
    entities, relations = source.vocabulary.entities, source.vocabulary.relations
    fact = source.fact(row)
    labels = FactLabels(
        entities.label_of(fact.subject),
        relations.label_of(fact.relation),
        entities.label_of(fact.object),
        tuple((relations.label_of(a), entities.label_of(value)) for a, value in fact.qualifiers),
    )
    return LabelledFact(fact, labels)

"""What a person sees of one entity: its facts from every slot, and names that fit a text."""

from __future__ import annotations

from dataclasses import dataclass

from nqe.graph.fact import Fact, Qualifier
from nqe.graph.graph import Graph
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


def portrait(graph: Graph, entity: int) -> Portrait:
    """The facts of an entity, sorted by relation and labels."""
    names, facts = graph.vocabulary.entities, graph.facts
    rows = graph.mentions(entity)
    in_value = set(facts.qualifier_fact[facts.value == entity].tolist())
    return Portrait(
        names.ids[entity],
        names.labels[entity],
        names.descriptions[entity],
        names.aliases.get(entity, ()),
        _labelled(graph, rows[facts.subject[rows] == entity].tolist()),
        _labelled(graph, rows[facts.object[rows] == entity].tolist()),
        _labelled(graph, [row for row in rows.tolist() if row in in_value]),
    )


def labelled(graph: Graph, row: int) -> LabelledFact:
    """One fact in ids and in labels."""
    entities, relations = graph.vocabulary.entities, graph.vocabulary.relations
    subject, main, object_, pairs = graph.facts.row(row)
    # As facts in ids sort their qualifiers.
    ordered = sorted(pairs, key=lambda pair: (relations.ids[pair[0]], entities.ids[pair[1]]))
    words = Words(
        entities.name(subject),
        relations.name(main),
        entities.name(object_),
        tuple((relations.name(attribute), entities.name(value)) for attribute, value in ordered),
    )
    return LabelledFact(graph.fact(row), words)


def _labelled(graph: Graph, rows: list[int]) -> tuple[LabelledFact, ...]:
    facts = (labelled(graph, row) for row in rows)
    return tuple(
        sorted(facts, key=lambda f: (f.labels.relation, f.labels.subject, f.labels.object))
    )


def found_names(vocabulary: Vocabulary, text: str, limit: int) -> list[FoundName]:
    """Relations and entities that a text may mean, best first of each kind."""
    return [
        FoundName(names.kind, names.ids[n], names.labels[n], names.descriptions[n], how)
        for names in (vocabulary.relations, vocabulary.entities)
        for n, how in _search(names, text, limit)
    ]


def _search(names: Names, text: str, limit: int) -> list[tuple[int, str]]:
    return [(hit.number, hit.how) for hit in names.search(text, limit)]

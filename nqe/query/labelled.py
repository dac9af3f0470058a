"""Queries in labels: each name as a person would write it, where that means the same."""

from __future__ import annotations

from nqe.errors import NqeError
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.query.compared_values import ComparedValue, read_value
from nqe.query.query import Query
from nqe.query.query_graph import QueryGraph
from nqe.query.renaming import Renaming
from nqe.shown_text import make_visible


def label_query(query: Query, vocabulary: Vocabulary) -> Query:
    """The query with a label in place of every id that has one which means the same."""
    return Query(query.targets, label_graph(query.graph, vocabulary).formula, query.counted)


def label_graph(graph: QueryGraph, vocabulary: Vocabulary) -> QueryGraph:
    """The query graph with a label in place of every id that has one which means the same."""
    entities, relations = vocabulary.entities, vocabulary.relations
    renaming = Renaming(
        entity=lambda name: _label(entities, name),
        relation=lambda name: _label(relations, name),
        value=lambda text, operator: label_value(entities, text, operator),
    )
    return renaming.apply(graph)


def choose_name(names: Names, number: int) -> str:
    """The label, if it means the entity or relation and can be typed; otherwise the id."""
    label = names.labels[number]
    is_clear = label is not None and make_visible(label) == label and _means(names, label, number)
    return label if label is not None and is_clear else names.ids[number]


def _label(names: Names, text: str) -> str:
    return choose_name(names, names.resolve(text))


def label_value(entities: Names, text: str, operator: str) -> str:
    """What a comparison compares with: a label, or a value without its kind where that is clear."""
    value = read_value(text, operator, entities)
    if value.entity is not None:
        return choose_name(entities, value.entity)
    for literal in value.literals:
        if _reads(entities, literal.lexical, operator) == value:
            return literal.lexical
    return text


def _reads(entities: Names, text: str, operator: str) -> ComparedValue | None:
    """What a text would mean beside an operator."""
    try:
        return read_value(text, operator, entities)
    except NqeError:
        return None


def _means(names: Names, label: str, number: int) -> bool:
    try:
        return names.resolve(label) == number
    except NqeError:
        return False

"""Queries in labels: each name as a person would write it, where that means the same."""

from __future__ import annotations

from nqe.errors import NqeError
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.query.compared_values import read_value
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
        value=lambda text, operator: _label_value(entities, text, operator),
    )
    return renaming.apply(graph)


def choose_name(names: Names, number: int) -> str:
    """The label, if it means the entity or relation and can be typed; otherwise the id."""
    label = names.labels[number]
    is_clear = label is not None and make_visible(label) == label and _means(names, label, number)
    return label if label is not None and is_clear else names.ids[number]


def _label(names: Names, text: str) -> str:
    return choose_name(names, names.resolve(text))


def _label_value(entities: Names, text: str, operator: str) -> str:
    """What a comparison compares with, in a label if it is a name; literals stay as they are."""
    entity = read_value(text, operator, entities).entity
    return text if entity is None else choose_name(entities, entity)


def _means(names: Names, label: str, number: int) -> bool:
    try:
        return names.resolve(label) == number
    except NqeError:
        return False

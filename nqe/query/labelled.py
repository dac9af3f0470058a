"""Queries in labels: each name as a person would write it, where that means the same."""

from __future__ import annotations

from dataclasses import replace

from nqe.errors import NqeError
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.query.formula import Atom, Variable
from nqe.query.query import Query
from nqe.shown_text import make_visible


def label_query(query: Query, vocabulary: Vocabulary) -> Query:
    """The query with a label in place of every id that has one which means the same."""
    [target] = query.graph.targets
    return Query(target, query.graph.map_atoms(lambda atom: _label(atom, vocabulary)).formula)


def choose_name(names: Names, number: int) -> str:
    """The label, if it means the entity or relation and can be typed; otherwise the id."""
    label = names.labels[number]
    is_clear = label is not None and make_visible(label) == label and _means(names, label, number)
    return label if label is not None and is_clear else names.ids[number]


def _label(atom: Atom, vocabulary: Vocabulary) -> Atom:
    entities, relations = vocabulary.entities, vocabulary.relations
    terms = [one if isinstance(one, Variable) else _name(entities, one) for one in atom.terms]
    names = [_name(relations, one) for one in (atom.relation, *atom.attributes)]
    pairs = tuple(zip(names[1:], terms[2:], strict=True))
    return replace(atom, relation=names[0], subject=terms[0], object=terms[1], qualifiers=pairs)


def _name(names: Names, text: str) -> str:
    return choose_name(names, names.resolve(text))


def _means(names: Names, label: str, number: int) -> bool:
    try:
        return names.resolve(label) == number
    except NqeError:
        return False

"""Notes about how names were read that would mean something else in another case."""

from __future__ import annotations

from collections.abc import Iterator

from nqe.graph.vocabulary import Names, Vocabulary
from nqe.query.compared_values import read_value
from nqe.query.formula import Atom, Comparison
from nqe.query.limits import show_text
from nqe.query.query_graph import QueryGraph

_SHOWN = 3
"""The most other things that a note lists."""


def describe_reading(names: Names, text: str) -> tuple[str, ...]:
    """A note if a name would mean something else in another case; otherwise empty."""
    others = names.find_namesakes(text)
    if not others:
        return ()
    meant = names.resolve(text)
    listed = [show_text(names.full_name(number)) for number in others[:_SHOWN]]
    more = [f"{len(others) - _SHOWN:,} more"] if len(others) > _SHOWN else []
    advice = "" if text == names.ids[meant] else "; use an id to be sure"
    return (
        f"'{show_text(text)}' is read as {show_text(names.full_name(meant))}; "
        f"in another case it may mean {', or '.join([*listed, *more])}{advice}",
    )


def describe_readings(graph: QueryGraph, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The notes about all names of a query, each once; the names can be resolved."""
    notes = (
        note
        for names, text in _list_names(graph, vocabulary)
        for note in describe_reading(names, text)
    )
    return tuple(dict.fromkeys(notes))


def _list_names(graph: QueryGraph, vocabulary: Vocabulary) -> Iterator[tuple[Names, str]]:
    """Every name of a query, with the names among which it is looked up."""
    for leaf in graph.scope.list_leaves():
        if isinstance(leaf, Atom):
            yield from _list_names_of_atom(leaf, vocabulary)
        elif isinstance(leaf.right, str):
            yield from _list_compared(leaf, leaf.right, graph, vocabulary)


def _list_names_of_atom(atom: Atom, vocabulary: Vocabulary) -> Iterator[tuple[Names, str]]:
    for relation in (atom.relation, *atom.attributes):
        if isinstance(relation, str):
            yield vocabulary.relations, relation
    for term in atom.terms:
        if isinstance(term, str):
            yield vocabulary.entities, term


def _list_compared(
    one: Comparison, text: str, graph: QueryGraph, vocabulary: Vocabulary
) -> Iterator[tuple[Names, str]]:
    """The name that a comparison compares with, unless it is a literal."""
    if one.left in graph.relation_variables:
        yield vocabulary.relations, text
    elif read_value(text, one.operator, vocabulary.entities).entity is not None:
        yield vocabulary.entities, text

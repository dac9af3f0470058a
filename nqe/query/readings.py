"""Notes about how names were read that would mean something else in another case."""

from __future__ import annotations

from collections.abc import Iterator

from nqe.graph.vocabulary import Names, Vocabulary
from nqe.query.formula import Variable
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
    for atom in graph.scope.list_atoms():
        for relation in (atom.relation, *atom.attributes):
            yield vocabulary.relations, relation
        for term in atom.terms:
            if not isinstance(term, Variable):
                yield vocabulary.entities, term

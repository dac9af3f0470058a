"""Relations that a variable may stand for: those that facts state of a known entity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.fact_source import FactSource
from nqe.query.exact import execute
from nqe.query.formula import Atom, Term, Variable
from nqe.query.query import Query


def find_relations(
    variable: Variable, atoms: Sequence[Atom], graph: FactSource, count: int
) -> Integers:
    """The relations in place of a variable that most facts have, at most `count`.

    They are relations that the facts have with at least one entity that an atom names, in its
    slot; all relations if no atom names any.
    """
    numbers = np.bincount(graph.facts.relation, minlength=graph.relation_count)
    found = [_ask(variable, query, graph) for atom in atoms for query in _ask_loosely(atom)]
    chosen = np.unique(np.concatenate(found)) if found else np.flatnonzero(numbers)
    order = np.lexsort((graph.vocabulary.relations.id_order[chosen], -numbers[chosen]))
    return chosen[order[:count]]


def _ask_loosely(atom: Atom) -> Iterator[Atom]:
    """The atom with one of its entities at a time, and new variables in all other slots."""
    for place, term in enumerate(atom.terms):
        if isinstance(term, str):
            terms: list[Term] = [Variable(f"slot_{n}") for n in range(len(atom.terms))]
            terms[place] = term
            pairs = tuple(zip(atom.attributes, terms[2:], strict=True))
            yield Atom(atom.relation, terms[0], terms[1], pairs)


def _ask(variable: Variable, atom: Atom, graph: FactSource) -> Integers:
    return execute(Query(variable, atom), graph).answers

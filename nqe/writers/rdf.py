"""Writes a graph as RDF: Wikidata's statement nodes, or triples with RDF 1.2 annotations."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from nqe.graph.fact import Fact
from nqe.graph.graph import Graph
from nqe.graph.vocabulary import Names
from nqe.readers.rdf_names import (
    ALIAS,
    DESCRIPTION,
    DIRECT,
    ENTITY,
    LABEL,
    MAIN_VALUE,
    QUALIFIER,
    REIFIES,
    STATEMENT,
    TO_STATEMENT,
    escape_id,
    is_written_as_it_is,
    to_iri,
)
from nqe.writers.labels import find_own_label
from nqe.writers.rdf_literals import write_literal, write_text

__all__ = [
    "DIRECT",
    "ENTITY",
    "MAIN_VALUE",
    "QUALIFIER",
    "RDF_FORMS",
    "REIFIES",
    "STATEMENT",
    "TO_STATEMENT",
    "escape_id",
    "is_written_as_it_is",
    "list_annotation_lines",
    "list_statement_lines",
    "write_entity",
    "write_literal",
    "write_value",
]


def list_statement_lines(graph: Graph) -> Iterator[str]:
    """N-Triples in Wikidata's statement model: one node per fact, with object and qualifiers."""
    for node, fact in _list_statements(graph):
        relation = escape_id(fact.relation)
        yield f"{write_entity(fact.subject)} <{TO_STATEMENT}{relation}> {node} .\n"
        yield f"{node} <{MAIN_VALUE}{relation}> {write_value(fact.object)} .\n"
        for attribute, value in fact.qualifiers:
            yield f"{node} <{QUALIFIER}{escape_id(attribute)}> {write_value(value)} .\n"
    yield from _list_label_lines(graph)


def list_annotation_lines(graph: Graph) -> Iterator[str]:
    """N-Triples of RDF 1.2: each fact's triple, a reifier of it, and the reifier's annotations."""
    for node, fact in _list_statements(graph):
        relation = f"<{to_iri(fact.relation, DIRECT)}>"
        triple = f"{write_entity(fact.subject)} {relation} {write_value(fact.object)}"
        yield f"{triple} .\n{node} <{REIFIES}> <<( {triple} )>> .\n"
        for attribute, value in fact.qualifiers:
            yield f"{node} <{to_iri(attribute, DIRECT)}> {write_value(value)} .\n"
    yield from _list_label_lines(graph)


RDF_FORMS: dict[str, Callable[[Graph], Iterator[str]]] = {
    "wikidata-rdf": list_statement_lines,
    "rdf-1.2": list_annotation_lines,
}


def write_entity(name: str) -> str:
    """The IRI of an entity, or of a relation that is described."""
    return f"<{to_iri(name)}>"


def write_value(name: str) -> str:
    """What stands for an entity that is an object or a value: a literal if it is one."""
    return write_literal(name) or write_entity(name)


def _list_statements(graph: Graph) -> Iterator[tuple[str, Fact]]:
    """A node for every time that the source states a fact."""
    for row, count in enumerate(graph.facts.count.tolist()):
        fact = graph.fact(row)
        yield f"<{STATEMENT}{row}>", fact
        for again in range(2, count + 1):
            yield f"<{STATEMENT}{row}-{again}>", fact


def _list_label_lines(graph: Graph) -> Iterator[str]:
    """The labels, descriptions and aliases of all entities and relations."""
    for names in (graph.vocabulary.entities, graph.vocabulary.relations):
        for number, name in enumerate(names.ids):
            for predicate, text in _list_texts(names, number):
                yield f"{write_entity(name)} <{predicate}> {write_text(text)} .\n"


def _list_texts(names: Names, number: int) -> Iterator[tuple[str, str]]:
    if label := find_own_label(names, number):
        yield LABEL, label
    if description := names.descriptions[number]:
        yield DESCRIPTION, description
    yield from ((ALIAS, alias) for alias in names.aliases.get(number, ()))

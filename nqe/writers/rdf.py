"""Writes a graph as RDF: Wikidata's statement nodes, or triples with RDF 1.2 annotations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from urllib.parse import quote

from nqe.graph.graph import Graph

WIKIDATA = "http://www.wikidata.org/"
ENTITY = f"{WIKIDATA}entity/"
STATEMENT = f"{WIKIDATA}entity/statement/"
TO_STATEMENT = f"{WIKIDATA}prop/"
MAIN_VALUE = f"{WIKIDATA}prop/statement/"
QUALIFIER = f"{WIKIDATA}prop/qualifier/"
DIRECT = f"{WIKIDATA}prop/direct/"
REIFIES = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies"


def escape_id(name: str) -> str:
    """An id, escaped to be the last part of an IRI; the ids of Wikidata need no escape."""
    return quote(name, safe="")


def list_statement_lines(graph: Graph) -> Iterator[str]:
    """N-Triples in Wikidata's statement model: one node per fact, with object and qualifiers."""
    for row in range(len(graph)):
        fact = graph.fact(row)
        node, relation = f"<{STATEMENT}{row}>", escape_id(fact.relation)
        yield f"{_entity(fact.subject)} <{TO_STATEMENT}{relation}> {node} .\n"
        yield f"{node} <{MAIN_VALUE}{relation}> {_entity(fact.object)} .\n"
        for attribute, value in fact.qualifiers:
            yield f"{node} <{QUALIFIER}{escape_id(attribute)}> {_entity(value)} .\n"


def list_annotation_lines(graph: Graph) -> Iterator[str]:
    """N-Triples of RDF 1.2: each fact's triple, a reifier of it, and the reifier's annotations."""
    for row in range(len(graph)):
        fact = graph.fact(row)
        node, relation = f"<{STATEMENT}{row}>", f"<{DIRECT}{escape_id(fact.relation)}>"
        triple = f"{_entity(fact.subject)} {relation} {_entity(fact.object)}"
        yield f"{triple} .\n{node} <{REIFIES}> <<( {triple} )>> .\n"
        for attribute, value in fact.qualifiers:
            yield f"{node} <{DIRECT}{escape_id(attribute)}> {_entity(value)} .\n"


RDF_FORMS: dict[str, Callable[[Graph], Iterator[str]]] = {
    "wikidata-rdf": list_statement_lines,
    "rdf-1.2": list_annotation_lines,
}


def _entity(name: str) -> str:
    return f"<{ENTITY}{escape_id(name)}>"

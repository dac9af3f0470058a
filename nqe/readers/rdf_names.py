"""Names in RDF: the namespaces that have a meaning here, and the ids of IRIs and literals."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from nqe.readers.typed_values import RDF, read_value

WIKIDATA = "http://www.wikidata.org/"
ENTITY = f"{WIKIDATA}entity/"
STATEMENT = f"{WIKIDATA}entity/statement/"
TO_STATEMENT = f"{WIKIDATA}prop/"
MAIN_VALUE = f"{WIKIDATA}prop/statement/"
QUALIFIER = f"{WIKIDATA}prop/qualifier/"
DIRECT = f"{WIKIDATA}prop/direct/"
FULL_VALUE = "value/"
"""After `MAIN_VALUE` or `QUALIFIER`: leads to a node with the precision or unit of the value."""
REFERENCE = f"{WIKIDATA}reference/"
VALUE = f"{WIKIDATA}value/"
WIKIBASE = "http://wikiba.se/ontology#"
RANK, DEPRECATED = f"{WIKIBASE}rank", f"{WIKIBASE}DeprecatedRank"
PAGES = "https://www.wikidata.org/wiki/Special:EntityData/"
UNKNOWN_VALUE = "/.well-known/genid/"
"""Part of the IRIs that stand for blank nodes, which Wikidata writes for unknown values."""
REIFIES = f"{RDF}reifies"
TYPE = f"{RDF}type"
_OWL = "http://www.w3.org/2002/07/owl#"
REIFICATIONS = {
    f"{RDF}Statement": (f"{RDF}subject", f"{RDF}predicate", f"{RDF}object"),
    f"{_OWL}Axiom": (
        f"{_OWL}annotatedSource",
        f"{_OWL}annotatedProperty",
        f"{_OWL}annotatedTarget",
    ),
}
"""How a node names the three parts of a triple that it is about, by the type that it may have."""
REIFIED_PARTS = frozenset(part for parts in REIFICATIONS.values() for part in parts)

_RDFS, _SKOS = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2004/02/skos/core#"
_SCHEMA = ("http://schema.org/", "https://schema.org/")
LABEL, ALIAS, DESCRIPTION = f"{_RDFS}label", f"{_SKOS}altLabel", f"{_SCHEMA[0]}description"
LABELS = frozenset((LABEL, f"{_SKOS}prefLabel", *(f"{one}name" for one in _SCHEMA)))
DESCRIPTIONS = frozenset((f"{_RDFS}comment", *(f"{one}description" for one in _SCHEMA)))
DESCRIBING = LABELS | DESCRIPTIONS | {ALIAS}
"""Properties that describe their subject, if their object is a text."""

OWN_TIME, OWN_NUMBER = "urn:nqe:time", "urn:nqe:number"
"""Datatypes of the values that XSD has no type for: decades, numbers with units, bands."""

_OWN_TYPES = {OWN_TIME: "time", OWN_NUMBER: "number"}

_ID_NAMESPACES = (ENTITY, DIRECT, TO_STATEMENT)
_RESERVED = (WIKIDATA, "https://www.wikidata.org/", WIKIBASE)
_LETTERS = (
    r"[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2}"
    r"|[\u00a1-\u1fff\u2010-\u2027\u2030-\ud7ff\uf900-\ufdcf\ufdf0-\ufeef\U00010000-\U0001fffd]"
)
_IRI = re.compile(
    rf"(https?://[A-Za-z0-9.-]+(:[0-9]{{1,5}})?(/({_LETTERS})*)?"
    rf"|urn:[A-Za-z0-9-]{{2,31}}:({_LETTERS})+)"
    rf"(\?({_LETTERS}|\?)*)?(#({_LETTERS}|\?)*)?"
)


def escape_id(name: str) -> str:
    """An id, escaped to be the last part of an IRI; the ids of Wikidata need no escape."""
    return quote(name, safe="")


def to_iri(name: str, namespace: str = ENTITY) -> str:
    """The IRI of an id: the id itself if it is an IRI of the web, otherwise one in a namespace."""
    return name if is_written_as_it_is(name) else namespace + escape_id(name)


def is_written_as_it_is(name: str) -> bool:
    """Whether an id is an IRI with no other meaning here, so that it is read as the same id."""
    if not name.startswith(("http://", "https://", "urn:")) or name.startswith(_RESERVED):
        return False
    special = name in DESCRIBING | REIFIED_PARTS or name == REIFIES or UNKNOWN_VALUE in name
    return not special and bool(_IRI.fullmatch(name))


def read_iri(iri: str) -> str:
    """The id of an IRI: its last part in the namespaces of Wikidata, otherwise the IRI itself."""
    if not iri.startswith(WIKIDATA):
        return iri
    for namespace in _ID_NAMESPACES:
        rest = iri[len(namespace) :]
        if iri.startswith(namespace) and rest and "/" not in rest:
            name = unquote(rest)
            # Another escape of the same id is another IRI.
            return name if escape_id(name) == rest else iri
    return iri


def read_typed(lexical: str, datatype: str, language: str | None = None) -> str:
    """The id of a literal of a datatype; one that does not fit it is an InputError."""
    return read_value(lexical, _OWN_TYPES.get(datatype, datatype), language=language)


def find_local_name(name: str) -> str | None:
    """The last part of an IRI, by which people may ask for it; None if it has none."""
    if not name.startswith(("http://", "https://", "urn:")):
        return None
    last = unquote(re.split(r"[/#:]", name)[-1]).strip()
    return last if last and last.isprintable() else None

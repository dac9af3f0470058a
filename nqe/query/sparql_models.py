"""How facts and their parts are written in SPARQL, for each way to have them in RDF."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nqe.query.formula import Variable
from nqe.writers import rdf


@dataclass(frozen=True)
class RdfModel:
    """How facts are written in RDF, as templates of SPARQL patterns.

    In the templates {s} {r} {o} are the main triple, {st} is the node of the fact, {a} {v} are
    a qualifier, {x} is any variable and {n} a number that makes names unique. {l} is the relation
    as the local part of a name.
    """

    prefixes: dict[str, str]
    qualifier_prefix: str
    has_iris: bool
    """Whether a relation whose id is an IRI is that IRI; otherwise it is part of another one."""
    fact: str
    unknown_fact: str
    """A fact whose relation is the variable {r}."""
    is_qualifier: str
    entity: tuple[str, ...]
    """The places in which an entity can stand."""
    relation_prefix: str
    """That of a relation which a variable for relations stands for."""
    relation: tuple[str, ...]
    """The places in which a relation or an attribute can stand."""

    def write_relation(self, name: str, prefix: str) -> str:
        """The predicate of a relation or an attribute, with one of the model's prefixes."""
        if self.has_iris and rdf.is_written_as_it_is(name):
            return f"<{name}>"
        return f"{prefix}:{local_name(name)}"


MODELS = {
    "wikidata": RdfModel(
        prefixes={
            "wd": rdf.ENTITY,
            "wds": rdf.STATEMENT,
            "p": rdf.TO_STATEMENT,
            "ps": rdf.MAIN_VALUE,
            "pq": rdf.QUALIFIER,
        },
        qualifier_prefix="pq",
        has_iris=False,
        fact="{s} p:{l} {st} . {st} ps:{l} {o} .",
        unknown_fact="{s} {r} {st} . {st} ?p{n} {o} . FILTER(STRSTARTS(STR({r}), STR(p:)) && "
        "STR(?p{n}) = CONCAT(STR(ps:), STRAFTER(STR({r}), STR(p:))))",
        # Wikidata keeps full and normalised values under the same prefix.
        is_qualifier="STRSTARTS(STR({a}), STR(pq:)) && "
        "!CONTAINS(STRAFTER(STR({a}), STR(pq:)), '/')",
        entity=(
            "{x} ?p{n} ?st{n} . FILTER(STRSTARTS(STR(?st{n}), STR(wds:)))",
            "?st{n} ?p{n} {x} . FILTER(STRSTARTS(STR(?st{n}), STR(wds:)) && "
            "REGEX(STR(?p{n}), '/prop/(statement|qualifier)/[^/]+$'))",
        ),
        relation_prefix="p",
        relation=(
            "?s{n} {x} ?st{n} . FILTER(STRSTARTS(STR(?st{n}), STR(wds:)))",
            "?st{n} ?p{n} ?o{n} . FILTER(REGEX(STR(?p{n}), '/prop/qualifier/[^/]+$')) "
            "BIND(IRI(CONCAT(STR(p:), STRAFTER(STR(?p{n}), STR(pq:)))) AS {x})",
        ),
    ),
    "rdf12": RdfModel(
        prefixes={
            "wd": rdf.ENTITY,
            "wdt": rdf.DIRECT,
            "rdf": rdf.REIFIES.removesuffix("reifies"),
        },
        qualifier_prefix="wdt",
        has_iris=True,
        fact="{st} rdf:reifies <<( {s} {r} {o} )>> .",
        unknown_fact="{st} rdf:reifies <<( {s} {r} {o} )>> .",
        is_qualifier="{a} != rdf:reifies",
        entity=(
            "?st{n} rdf:reifies <<( {x} ?p{n} ?o{n} )>> .",
            "?st{n} rdf:reifies <<( ?s{n} ?p{n} {x} )>> .",
            "?st{n} rdf:reifies ?t{n} ; ?p{n} {x} . FILTER(?p{n} != rdf:reifies)",
        ),
        relation_prefix="wdt",
        relation=(
            "?st{n} rdf:reifies <<( ?s{n} {x} ?o{n} )>> .",
            "?st{n} rdf:reifies ?t{n} ; {x} ?o{n} . FILTER({x} != rdf:reifies)",
        ),
    ),
}


def write_entity(name: str) -> str:
    """An entity as the subject of a triple."""
    return f"<{name}>" if rdf.is_written_as_it_is(name) else f"wd:{local_name(name)}"


def write_value(name: str) -> str:
    """An entity as the object of a triple: a literal if it is one."""
    return rdf.write_literal(name) or write_entity(name)


def plain_name(variable: Variable) -> str:
    """The name of a variable in characters that every SPARQL engine allows."""
    return re.sub(r"[^A-Za-z0-9_]", "_", variable.name)


def local_name(name: str) -> str:
    """An id as the local part of a prefixed name, with special characters escaped."""
    return re.sub(r"([~.\-!$&'()*+,;=/?#@])", r"\\\1", rdf.escape_id(name))

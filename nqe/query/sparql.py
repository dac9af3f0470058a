"""Queries as SPARQL, for Wikidata's statement model and for RDF 1.2 annotations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, count
from typing import assert_never

from nqe.errors import choose
from nqe.graph.vocabulary import Vocabulary
from nqe.query.binder import resolve_graph
from nqe.query.formula import Atom, Term, Variable
from nqe.query.query_graph import Branches, Negated, QueryGraph, Scope
from nqe.query.text import render_query
from nqe.writers import rdf

INDENT = "  "


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
    is_qualifier: str
    entity: tuple[str, ...]
    """The places in which an entity can stand."""


VariableNames = Mapping[Variable, str]
"""The SPARQL names of the variables that are bound at some place."""

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
        # Wikidata keeps full and normalised values under the same prefix.
        is_qualifier="STRSTARTS(STR({a}), STR(pq:)) && "
        "!CONTAINS(STRAFTER(STR({a}), STR(pq:)), '/')",
        entity=(
            "{x} ?p{n} ?st{n} . FILTER(STRSTARTS(STR(?st{n}), STR(wds:)))",
            "?st{n} ?p{n} {x} . FILTER(STRSTARTS(STR(?st{n}), STR(wds:)) && "
            "REGEX(STR(?p{n}), '/prop/(statement|qualifier)/[^/]+$'))",
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
        is_qualifier="{a} != rdf:reifies",
        entity=(
            "?st{n} rdf:reifies <<( {x} ?p{n} ?o{n} )>> .",
            "?st{n} rdf:reifies <<( ?s{n} ?p{n} {x} )>> .",
            "?st{n} rdf:reifies ?t{n} ; ?p{n} {x} . FILTER(?p{n} != rdf:reifies)",
        ),
    ),
}


def write_sparql(graph: QueryGraph, vocabulary: Vocabulary, model: str = "wikidata") -> str:
    """The query graph as a SPARQL query with one column per target.

    Variables may form any graph; unlike plans, SPARQL does not need a tree.
    """
    writer = _Writer(choose(MODELS, model, "RDF model"), graph.targets)
    resolved = resolve_graph(graph, vocabulary)
    comment = render_query(resolved.targets, resolved.formula)
    prefixes = [f"PREFIX {name}: <{iri}>" for name, iri in writer.model.prefixes.items()]
    columns = " ".join(writer.targets.values())
    body = _indent(writer.write_scope(resolved.scope, writer.targets))
    select = f"SELECT DISTINCT {columns} WHERE {{"
    return "\n".join([f"# {comment}", *prefixes, select, *body, "}"]) + "\n"


@dataclass
class _Group:
    """The conditions of one group of SPARQL, each with the names of the variables around it."""

    atoms: list[tuple[Atom, VariableNames]] = field(default_factory=list)
    unions: list[tuple[Branches, VariableNames]] = field(default_factory=list)
    minuses: list[tuple[Scope, VariableNames]] = field(default_factory=list)

    @property
    def bound(self) -> set[str]:
        """The names that have a value in every solution: those of atoms and of whole unions."""
        found = {names[one] for atom, names in self.atoms for one in atom.variables}
        for branches, names in self.unions:
            in_all = set.intersection(*(set(scope.free) for scope in branches.scopes))
            found |= {names[one] for one in in_all}
        return found


class _Writer:
    """Writes scopes as groups of SPARQL.

    SPARQL has no scopes of names, so every variable but the targets gets a name of its own.
    """

    def __init__(self, model: RdfModel, targets: Sequence[Variable]) -> None:
        self.model = model
        plain = [_plain_name(target) for target in targets]
        # All new names end in a number. Counting from above the targets' numbers, none is a target;
        # a longer number than these 18 digits is never reached.
        digits = [re.search(r"\d{0,18}$", name) for name in plain]
        self.numbers = count(1 + max(int(found.group() or 0) for found in digits if found))
        self.targets = self._name_targets(targets)

    def _name_targets(self, targets: Sequence[Variable]) -> dict[Variable, str]:
        names: dict[Variable, str] = {}
        for target in targets:
            name = f"?{_plain_name(target)}"
            names[target] = self._new_name(target) if name in names.values() else name
        return names

    def write_scope(self, scope: Scope, names: VariableNames) -> list[str]:
        """The lines of a group that gives every free variable of the scope a value."""
        group = _Group()
        self._collect(scope, names, group)
        lines = [line for atom, inner in group.atoms for line in self._write_atom(atom, inner)]
        lines += [line for one, inner in group.unions for line in self._write_union(one, inner)]
        bound = group.bound
        for name in (names[one] for one in scope.free if names[one] not in bound):
            lines.append(self._write_any_entity(name))
        for one, inner in group.minuses:
            lines += ["MINUS {", *_indent(self.write_scope(one, inner)), "}"]
        return lines

    def _collect(self, scope: Scope, names: VariableNames, group: _Group) -> None:
        """Add the conditions of a scope to a group; a double negation is none."""
        names = {**names, **{one: self._new_name(one) for one in scope.variables}}
        for condition in scope.conditions:
            match condition:
                case Atom():
                    group.atoms.append((condition, names))
                case Branches():
                    group.unions.append((condition, names))
                case Negated(Scope(conditions=(Negated(inner),))):
                    self._collect(inner, names, group)
                case Negated(inner):
                    group.minuses.append((inner, names))
                case _:
                    assert_never(condition)

    def _write_union(self, branches: Branches, names: VariableNames) -> Iterator[str]:
        for number, scope in enumerate(branches.scopes):
            yield "UNION {" if number else "{"
            yield from _indent(self.write_scope(scope, names))
            yield "}"

    def _write_atom(self, atom: Atom, names: VariableNames) -> Iterator[str]:
        node = f"?st{next(self.numbers)}"
        first, *others = atom.terms
        subject = _write_term(first, names, _write_entity)
        object_, *values = (_write_term(term, names, _write_value) for term in others)
        relation, local = self._write_relation(atom.relation), _local_name(atom.relation)
        yield self.model.fact.format(s=subject, o=object_, r=relation, l=local, st=node)
        attributes = [self._write_relation(name) for name in atom.attributes]
        pairs = list(zip(attributes, values, strict=True))
        for attribute, value in pairs:
            yield f"{node} {attribute} {value} ."
        # Each qualifier of the pattern needs a qualifier of its own in the fact.
        for (attribute, value), (second, other) in combinations(pairs, 2):
            if attribute == second:
                yield f"FILTER(!sameTerm({value}, {other}))"
        if atom.closed:
            yield self._write_closed(node, pairs)

    def _write_closed(self, node: str, pairs: Sequence[tuple[str, str]]) -> str:
        """The filter that every qualifier of the fact is one of the pattern's."""
        number = next(self.numbers)
        a, v = f"?a{number}", f"?q{number}"
        same = " || ".join(
            f"({a} = {attribute} && sameTerm({v}, {value}))" for attribute, value in pairs
        )
        condition = self.model.is_qualifier.format(a=a) + (f" && !({same})" if same else "")
        return f"FILTER NOT EXISTS {{ {node} {a} {v} . FILTER({condition}) }}"

    def _write_any_entity(self, name: str) -> str:
        """A pattern that gives a variable every entity that stands anywhere in a fact."""
        places = [place.format(x=name, n=next(self.numbers)) for place in self.model.entity]
        union = " UNION ".join(f"{{ {place} }}" for place in places)
        return f"{{ SELECT DISTINCT {name} WHERE {{ {union} }} }}"

    def _write_relation(self, name: str) -> str:
        """A relation of the model's direct properties, or an attribute."""
        if self.model.has_iris and rdf.is_written_as_it_is(name):
            return f"<{name}>"
        return f"{self.model.qualifier_prefix}:{_local_name(name)}"

    def _new_name(self, variable: Variable) -> str:
        return f"?{_plain_name(variable)}_{next(self.numbers)}"


def _write_term(term: Term, names: VariableNames, write: Callable[[str], str]) -> str:
    return names[term] if isinstance(term, Variable) else write(term)


def _write_entity(name: str) -> str:
    """An entity as the subject of a triple."""
    return f"<{name}>" if rdf.is_written_as_it_is(name) else f"wd:{_local_name(name)}"


def _write_value(name: str) -> str:
    """An entity as the object of a triple: a literal if it is one."""
    return rdf.write_literal(name) or _write_entity(name)


def _plain_name(variable: Variable) -> str:
    """The name of a variable in characters that every SPARQL engine allows."""
    return re.sub(r"[^A-Za-z0-9_]", "_", variable.name)


def _local_name(name: str) -> str:
    """An id as the local part of a prefixed name, with special characters escaped."""
    return re.sub(r"([~.\-!$&'()*+,;=/?#@])", r"\\\1", rdf.escape_id(name))


def _indent(lines: Iterable[str]) -> list[str]:
    return [INDENT + line for line in lines]

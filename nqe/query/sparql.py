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
from nqe.query.formula import Atom, Comparison, Term, Variable
from nqe.query.query_graph import Branches, Condition, Negated, QueryGraph, Scope
from nqe.query.scope import is_comparison
from nqe.query.sparql_filters import FilterWriter
from nqe.query.sparql_models import MODELS, RdfModel, local_name, plain_name, write_entity
from nqe.query.sparql_models import write_value as write_constant
from nqe.query.sparql_values import PREFIXES
from nqe.query.text import render_query

INDENT = "  "
_VALUES_NOTE = (
    "# Times are compared at the coarser precision of the two; numbers of one unit have an order."
)

VariableNames = Mapping[Variable, str]
"""The SPARQL names of the variables that are bound at some place."""


def write_sparql(graph: QueryGraph, vocabulary: Vocabulary, model: str = "wikidata") -> str:
    """The query graph as a SPARQL query with one column per target, and one for a count.

    Variables may form any graph; unlike plans, SPARQL does not need a tree.
    """
    resolved = resolve_graph(graph, vocabulary)
    writer = _Writer(choose(MODELS, model, "RDF model"), resolved, vocabulary)
    body = _indent(writer.write_scope(resolved.scope, writer.asked))
    head, *end = writer.write_select()
    notes = [f"# {render_query(resolved.targets, resolved.formula, resolved.counted)}"]
    prefixes = dict(writer.model.prefixes)
    if writer.filters.has_values:
        notes.append(_VALUES_NOTE)
        prefixes |= PREFIXES
    lines = [f"PREFIX {name}: <{iri}>" for name, iri in prefixes.items()]
    return "\n".join([*notes, *lines, f"{head} WHERE {{", *body, "}", *end]) + "\n"


@dataclass
class _Group:
    """The conditions of one group of SPARQL, each with the names of the variables around it."""

    own: list[tuple[Variable, str]] = field(default_factory=list)
    """The variables that it quantifies."""
    atoms: list[tuple[Atom, VariableNames]] = field(default_factory=list)
    unions: list[tuple[Branches, VariableNames]] = field(default_factory=list)
    minuses: list[tuple[Scope, VariableNames]] = field(default_factory=list)
    filters: list[tuple[Condition, VariableNames]] = field(default_factory=list)
    """Comparisons, and what is made of nothing else."""
    open_unions: list[tuple[Branches, VariableNames]] = field(default_factory=list)
    """Those with a branch that does not restrict all of its variables."""

    @property
    def bound(self) -> set[str]:
        """The names that have a value in every solution: those of atoms and of whole unions."""
        found = {names[one] for atom, names in self.atoms for one in atom.variables}
        for branches, names in self.unions:
            in_all = set.intersection(*(set(scope.free) for scope in branches.scopes))
            found |= {names[one] for one in in_all}
        return found

    def place_open_unions(self, outside: frozenset[str]) -> list[tuple[Branches, VariableNames]]:
        """Take out the open unions whose variables all have values elsewhere; others are unions."""
        given = self.bound | outside
        tests: list[tuple[Branches, VariableNames]] = []
        for branches, names in self.open_unions:
            is_test = all(names[one] in given for one in branches.variables)
            (tests if is_test else self.unions).append((branches, names))
        return tests


class _Writer:
    """Writes scopes as groups of SPARQL.

    SPARQL has no scopes of names, so every variable but those asked for gets a name of its own.
    """

    def __init__(self, model: RdfModel, graph: QueryGraph, vocabulary: Vocabulary) -> None:
        self.model, self.graph = model, graph
        plain = [plain_name(target) for target in graph.asked]
        # All new names end in a number. Counting from above the targets' numbers, none is a target;
        # a longer number than these 18 digits is never reached.
        digits = [re.search(r"\d{0,18}$", name) for name in plain]
        self.numbers = count(1 + max(int(found.group() or 0) for found in digits if found))
        self.asked = self._name_asked()
        self.filters = FilterWriter(
            self.numbers, graph.relation_variables, self._write_relation_value, vocabulary.entities
        )

    def _name_asked(self) -> dict[Variable, str]:
        names: dict[Variable, str] = {}
        for target in self.graph.asked:
            name = f"?{plain_name(target)}"
            names[target] = self._new_name(target) if name in names.values() else name
        return names

    def write_select(self) -> list[str]:
        """The line that says what is asked for, and the one for groups if there are any."""
        columns = " ".join(self.asked[target] for target in self.graph.targets)
        if self.graph.counted is None:
            return [f"SELECT DISTINCT {columns}"]
        counted = self.asked[self.graph.counted]
        name = "?count" if "?count" not in self.asked.values() else f"?count_{next(self.numbers)}"
        number = f"(COUNT(DISTINCT {counted}) AS {name})"
        return (
            [f"SELECT {columns} {number}", f"GROUP BY {columns}"]
            if columns
            else [f"SELECT {number}"]
        )

    def write_scope(
        self, scope: Scope, names: VariableNames, outside: frozenset[str] = frozenset()
    ) -> list[str]:
        """The lines of a group that gives every free variable of the scope a value.

        Names of `outside` have a value already, as the group stands in an EXISTS.
        """
        group = _Group()
        self._collect(scope, names, group)
        tests = group.place_open_unions(outside)
        lines = [line for atom, inner in group.atoms for line in self._write_atom(atom, inner)]
        lines += [
            line for one, inner in group.unions for line in self._write_union(one, inner, outside)
        ]
        given = group.bound | {names[one] for one in scope.unrestricted}.intersection(outside)
        for variable, name in [*((one, names[one]) for one in scope.free), *group.own]:
            if name not in given:
                lines.append(self._write_any(variable, name))
                given.add(name)
        inside = outside.union(given)
        lines += self._write_filters(group)
        lines += [line for one, inner in tests for line in self._write_test(one, inner, inside)]
        for one, inner in group.minuses:
            if outside or one.unrestricted:
                lines += ["FILTER NOT EXISTS {", *_indent(self.write_scope(one, inner, inside))]
            else:
                lines += ["MINUS {", *_indent(self.write_scope(one, inner))]
            lines.append("}")
        return lines

    def _collect(self, scope: Scope, names: VariableNames, group: _Group) -> None:
        """Add the conditions of a scope to a group; a double negation is none."""
        own = {one: self._new_name(one) for one in scope.variables}
        group.own += own.items()
        names = {**names, **own}
        for condition in scope.conditions:
            if is_comparison(condition):
                group.filters.append((condition, names))
                continue
            match condition:
                case Atom():
                    group.atoms.append((condition, names))
                case Branches(scopes):
                    is_open = any(one.unrestricted for one in scopes)
                    (group.open_unions if is_open else group.unions).append((condition, names))
                case Negated(Scope(conditions=(Negated(inner),))):
                    self._collect(inner, names, group)
                case Negated(Scope(conditions=(Branches(scopes),))):
                    group.minuses += [(one, names) for one in scopes]
                case Negated(inner):
                    group.minuses.append((inner, names))
                case Comparison():
                    raise ValueError("a comparison is a filter")
                case _:
                    assert_never(condition)

    def _write_union(
        self, branches: Branches, names: VariableNames, outside: frozenset[str]
    ) -> Iterator[str]:
        for number, scope in enumerate(branches.scopes):
            yield "UNION {" if number else "{"
            yield from _indent(self.write_scope(scope, names, outside))
            yield "}"

    def _write_test(
        self, branches: Branches, names: VariableNames, outside: frozenset[str]
    ) -> Iterator[str]:
        """An `or` whose variables have their values already, as a filter."""
        yield "FILTER("
        for number, scope in enumerate(branches.scopes):
            yield f"{INDENT}{'|| ' if number else ''}EXISTS {{"
            yield from _indent(_indent(self.write_scope(scope, names, outside)))
            yield f"{INDENT}}}"
        yield ")"

    def _write_filters(self, group: _Group) -> Iterator[str]:
        """The filters of a group, after what takes the compared values apart."""
        subjects = {
            names[atom.subject] for atom, names in group.atoms if isinstance(atom.subject, Variable)
        }
        yield from self.filters.write(group.filters, subjects)

    def _write_atom(self, atom: Atom, names: VariableNames) -> Iterator[str]:
        node = f"?st{next(self.numbers)}"
        first, *others = atom.terms
        subject = _write_term(first, names, write_entity)
        object_, *values = (_write_term(term, names, write_constant) for term in others)
        yield self._write_fact(atom.relation, names, s=subject, o=object_, st=node)
        attributes = [self._write_attribute(name) for name in atom.attributes]
        pairs = list(zip(attributes, values, strict=True))
        for attribute, value in pairs:
            yield f"{node} {attribute} {value} ."
        # Each qualifier of the pattern needs a qualifier of its own in the fact.
        for (attribute, value), (second, other) in combinations(pairs, 2):
            if attribute == second:
                yield f"FILTER(!sameTerm({value}, {other}))"
        if atom.closed:
            yield self._write_closed(node, pairs)

    def _write_fact(self, relation: Term, names: VariableNames, **parts: str) -> str:
        if isinstance(relation, Variable):
            number = next(self.numbers)
            return self.model.unknown_fact.format(r=names[relation], n=number, **parts)
        attribute, local = self._write_attribute(relation), local_name(relation)
        return self.model.fact.format(r=attribute, l=local, **parts)

    def _write_closed(self, node: str, pairs: Sequence[tuple[str, str]]) -> str:
        """The filter that every qualifier of the fact is one of the pattern's."""
        number = next(self.numbers)
        a, v = f"?a{number}", f"?q{number}"
        same = " || ".join(
            f"({a} = {attribute} && sameTerm({v}, {value}))" for attribute, value in pairs
        )
        condition = self.model.is_qualifier.format(a=a) + (f" && !({same})" if same else "")
        return f"FILTER NOT EXISTS {{ {node} {a} {v} . FILTER({condition}) }}"

    def _write_any(self, variable: Variable, name: str) -> str:
        """A pattern that gives a variable every entity, or relation, that stands in a fact."""
        is_relation = variable in self.graph.relation_variables
        templates = self.model.relation if is_relation else self.model.entity
        places = [place.format(x=name, n=next(self.numbers)) for place in templates]
        union = " UNION ".join(f"{{ {place} }}" for place in places)
        return f"{{ SELECT DISTINCT {name} WHERE {{ {union} }} }}"

    def _write_attribute(self, name: str) -> str:
        """An attribute, or a relation of the model's direct properties."""
        return self.model.write_relation(name, self.model.qualifier_prefix)

    def _write_relation_value(self, name: str) -> str:
        """A relation as a variable for relations has it."""
        return self.model.write_relation(name, self.model.relation_prefix)

    def _new_name(self, variable: Variable) -> str:
        return f"?{plain_name(variable)}_{next(self.numbers)}"


def _write_term(term: Term, names: VariableNames, write: Callable[[str], str]) -> str:
    return names[term] if isinstance(term, Variable) else write(term)


def _indent(lines: Iterable[str]) -> list[str]:
    return [INDENT + line for line in lines]

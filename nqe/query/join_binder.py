"""Binds queries that are no trees: names become numbers, and every variable gets its own number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from nqe.graph.atom_pattern import AtomPattern, Content, Unknown
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.query.compared_values import ComparedValue, read_value
from nqe.query.formula import Atom, Comparison, Term, Variable
from nqe.query.join_plan import (
    BoundComparison,
    JoinBranches,
    JoinCondition,
    JoinNegation,
    JoinPlan,
    JoinScope,
    list_atoms,
)
from nqe.query.labelled import label_value
from nqe.query.query_graph import Branches, Condition, Negated, QueryGraph, Scope
from nqe.query.text import render_formula

Numbers = Mapping[Variable, int]
"""The numbers of the variables that are bound at some place."""


def bind_joins(
    graph: QueryGraph, vocabulary: Vocabulary, reason: str, warnings: tuple[str, ...] = ()
) -> JoinPlan:
    """The join plan of a query graph in ids; `reason` says why it is no tree."""
    binder = _Binder(vocabulary, graph.relation_variables)
    numbers = {one: binder.add(one) for one in graph.asked}
    scope = binder.bind_scope(graph.scope, numbers)
    return JoinPlan(
        graph,
        scope,
        tuple(numbers[one] for one in graph.targets),
        None if graph.counted is None else numbers[graph.counted],
        tuple(binder.names),
        frozenset(binder.of_relations),
        _find_largest(scope),
        reason,
        warnings,
    )


@dataclass
class _Binder:
    vocabulary: Vocabulary
    relation_variables: frozenset[Variable]
    names: list[str] = field(default_factory=list)
    of_relations: set[int] = field(default_factory=set)

    def add(self, variable: Variable) -> int:
        """A new number for a variable."""
        number = len(self.names)
        self.names.append(variable.name)
        if variable in self.relation_variables:
            self.of_relations.add(number)
        return number

    def bind_scope(self, scope: Scope, outer: Numbers) -> JoinScope:
        """A scope; its own variables get new numbers."""
        numbers = {**outer, **{one: self.add(one) for one in scope.variables}}
        conditions = tuple(self._bind(one, numbers) for one in scope.conditions)
        return JoinScope(conditions, tuple(outer[one] for one in scope.free))

    def _bind(self, condition: Condition, numbers: Numbers) -> JoinCondition:
        match condition:
            case Atom():
                return self._bind_atom(condition, numbers)
            case Comparison():
                return self._bind_comparison(condition, numbers)
            case Negated(scope):
                return JoinNegation(self.bind_scope(scope, numbers))
            case Branches(scopes):
                return JoinBranches(tuple(self.bind_scope(one, numbers) for one in scopes))
            case _:
                assert_never(condition)

    def _bind_atom(self, atom: Atom, numbers: Numbers) -> AtomPattern:
        entities, relations = self.vocabulary.entities, self.vocabulary.relations
        return AtomPattern(
            _bind_term(atom.relation, relations, numbers),
            tuple(_bind_term(term, entities, numbers) for term in atom.terms),
            tuple(map(relations.resolve, atom.attributes)),
            atom.closed,
        )

    def _bind_comparison(self, comparison: Comparison, numbers: Numbers) -> BoundComparison:
        operator, right = comparison.operator, comparison.right
        left = numbers[comparison.left]
        of_relations = left in self.of_relations
        value: Unknown | ComparedValue
        shown = right
        if isinstance(right, Variable):
            value = Unknown(numbers[right])
        elif of_relations:
            value = ComparedValue(self.vocabulary.relations.resolve(right))
        else:
            value = read_value(right, operator, self.vocabulary.entities)
            shown = label_value(self.vocabulary.entities, right, operator)
        text = render_formula(Comparison(operator, comparison.left, shown))
        return BoundComparison(operator, left, value, text, of_relations)


def _bind_term(term: Term, names: Names, numbers: Numbers) -> Content:
    return Unknown(numbers[term]) if isinstance(term, Variable) else names.resolve(term)


def _find_largest(scope: JoinScope) -> tuple[int, int]:
    atoms = list(list_atoms(scope))
    entities = (entity for atom in atoms for _, entity in atom.known)
    relations = (number for atom in atoms for number in _list_relations(atom))
    return max(entities, default=-1), max(relations, default=-1)


def _list_relations(atom: AtomPattern) -> Iterator[int]:
    if not isinstance(atom.relation, Unknown):
        yield atom.relation
    yield from atom.attributes

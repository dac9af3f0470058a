"""Comparisons as filters of SPARQL, and the lines that take the compared values apart."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import count
from typing import assert_never

from nqe.graph.literals import to_id
from nqe.graph.vocabulary import Names
from nqe.query.compared_values import read_value
from nqe.query.formula import Atom, Comparison, Variable
from nqe.query.query_graph import Branches, Condition, Negated, Scope
from nqe.query.sparql_models import write_entity, write_value
from nqe.query.sparql_values import (
    SparqlValue,
    bind_value,
    write_comparison,
    write_literal_value,
)

VariableNames = Mapping[Variable, str]


class FilterWriter:
    """Writes the comparisons of one group after another."""

    def __init__(
        self,
        numbers: count[int],
        relation_variables: Collection[Variable],
        write_relation: Callable[[str], str],
        entities: Names,
    ) -> None:
        self.numbers, self.entities = numbers, entities
        self.relation_variables, self.write_relation = relation_variables, write_relation
        self.has_values = False
        """Whether values were compared, and not only entities."""
        self.values: dict[str, SparqlValue] = {}
        """The values of the group, by the names of their variables."""
        self.subjects: Collection[str] = ()
        """Names in the group that are subjects, and so are no literals."""

    def write(
        self, conditions: Sequence[tuple[Condition, VariableNames]], subjects: Collection[str]
    ) -> Iterator[str]:
        """The lines for some conditions of one group."""
        self.values, self.subjects = {}, subjects
        lines: list[str] = []
        tests = [self._write(condition, names, lines) for condition, names in conditions]
        self.has_values = self.has_values or bool(self.values)
        yield from lines
        yield from (f"FILTER({test})" for test in tests)

    def _write(self, condition: Condition, names: VariableNames, lines: list[str]) -> str:
        """An expression; what it needs besides is added to the lines."""
        match condition:
            case Comparison():
                return self._write_comparison(condition, names, lines)
            case Negated(scope):
                return f"!COALESCE({self._write_scope(scope, names, lines)}, false)"
            case Branches(scopes):
                return " || ".join(f"({self._write_scope(one, names, lines)})" for one in scopes)
            case Atom():
                raise ValueError("an atom is no filter")
            case _:
                assert_never(condition)

    def _write_scope(self, scope: Scope, names: VariableNames, lines: list[str]) -> str:
        parts = [self._write(one, names, lines) for one in scope.conditions]
        return parts[0] if len(parts) == 1 else " && ".join(f"({part})" for part in parts)

    def _write_comparison(self, one: Comparison, names: VariableNames, lines: list[str]) -> str:
        left, operator = names[one.left], one.operator
        if one.left in self.relation_variables:
            return f"{left} {operator} {self._write_relation_term(one, names)}"
        if isinstance(one.right, Variable):
            right = names[one.right]
            if operator in ("=", "!=") and not {left, right}.isdisjoint(self.subjects):
                return f"{left} {operator} {right}"
            values = self._take_apart(left, lines), self._take_apart(right, lines)
            return write_comparison(operator, *values)
        return self._compare_with(one.right, left, operator, lines)

    def _write_relation_term(self, one: Comparison, names: VariableNames) -> str:
        if isinstance(one.right, Variable):
            return names[one.right]
        return self.write_relation(one.right)

    def _compare_with(self, text: str, left: str, operator: str, lines: list[str]) -> str:
        """A comparison with a name or a value, which can be of several kinds."""
        value = read_value(text, operator, self.entities)
        if value.entity is not None:
            return f"{left} {operator} {write_entity(self.entities.ids[value.entity])}"
        if operator == "!=":
            return f"!COALESCE({self._compare_with(text, left, '=', lines)}, false)"
        compared = self._take_apart(left, lines)
        return " || ".join(
            write_comparison(
                operator, compared, write_literal_value(literal, write_value(to_id(literal)))
            )
            for literal in value.literals
        )

    def _take_apart(self, name: str, lines: list[str]) -> SparqlValue:
        if name not in self.values:
            self.values[name], bound = bind_value(name, next(self.numbers))
            lines += bound
        return self.values[name]

"""Comparisons as filters: which of many values a variable may have, by what others are bound to."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import assert_never

import numpy as np

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.vocabulary import Vocabulary
from nqe.query.compared_values import read_value
from nqe.query.comparisons import LiteralOrder, Order
from nqe.query.cut import Filter, Same
from nqe.query.formula import Atom, Comparison, Variable
from nqe.query.query_graph import QueryGraph
from nqe.query.scope import Branches, Condition, Negated, Scope

Columns = Mapping[Variable, Integers]
"""What variables are bound to, in arrays of one length."""


class ValueFilters:
    """Checks the filters of one query."""

    def __init__(self, graph: QueryGraph, vocabulary: Vocabulary) -> None:
        self._relation_variables, self._vocabulary = graph.relation_variables, vocabulary
        self._order = LiteralOrder(vocabulary.entities)

    def hold(self, one: Filter, columns: Columns) -> Booleans:
        """Whether a filter holds, for each row of what its variables are bound to."""
        match one:
            case Same(left, right):
                return self._are_same(left, right, columns)
            case Comparison():
                return self._compare(one, columns).fits(one.operator)
            case Negated(scope):
                return ~self._all_hold(scope, columns)
            case Branches(scopes):
                return reduce(np.logical_or, (self._all_hold(scope, columns) for scope in scopes))
            case _:
                assert_never(one)

    def _all_hold(self, scope: Scope, columns: Columns) -> Booleans:
        return reduce(np.logical_and, (self._hold(one, columns) for one in scope.conditions))

    def _hold(self, condition: Condition, columns: Columns) -> Booleans:
        if isinstance(condition, Atom):
            raise ValueError("a filter has no atoms")
        return self.hold(condition, columns)

    def _are_same(self, left: Variable, right: Variable | str, columns: Columns) -> Booleans:
        if isinstance(right, Variable):
            return np.asarray(columns[left] == columns[right])
        return np.asarray(columns[left] == self._vocabulary.entities.resolve(right))

    def _compare(self, one: Comparison, columns: Columns) -> Order:
        left, right = columns[one.left], one.right
        if one.left in self._relation_variables:
            other: Integers | int
            if isinstance(right, Variable):
                other = columns[right]
            else:
                other = self._vocabulary.relations.resolve(right)
            return Order.of(np.asarray(left == other))
        if isinstance(right, Variable):
            return self._order.compare(left, columns[right])
        value = read_value(right, one.operator, self._vocabulary.entities)
        return self._order.compare_with(left, value)

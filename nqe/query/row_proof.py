"""Proofs of rows: the facts that support what stands for the targets of a join plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

import numpy as np

from nqe.errors import NqeError
from nqe.graph.atom_pattern import AtomPattern, Content, Unknown
from nqe.graph.binding_table import BindingTable
from nqe.graph.fact_source import FactSource
from nqe.graph.pattern import Pattern
from nqe.query.join_plan import (
    BoundComparison,
    JoinBranches,
    JoinCondition,
    JoinNegation,
    JoinPlan,
    JoinScope,
)
from nqe.query.join_runner import JoinRunner
from nqe.query.join_text import JoinText
from nqe.query.plan import Op
from nqe.query.reason import Reason

Values = Mapping[int, int]
"""What stands for variables."""


def prove_row(
    plan: JoinPlan, graph: FactSource, row: Sequence[int], max_bindings: int | None = None
) -> Reason:
    """Why a row, the numbers that stand for the targets, is an answer.

    Comparisons are not listed: what they compare is in the facts.
    """
    if plan.counted is not None:
        raise NqeError(f"a count has no proof; ask for ?{plan.names[plan.counted]} itself")
    values = dict(zip(plan.targets, row, strict=True))
    found = _Prover(plan, graph, max_bindings).prove(plan.scope, values, plan.targets[0])
    if found is None:
        raise NqeError("this is not an answer, so there is no proof; ask for one of the answers")
    return found


@dataclass(frozen=True, eq=False)
class _Prover:
    plan: JoinPlan
    graph: FactSource
    max_bindings: int | None

    def prove(self, scope: JoinScope, outer: Values, variable: int) -> Reason | None:
        """The reason for a scope, beginning with a variable; None if the scope does not hold."""
        values = self._bind(scope, outer)
        if values is None:
            return None
        parts = tuple(
            part
            for condition in scope.conditions
            for part in self._prove_condition(condition, values, variable)
        )
        if len(parts) == 1:
            return parts[0]
        return replace(self._begin(Op.AND, variable, values), parts=parts)

    def _bind(self, scope: JoinScope, outer: Values) -> Values | None:
        """Numbers for the variables of a scope, such that it holds; None if it does not."""
        kept = dict.fromkeys([*outer, *(v for one in scope.conditions for v in one.variables)])
        given = {one: np.array([number]) for one, number in outer.items()}
        runner = JoinRunner(self.plan, self.graph, self.max_bindings)
        found = next(runner.solve(BindingTable(given, 1), scope.conditions, tuple(kept)), None)
        if found is None:
            return None
        return {one: int(column[0]) for one, column in found.columns.items()}

    def _prove_condition(
        self, condition: JoinCondition, values: Values, variable: int
    ) -> Iterator[Reason]:
        match condition:
            case AtomPattern():
                yield self._prove_atom(condition, values, variable)
            case BoundComparison():
                pass
            case JoinNegation(scope):
                about = scope.variables[0]
                text = JoinText(self.plan, self.graph.vocabulary, values)
                absent = text.describe_scope(scope)
                yield replace(self._begin(Op.NOT, about, values), absent=absent)
            case JoinBranches():
                yield self._prove_branches(condition, values)
            case _:
                assert_never(condition)

    def _prove_atom(self, atom: AtomPattern, values: Values, variable: int) -> Reason:
        """The first fact that states an atom, about the entity that its first variable is."""
        about = next((number for _, number in atom.unknown), variable)

        def read(content: Content) -> int:
            return values[content.number] if isinstance(content, Unknown) else content

        slots = tuple(map(read, atom.slots))
        pattern = Pattern(read(atom.relation), slots, atom.attributes, closed=atom.closed)
        row = int(self.graph.matches(pattern, self.max_bindings)[0])
        text = JoinText(self.plan, self.graph.vocabulary, values).describe_atom(atom)
        return replace(self._begin(Op.PROJECTION, about, values), atom=text, row=row)

    def _prove_branches(self, branches: JoinBranches, values: Values) -> Reason:
        """The reason for the first branch that holds."""
        for scope in branches.scopes:
            about = scope.variables[0]
            outer = {one: values[one] for one in scope.variables}
            part = self.prove(scope, outer, about)
            if part is not None:
                return replace(self._begin(Op.OR, about, values), parts=(part,))
        raise ValueError("one of the branches holds")

    def _begin(self, op: Op, variable: int, values: Values) -> Reason:
        of_relation = variable in self.plan.relation_variables
        name = self.plan.names[variable]
        return Reason(self.graph, op, name, values[variable], of_relation=of_relation)

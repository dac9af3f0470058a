"""Reasons for the bindings of a cut: the trees of each variable, explained one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from nqe.answering.cut_runner import CutRunner, Row
from nqe.answering.neural import NeuralEngine
from nqe.answering.reason_search import ReasonSearch
from nqe.query.binder import bind_ids
from nqe.query.cut import Cut, CutStep
from nqe.query.exact import execute
from nqe.query.formula import Variable
from nqe.query.plan import Op
from nqe.query.query_graph import QueryGraph
from nqe.query.reason import Reason
from nqe.query.scope import Branches, Negated, Scope
from nqe.query.substitution import substitute
from nqe.query.text import render_formula


@dataclass(frozen=True, eq=False)
class CutReasons:
    """Finds reasons in the predictions of an engine and the facts that it knows."""

    engine: NeuralEngine
    max_bindings: int | None

    def find(self, cut: Cut, row: Row, probability: float) -> Reason:
        """Why all conditions hold for what the variables are bound to."""
        runner = CutRunner(cut, self.engine, given=row)
        parts = [part for step in cut.steps for part in self._explain(runner, step, row)]
        if len(parts) == 1:
            return replace(parts[0], probability=probability)
        first = cut.graph.targets[0]
        return Reason(
            self.engine.predictor.graph,
            Op.AND,
            first.name,
            row[first],
            probability,
            parts=tuple(_flatten(first, parts)),
            of_relation=first in cut.graph.relation_variables,
        )

    def _explain(self, runner: CutRunner, step: CutStep, row: Row) -> Iterator[Reason]:
        """The reasons for what one variable is bound to."""
        asked = step.ask(runner.name(row, without=step.variable))
        if asked is not None:
            yield self._explain_tree(asked, row[step.variable])
        for condition in step.nested:
            yield self._explain_nested(runner, condition, step.variable, row)

    def _explain_tree(self, asked: QueryGraph, entity: int) -> Reason:
        graph = self.engine.predictor.graph
        plan = bind_ids(asked, graph.vocabulary)
        result = execute(plan, graph, max_bindings=self.max_bindings)
        return ReasonSearch(result, self.engine.run([result])).find(entity)

    def _explain_nested(
        self, runner: CutRunner, condition: Negated | Branches, variable: Variable, row: Row
    ) -> Reason:
        """The reason for a `not` or an `or` that is no tree."""
        graph, entity = self.engine.predictor.graph, row[variable]
        probability = runner.run_nested(condition, variable, row)[entity]
        match condition:
            case Negated(scope):
                absent = self._describe(runner, scope, row)
                return Reason(graph, Op.NOT, variable.name, entity, probability, absent=absent)
            case Branches(scopes):
                chances = [runner.run_scope(one, variable, row)[entity] for one in scopes]
                best = max(range(len(scopes)), key=chances.__getitem__)
                part = self._explain_scope(runner, scopes[best], variable, row, chances[best])
                return Reason(
                    graph,
                    Op.OR,
                    variable.name,
                    entity,
                    probability,
                    parts=() if part is None else (part,),
                    ways=len(scopes),
                    alone=min(chances[best], probability),
                )
            case _:
                assert_never(condition)

    def _explain_scope(
        self, runner: CutRunner, scope: Scope, variable: Variable, row: Row, probability: float
    ) -> Reason | None:
        """The reason for the likeliest way in which a scope holds; None if there is none."""
        cut = runner.find_cut(scope, variable)
        given = {one: row[one] for one in cut.graph.targets}
        bindings = CutRunner(cut, self.engine, given=given).run()
        if not len(bindings):
            return None
        return self.find(cut, bindings.row(int(bindings.weight.argmax())), probability)

    def _describe(self, runner: CutRunner, scope: Scope, row: Row) -> str:
        """A scope as text in labels, with what its variables are bound to."""
        labels = runner.label(row)
        parts = (substitute(one, labels) for one in scope.conditions)
        return render_formula(Scope(scope.variables, tuple(parts)).formula)


def _flatten(variable: Variable, parts: list[Reason]) -> Iterator[Reason]:
    """The parts, with those of an `and` about the variable itself in its place."""
    for part in parts:
        if part.op == Op.AND and part.variable == variable.name:
            yield from part.parts
        else:
            yield part

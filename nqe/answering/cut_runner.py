"""Hybrid answers of queries that are no trees, by cuts.

The variables of a cut are bound one after another: to the entities that are likeliest to lead to
an answer, at most as many as the beam has, and to all that the known facts state where a `not`
makes their rows uncertain. What is left for each binding are trees, which the hybrid runner
answers, those of all bindings together. The last variable is not limited by the beam.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import assert_never

import numpy as np
import numpy.typing as npt

from nqe.answering.connectives import apply_connective
from nqe.answering.cut_bindings import CutBindings
from nqe.answering.fuzzy_set import FuzzySet
from nqe.answering.hybrid import JOINS, split_plans
from nqe.answering.neural import NeuralEngine
from nqe.answering.relation_candidates import find_relations
from nqe.graph.arrays import Integers
from nqe.graph.vocabulary import Names
from nqe.query.binder import bind_ids
from nqe.query.cut import Cut, CutStep
from nqe.query.cut_search import find_scope_cut
from nqe.query.formula import Atom, Variable
from nqe.query.plan import Op
from nqe.query.query_graph import QueryGraph
from nqe.query.scope import Branches, Negated, Scope, is_comparison
from nqe.query.step_table import StepTable
from nqe.query.value_filters import ValueFilters

Floats = npt.NDArray[np.float64]
Row = Mapping[Variable, int]
"""What some variables are bound to."""

_SHARED, _LEAST_BEAM = 4, 4
"""Trees that are answered together share four beams; each has at least four bindings, though."""

_NOTHING = np.zeros(0, dtype=np.int64)
EVERYTHING = FuzzySet(_NOTHING, np.zeros(0), 1.0)
"""The set that holds every entity for certain."""


class CutRunner:
    """Binds the variables of one cut.

    `stated` are bindings of all variables that are kept whatever the beam, and `given` says what
    the first variables are bound to.
    """

    def __init__(
        self,
        cut: Cut,
        engine: NeuralEngine,
        stated: Integers | None = None,
        given: Row | None = None,
    ) -> None:
        self.cut, self.engine, self.stated, self.given = cut, engine, stated, given or {}
        self.graph = engine.predictor.graph
        self._filters = ValueFilters(cut.graph, self.graph.vocabulary)
        self._cuts: dict[int, Cut] = {}

    def run(self) -> CutBindings:
        """Bindings of all variables, with the probability that all conditions hold."""
        bindings = CutBindings.unit()
        for step in self.cut.steps:
            bindings = self._bind(step, bindings)
        return bindings

    def _bind(self, step: CutStep, bindings: CutBindings) -> CutBindings:
        """Bind one more variable."""
        if step.variable in self.cut.graph.relation_variables:
            own = [EVERYTHING] * len(bindings)
            candidates = self._list_relations(step, bindings)
        else:
            own = self._find_own_sets(step, bindings)
            candidates = self._find_loose_sets(step, bindings, own)
        kept = [self._filter(step, bindings.row(n), one) for n, one in enumerate(candidates)]
        rows, values = self._choose(step, bindings, kept)
        inside = _look_up_each(own, rows, values)
        weight = self._conjoin(bindings.weight[rows], inside)
        possible = weight > 0
        return bindings.extend(rows[possible], step.variable, values[possible], weight[possible])

    # The sets of a variable

    def _find_own_sets(self, step: CutStep, bindings: CutBindings) -> list[FuzzySet]:
        """For each binding, the set of what fits all conditions that are bound by then."""
        if not step.tree and not step.nested:
            return [EVERYTHING] * len(bindings)
        before = [one for one in bindings.columns if one in step.uses]
        first, place = bindings.group(before)
        rows = [bindings.row(number) for number in first.tolist()]
        sets = [EVERYTHING] * len(rows)
        if step.tree:
            sets = self._run_trees([step.ask(self.name(row)) for row in rows])
        for condition in step.nested:
            found = [self.run_nested(condition, step.variable, row) for row in rows]
            sets = [self._combine(Op.AND, pair) for pair in zip(sets, found, strict=True)]
        return [sets[number] for number in place.tolist()]

    def _find_loose_sets(
        self, step: CutStep, bindings: CutBindings, own: list[FuzzySet]
    ) -> list[FuzzySet]:
        """For each binding, the set by which the entities are chosen that the variable binds."""
        if step.variable in self.given:
            entity = np.array([self.given[step.variable]])
            return [FuzzySet(entity, np.ones(1))] * len(bindings)
        if not step.later:
            return own
        used = {name for one in (*step.tree, *step.later) for name in one.variables}
        first, place = bindings.group([one for one in bindings.columns if one in used])
        rows = [bindings.row(number) for number in first.tolist()]
        sets = self._run_trees([step.ask_loosely(self.name(row)) for row in rows])
        loose = [sets[number] for number in place.tolist()]
        if not step.nested:
            return loose
        return [self._combine(Op.AND, pair) for pair in zip(loose, own, strict=True)]

    def _run_trees(self, graphs: Sequence[QueryGraph | None]) -> list[FuzzySet]:
        """The fuzzy sets of trees; of everything where there is none."""
        asked = [one for one in graphs if one is not None]
        plans = [bind_ids(one, self.graph.vocabulary) for one in asked]
        sizes = np.array([len(plan.steps) for plan in plans], dtype=np.int64)
        engine = self._share_beam(len(plans))
        tables = (StepTable.of(plans[part]) for part in split_plans(sizes))
        found = iter([one for table in tables for one in engine.run_table(table).targets])
        return [EVERYTHING if one is None else next(found) for one in graphs]

    def _share_beam(self, count: int) -> NeuralEngine:
        """The engine with a smaller beam within trees, if there are many of them."""
        options = self.engine.options
        beam = min(options.beam, max(_LEAST_BEAM, _SHARED * options.beam // max(count, 1)))
        return replace(self.engine, options=replace(options, beam=beam))

    def name(self, row: Row, without: Variable | None = None) -> dict[Variable, str]:
        """The ids of what variables are bound to, without one of them."""
        return {one: self._names(one).ids[number] for one, number in row.items() if one != without}

    def label(self, row: Row) -> dict[Variable, str]:
        """The labels of what variables are bound to."""
        return {one: self._names(one).name(number) for one, number in row.items()}

    def _names(self, variable: Variable) -> Names:
        names = self.graph.vocabulary
        is_relation = variable in self.cut.graph.relation_variables
        return names.relations if is_relation else names.entities

    def _list_relations(self, step: CutStep, bindings: CutBindings) -> list[FuzzySet]:
        """For each binding, the relations that a variable may stand for."""
        if step.variable in self.given:
            return [_list(np.array([self.given[step.variable]]))] * len(bindings)
        atoms = [
            one for one in step.later if isinstance(one, Atom) and one.relation == step.variable
        ]
        count = self.engine.options.beam
        found = find_relations(step.variable, atoms, self.graph, count)
        return [_list(np.sort(found))] * len(bindings)

    # A `not` or an `or` that is no tree

    def run_nested(self, condition: Negated | Branches, variable: Variable, row: Row) -> FuzzySet:
        """The set of what fits a `not` or an `or`, given what the variables before are bound to."""
        match condition:
            case Negated(scope):
                found = self.run_scope(scope, variable, row)
                return self._combine(Op.NOT, (found,))
            case Branches(scopes):
                sets = [self.run_scope(scope, variable, row) for scope in scopes]
                return self._combine(Op.OR, sets)
            case _:
                assert_never(condition)

    def run_scope(self, scope: Scope, variable: Variable, row: Row) -> FuzzySet:
        """The set of what fits a scope; one without the variable holds all entities alike."""
        if all(map(is_comparison, scope.conditions)):
            return self._compare(scope, variable, row)
        cut = self.find_cut(scope, variable)
        given = {one: row[one] for one in cut.graph.targets if one != variable}
        bindings = CutRunner(cut, self.engine, given=given).run()
        join = JOINS[self.engine.options.join]
        if variable in scope.free:
            values = bindings.columns[variable]
            return FuzzySet(*join(values, bindings.weight, self.graph.entity_count))
        _, chances = join(np.zeros(len(bindings), dtype=np.int64), bindings.weight, 1)
        return FuzzySet(_NOTHING, np.zeros(0), float(chances.sum()))

    def _compare(self, scope: Scope, variable: Variable, row: Row) -> FuzzySet:
        """The set of what fits a scope that only compares."""
        every = self._count(variable) if variable in scope.free else 1
        columns = {one: np.full(every, number) for one, number in row.items()}
        columns[variable] = np.arange(every)
        kept = self._filters.hold(Branches((scope,)), columns)
        if variable not in scope.free:
            return EVERYTHING if kept[0] else _list(_NOTHING)
        return _list(np.flatnonzero(kept))

    def find_cut(self, scope: Scope, variable: Variable) -> Cut:
        """The cut of a scope, in which all that is bound by then comes first."""
        if id(scope) not in self._cuts:
            place = self.cut.order.index(variable)
            self._cuts[id(scope)] = find_scope_cut(scope, self.cut.order[: place + 1])
        return self._cuts[id(scope)]

    def _combine(self, op: Op, sets: Sequence[FuzzySet]) -> FuzzySet:
        """Some sets, joined by an operator."""
        listed = np.unique(np.concatenate([one.entities for one in sets]))
        if op == Op.AND:
            for one in sets:
                if not one.rest:
                    listed = np.intersect1d(listed, one.entities)
        values = np.stack([one.look_up(listed) for one in sets], axis=1)
        rest = np.array([[one.rest for one in sets]])
        logic = self.engine.logic
        return FuzzySet(
            listed,
            apply_connective(op, logic, values),
            float(apply_connective(op, logic, rest)[0]),
        )

    # Choosing

    def _filter(self, step: CutStep, row: Row, found: FuzzySet) -> FuzzySet:
        """What the filters keep of a set."""
        if not step.filters:
            return found
        found = found.list_all(self._count(step.variable))
        columns = {
            one: np.full(len(found.entities), number, dtype=np.int64) for one, number in row.items()
        }
        columns[step.variable] = found.entities
        for one in step.filters:
            kept = self._filters.hold(one, columns)
            columns = {name: column[kept] for name, column in columns.items()}
            found = found.keep(kept)
        return found

    def _choose(
        self, step: CutStep, bindings: CutBindings, candidates: Sequence[FuzzySet]
    ) -> tuple[Integers, Integers]:
        """The bindings to go on with: rows, and what the variable is bound to in each."""
        is_last, is_given = step is self.cut.steps[-1], step.variable in self.given
        lists = [one.list_all(self._count(step.variable)) for one in candidates]
        counts = [len(one.entities) for one in lists]
        rows = np.repeat(np.arange(len(lists)), counts)
        values = np.concatenate([_NOTHING, *(one.entities for one in lists)])
        if is_last or is_given:
            return rows, values
        scores = np.concatenate([np.zeros(0), *(one.values for one in lists)])
        scores = self._conjoin(bindings.weight[rows], scores)
        best = self._select(step.variable, values, scores)
        rows, values = rows[best], values[best]
        if self.stated is None:
            return rows, values
        more = bindings.find_next(self.stated)
        pairs = np.concatenate([np.stack([rows, values], 1), np.stack(more, 1)])
        both = np.unique(pairs, axis=0)
        return both[:, 0], both[:, 1]

    def _select(self, variable: Variable, values: Integers, scores: Floats) -> Integers:
        """The places of the likeliest values, then of those that more facts have, then by id."""
        possible, beam = np.flatnonzero(scores > 0), self.engine.options.beam
        if len(possible) <= beam:
            return possible
        values, scores = values[possible], scores[possible]
        near = np.flatnonzero(scores >= np.partition(scores, -beam)[-beam])
        some, names = values[near], self.graph.vocabulary
        ties: tuple[Integers, ...]
        if variable in self.cut.graph.relation_variables:
            ties = (names.relations.id_order[some],)
        else:
            ties = (names.entities.id_order[some], -self._fact_counts[some])
        best = np.lexsort((*ties, -scores[near]))[:beam]
        return possible[near[best]]

    @cached_property
    def _fact_counts(self) -> Integers:
        """How often each entity stands in a fact."""
        facts = self.graph.facts
        entities = np.concatenate([facts.subject, facts.object, facts.value])
        return np.bincount(entities, minlength=self.graph.entity_count)

    def _count(self, variable: Variable) -> int:
        """How many values a variable may have."""
        if variable in self.cut.graph.relation_variables:
            return self.graph.relation_count
        return self.graph.entity_count

    def _conjoin(self, left: Floats, right: Floats) -> Floats:
        pairs = np.stack([left, right], axis=1)
        return apply_connective(Op.AND, self.engine.logic, pairs)


def _list(values: Integers) -> FuzzySet:
    """The set that holds some values for certain."""
    return FuzzySet(values, np.ones(len(values)))


def _look_up_each(sets: Sequence[FuzzySet], rows: Integers, values: Integers) -> Floats:
    """The probability of each value in the set of the row beside it."""
    found = np.zeros(len(rows))
    for row in np.unique(rows).tolist():
        places = np.flatnonzero(rows == row)
        found[places] = sets[row].look_up(values[places])
    return found

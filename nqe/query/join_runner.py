"""Runs join plans: all rows of a query that is no tree, from facts alone.

The runner holds a table of bindings and the conditions that are not applied yet. Again and again it
applies the best of these, which is chosen anew after every step by the numbers of facts to look at
(`nqe/query/join_chooser.py`). Variables are dropped as soon as no condition needs them any more.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from nqe.errors import TooManyBindings
from nqe.graph.arrays import Booleans
from nqe.graph.atom_pattern import AtomPattern, Unknown
from nqe.graph.binding_table import BindingTable, stack
from nqe.graph.entity_set import SHORT
from nqe.graph.fact_source import FactSource
from nqe.graph.join_atom import AtomFacts
from nqe.query.comparisons import LiteralOrder, Order
from nqe.query.join_chooser import Chooser, Pending, list_variables
from nqe.query.join_plan import BoundComparison, JoinBranches, JoinPlan, JoinScope

# The column that numbers the rows of a table some of whose rows are to be found again.
_ROW = -1
# Tables of results are merged when they have this many rows together.
_MERGED = 4_000_000


@dataclass(frozen=True, eq=False)
class Found:
    """The distinct rows of the variables that a plan asks for."""

    rows: BindingTable
    skipped: dict[BoundComparison, int]
    """How many values, or pairs of them, have no order, so that a comparison skipped them."""


def run_joins(plan: JoinPlan, graph: FactSource, max_bindings: int | None = None) -> Found:
    """Everything that a plan asks for."""
    runner = JoinRunner(plan, graph, max_bindings)
    parts = runner.solve(BindingTable.unit(), plan.scope.conditions, plan.asked)
    return Found(collect(parts, plan.asked), runner.count_skipped())


def collect(parts: Iterable[BindingTable], variables: Sequence[int]) -> BindingTable:
    """The distinct rows of some tables, which are merged now and then."""
    found: list[BindingTable] = []
    waiting, most = 0, _MERGED
    for part in parts:
        found.append(part)
        waiting += len(part)
        if waiting > most:
            found = [stack(found).distinct()]
            waiting, most = 0, max(_MERGED, len(found[0]))
    if not found:
        nothing = np.zeros(0, dtype=np.int64)
        return BindingTable(dict.fromkeys(variables, nothing), 0)
    return stack(found).distinct()


class JoinRunner:
    """Solves the scopes of one plan over one graph."""

    def __init__(self, plan: JoinPlan, graph: FactSource, max_bindings: int | None) -> None:
        self._plan, self._graph, self._max_bindings = plan, graph, max_bindings
        self._order = LiteralOrder(graph.vocabulary.entities)
        self._chooser = Chooser(self)
        self._facts: dict[AtomPattern, AtomFacts] = {}
        self._spent: Counter[object] = Counter()
        self._skipped: defaultdict[BoundComparison, list[BindingTable]] = defaultdict(list)

    def solve(
        self, bindings: BindingTable, conditions: Sequence[Pending], kept: Collection[int]
    ) -> Iterator[BindingTable]:
        """The ways to extend bindings so that the conditions hold: some variables, in blocks."""
        waiting = [(iter((bindings,)), tuple(conditions))]
        while waiting:
            parts, pending = waiting[-1]
            part = next(parts, None)
            if part is None:
                waiting.pop()
            elif len(part) and not pending and all(one in part.columns for one in kept):
                yield part.keep(kept)
            elif len(part):
                waiting.append(self._advance(part, pending, kept))

    def _advance(
        self, bindings: BindingTable, pending: tuple[Pending, ...], kept: Collection[int]
    ) -> tuple[Iterator[BindingTable], tuple[Pending, ...]]:
        """Take the best step from some bindings; gives its result and what is pending then."""
        step, rest = self._chooser.choose(bindings, pending, kept)
        wanted = {*kept, *list_variables(rest)}
        drops = not (wanted.issuperset(bindings.columns) and wanted.issuperset(step.variables))
        return self._tidy(step.run(wanted), step.of, drops), rest

    def _tidy(
        self, parts: Iterator[BindingTable], of: object, drops: bool
    ) -> Iterator[BindingTable]:
        """Tables without repeated rows, as far as these can be many."""
        for part in parts:
            self.count((of, "rows"), len(part))
            yield part.distinct() if drops and len(part) > SHORT else part

    # What steps need

    def find_facts(self, atom: AtomPattern) -> AtomFacts:
        """The facts that may match an atom."""
        found = self._facts.get(atom)
        if found is None:
            found = self._facts[atom] = self._graph.prepare(atom, self._max_bindings)
        return found

    def count(self, of: object, amount: int) -> None:
        """Count what was looked at or found for a condition; refuse more than the limit in all."""
        self._spent[of] += amount
        if self._max_bindings is not None and self._spent[of] > self._max_bindings:
            raise TooManyBindings(self._spent[of], self._max_bindings)

    def count_values(self, variable: int) -> int:
        """How many entities, or relations, a variable may stand for."""
        if variable in self._plan.relation_variables:
            return self._graph.relation_count
        return self._graph.entity_count

    def compare(self, comparison: BoundComparison, bindings: BindingTable) -> Booleans:
        """Whether a comparison holds, for each row."""
        left, right = bindings.columns[comparison.left], comparison.right
        if comparison.of_relations:
            other = bindings.columns[right.number] if isinstance(right, Unknown) else right.entity
            order = Order.of(np.asarray(left == other))
        elif isinstance(right, Unknown):
            order = self._order.compare(left, bindings.columns[right.number])
        else:
            order = self._order.compare_with(left, right)
        if comparison.operator not in ("=", "!=") and not order.has_order.all():
            skipped = bindings.keep(comparison.variables).take(np.flatnonzero(~order.has_order))
            self._skipped[comparison].append(skipped.distinct())
        return order.fits(comparison.operator)

    def count_skipped(self) -> dict[BoundComparison, int]:
        """How many distinct values or pairs each comparison skipped."""
        return {one: len(stack(parts).distinct()) for one, parts in self._skipped.items()}

    # Nested scopes

    def holds(self, scopes: Sequence[JoinScope], bindings: BindingTable) -> Booleans:
        """Whether at least one of some scopes holds, for each row."""
        found = np.zeros(len(bindings), dtype=bool)
        left = np.arange(len(bindings))
        for scope in scopes:
            fits = self._holds(scope, bindings.keep(scope.variables).take(left))
            found[left[fits]] = True
            left = left[~fits]
        return found

    def _holds(self, scope: JoinScope, bindings: BindingTable) -> Booleans:
        rows, places = bindings, None
        if len(bindings) > SHORT:
            rows, places = bindings.group()
        found = np.zeros(len(rows), dtype=bool)
        numbered = BindingTable({**rows.columns, _ROW: np.arange(len(rows))}, len(rows))
        for part in self.solve(numbered, scope.conditions, (_ROW,)):
            found[part.columns[_ROW]] = True
        return found if places is None else found[places]

    def unite(self, branches: JoinBranches, bindings: BindingTable) -> BindingTable:
        """All rows of the variables of an `or`, for what bindings have in place of some of them."""
        shared = [one for one in branches.variables if one in bindings.columns]
        rows = bindings.keep(shared).distinct()
        parts = (
            part
            for scope in branches.scopes
            for part in self.solve(rows, scope.conditions, branches.variables)
        )
        return collect(parts, branches.variables)

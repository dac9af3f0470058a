"""Chooses how a join goes on: which condition to apply next to a table of bindings.

What only filters comes first, then what adds variables, always the cheapest by the facts that it
would look at. If going on from the table would be much more expensive than beginning with other
facts, the table is put aside, and joined when it shares variables with what was found there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from heapq import nsmallest
from itertools import chain
from operator import attrgetter
from typing import NamedTuple, Protocol, assert_never

import numpy as np

from nqe.graph.arrays import Booleans
from nqe.graph.atom_pattern import AtomPattern
from nqe.graph.binding_table import BindingTable
from nqe.graph.join_atom import AtomFacts
from nqe.query.join_plan import (
    BoundComparison,
    JoinBranches,
    JoinCondition,
    JoinNegation,
    JoinScope,
)
from nqe.query.join_tables import extend_by_all, join_tables

# Beginning elsewhere must promise to be so many times cheaper, and pays above so many facts only.
_MUCH_CHEAPER, _MANY = 16, 4_096
# At most so many atoms are compared by the facts that they lead to from the bindings.
_COMPARED = 16
# What only filters and looks at no more facts is applied at once: comparing would take longer.
_FEW = 256


@dataclass(frozen=True, eq=False)
class Table:
    """BindingTable that were put aside."""

    rows: BindingTable

    @property
    def variables(self) -> tuple[int, ...]:
        """The numbers of its variables."""
        return tuple(self.rows.columns)


Uses = Mapping[int, int]
"""How many conditions use each variable; one that is asked for has one more."""
Pending = JoinCondition | Table
"""What is to be applied to bindings."""


class Rank(IntEnum):
    """The order in which steps are taken; among those of one rank the cheapest is first."""

    COMPARISON = 0
    FILTER = 1
    """What adds no variable that is wanted."""
    BRANCHES = 2
    """An `or` that only filters."""
    EXTENSION = 3
    """What adds variables to those of the bindings."""
    NEGATION = 4
    APART = 5
    """What shares no variable with the bindings."""
    UNCERTAIN = 6
    """An `or` of which some branches leave variables open."""
    ANY = 7
    """Everything for a variable that nothing restricts."""


_ADDING = (Rank.EXTENSION, Rank.APART)


class Step(NamedTuple):
    """One way to go on."""

    rank: Rank
    cost: int
    """About how many facts and rows it looks at."""
    run: Callable[[Collection[int]], Iterator[BindingTable]]
    """Gives the bindings after it, as far as variables are wanted, in blocks."""
    of: object
    """The condition that it applies, or the variable that it binds."""
    variables: Sequence[int] = ()
    """Those of the condition."""


class Solver(Protocol):
    """What steps need of the runner."""

    def find_facts(self, atom: AtomPattern) -> AtomFacts:
        """The facts that may match an atom."""

    def count(self, of: object, amount: int) -> None:
        """Count what was looked at for a condition; refuse more than the limit in all."""

    def count_values(self, variable: int) -> int:
        """How many entities, or relations, a variable may stand for."""

    def compare(self, comparison: BoundComparison, bindings: BindingTable) -> Booleans:
        """Whether a comparison holds, for each row."""

    def holds(self, scopes: Sequence[JoinScope], bindings: BindingTable) -> Booleans:
        """Whether at least one of some scopes holds, for each row."""

    def unite(self, branches: JoinBranches, bindings: BindingTable) -> BindingTable:
        """All rows of the variables of an `or`."""


class Chooser:
    """Plans the steps that can be taken, and chooses one."""

    def __init__(self, solver: Solver) -> None:
        self.solver = solver

    def choose(
        self, bindings: BindingTable, pending: tuple[Pending, ...], kept: Collection[int]
    ) -> tuple[Step, tuple[Pending, ...]]:
        """The step to take from some bindings, and what is pending after it."""
        uses = _count_uses(pending, kept)
        best: Step | None = None
        for step in self._plan_all(bindings, pending, uses):
            if best is None or (step.rank, step.cost) < (best.rank, best.cost):
                best = step
            if _is_cheap(best, bindings):
                break
        if best is None:
            return self._bind_any(bindings, kept, pending), pending
        if best.cost > _MANY and best.rank in _ADDING and bindings.columns:
            elsewhere = self._begin_elsewhere(best, bindings, pending)
            if elsewhere is not None:
                rest = (one for one in pending if one is not elsewhere.of)
                return elsewhere, (*rest, Table(bindings))
        return best, tuple(one for one in pending if one is not best.of)

    def _plan_all(
        self, bindings: BindingTable, pending: Sequence[Pending], uses: Uses
    ) -> Iterator[Step]:
        """All steps; how often variables are used tells which of them only filter."""
        atoms = []
        for one in pending:
            match one:
                case AtomPattern():
                    atoms.append(one)
                case BoundComparison():
                    yield from self._plan_comparison(one, bindings)
                case JoinNegation():
                    yield from self._plan_negation(one, bindings)
                case JoinBranches():
                    yield self._plan_branches(one, bindings)
                case Table():
                    yield self._plan_table(one, bindings, uses)
                case _:
                    assert_never(one)
        yield from self._plan_atoms(atoms, bindings, uses)

    # Atoms

    def _plan_atoms(
        self, atoms: Sequence[AtomPattern], bindings: BindingTable, uses: Uses
    ) -> Iterator[Step]:
        bound = bindings.columns
        near = [one for one in atoms if not bound.keys().isdisjoint(one.variables)]
        if not near and atoms:
            near = [min(atoms, key=self._count_by_names)]
        elif len(near) > _COMPARED:
            near = nsmallest(_COMPARED, near, key=self._count_by_names)
        for one in near:
            yield self._plan_atom(one, bindings, uses)

    def _plan_atom(self, atom: AtomPattern, bindings: BindingTable, uses: Uses) -> Step:
        join = self.solver.find_facts(atom).join(bindings)
        rank, cost = Rank.EXTENSION, join.cost
        if bindings.columns and not join.shared:
            rank = Rank.APART
        elif not _adds(atom, bindings, uses):
            rank, cost = Rank.FILTER, join.filter_cost

        def run(wanted: Collection[int]) -> Iterator[BindingTable]:
            self.solver.count(atom, cost)
            return join.run(wanted)

        return Step(rank, cost, run, atom, atom.variables)

    def _count_by_names(self, atom: AtomPattern) -> int:
        return self.solver.find_facts(atom).by_names.size

    def _begin_elsewhere(
        self, best: Step, bindings: BindingTable, pending: Sequence[Pending]
    ) -> Step | None:
        """The step that begins with the facts of another atom; None if that is no better."""
        apart = [
            one
            for one in pending
            if isinstance(one, AtomPattern)
            and one is not best.of
            and not any(variable in bindings.columns for variable in one.variables)
        ]
        chosen = min(apart, key=self._count_by_names, default=None)
        if chosen is None or _MUCH_CHEAPER * self._count_by_names(chosen) > best.cost:
            return None
        return self._plan_atom(chosen, BindingTable.unit(), {})

    # Other conditions

    def _plan_comparison(self, one: BoundComparison, bindings: BindingTable) -> Iterator[Step]:
        if all(variable in bindings.columns for variable in one.variables):
            fits = partial(self.solver.compare, one, bindings)
            yield Step(Rank.COMPARISON, len(bindings), _select(bindings, fits), one)

    def _plan_negation(self, one: JoinNegation, bindings: BindingTable) -> Iterator[Step]:
        if all(variable in bindings.columns for variable in one.variables):
            fits = lambda: ~self.solver.holds((one.scope,), bindings)  # noqa: E731
            yield Step(Rank.NEGATION, len(bindings), _select(bindings, fits), one)

    def _plan_branches(self, one: JoinBranches, bindings: BindingTable) -> Step:
        bound = bindings.columns
        new = [variable for variable in one.variables if variable not in bound]
        if not new:
            fits = partial(self.solver.holds, one.scopes, bindings)
            return Step(Rank.BRANCHES, len(bindings), _select(bindings, fits), one)
        is_near = not bound or len(new) < len(one.variables)
        rank = Rank.EXTENSION if is_near else Rank.APART
        if not one.certain.issuperset(new):
            rank = Rank.UNCERTAIN

        def run(wanted: Collection[int]) -> Iterator[BindingTable]:
            table = self.solver.unite(one, bindings)
            return join_tables(bindings, table, wanted, partial(self.solver.count, one))

        cost = sum(map(self._estimate, one.scopes))
        return Step(rank, cost if is_near else cost * len(bindings), run, one, one.variables)

    def _estimate(self, scope: JoinScope) -> int:
        """About how many facts a scope leads to, by its most selective condition."""
        found = [
            self._count_by_names(one) for one in scope.conditions if isinstance(one, AtomPattern)
        ]
        branches = (one for one in scope.conditions if isinstance(one, JoinBranches))
        found += [sum(map(self._estimate, one.scopes)) for one in branches]
        return min(found, default=1)

    def _plan_table(self, one: Table, bindings: BindingTable, uses: Uses) -> Step:
        bound, size = bindings.columns, len(one.rows) + len(bindings)
        rank = Rank.EXTENSION if _adds(one, bindings, uses) else Rank.FILTER
        if not any(variable in bound for variable in one.variables):
            rank, size = Rank.APART, len(one.rows) * len(bindings)

        def run(wanted: Collection[int]) -> Iterator[BindingTable]:
            return join_tables(bindings, one.rows, wanted, partial(self.solver.count, one))

        return Step(rank, size, run, one, one.variables)

    def _bind_any(
        self, bindings: BindingTable, kept: Collection[int], pending: Sequence[Pending]
    ) -> Step:
        """Everything for one variable that is asked for or stands in a negation."""
        needed = (*kept, *(variable for one in pending for variable in one.variables))
        variable = next(one for one in needed if one not in bindings.columns)
        count = self.solver.count_values(variable)

        def run(wanted: Collection[int]) -> Iterator[BindingTable]:
            self.solver.count(variable, count * len(bindings))
            kept = bindings.keep(one for one in bindings.columns if one in wanted)
            return extend_by_all(kept, variable, count)

        return Step(Rank.ANY, count * len(bindings), run, variable, (variable,))


def list_variables(pending: Iterable[Pending]) -> Iterator[int]:
    """The variables of some conditions, as often as they are used."""
    return chain.from_iterable(map(attrgetter("variables"), pending))


def _count_uses(pending: Sequence[Pending], kept: Collection[int]) -> Uses:
    uses = Counter(dict.fromkeys(kept, 1))
    uses.update(list_variables(pending))
    return uses


def _is_cheap(step: Step, bindings: BindingTable) -> bool:
    """Whether a step is so cheap that no other has to be looked for."""
    if step.rank <= Rank.FILTER and step.cost <= _FEW:
        return True
    return step.rank <= Rank.EXTENSION and step.cost <= len(bindings)


def _adds(one: Pending, bindings: BindingTable, uses: Uses) -> bool:
    """Whether a condition adds a variable that something else needs."""
    columns = bindings.columns
    return any(v not in columns and uses.get(v, 0) > 1 for v in one.variables)


def _select(
    bindings: BindingTable, fits: Callable[[], Booleans]
) -> Callable[[Collection[int]], Iterator[BindingTable]]:
    """Runs a step that keeps the rows that fit."""

    def run(wanted: Collection[int]) -> Iterator[BindingTable]:
        kept = bindings.keep(one for one in bindings.columns if one in wanted)
        yield kept.take(np.flatnonzero(fits()))

    return run

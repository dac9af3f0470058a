"""How large a question is, and whether it may look at many facts."""

from __future__ import annotations

from collections.abc import Iterator

from nqe.graph.arrays import Integers
from nqe.graph.atom_pattern import Unknown
from nqe.query.binder import BoundPlan
from nqe.query.join_plan import JoinBranches, JoinNegation, JoinPlan, JoinScope, list_atoms
from nqe.query.plan import Op, Plan
from nqe.server.problems import TooMuch
from nqe.settings import ServingSettings


def check_size(plan: BoundPlan, settings: ServingSettings) -> None:
    """Refuse a question that is beyond the limits."""
    widths = list(_list_widths(plan))
    steps = len(plan.steps) if isinstance(plan, Plan) else sum(widths)
    if steps > settings.steps:
        raise TooMuch(f"the question takes {steps:,} steps; ask with at most {settings.steps:,}")
    if max(widths) > settings.fan_in:
        raise TooMuch(
            f"an `and` or `or` joins {max(widths):,} parts; join at most {settings.fan_in:,}"
        )


def count_free_facts(plan: BoundPlan, uses: Integers) -> int:
    """How many facts have the relations of atoms in which no entity stands.

    `uses` says how many facts each relation has.
    """
    return sum(int(uses.sum() if one is None else uses[one]) for one in _list_free(plan))


def _list_widths(plan: BoundPlan) -> Iterator[int]:
    """How many parts each step or each scope joins."""
    if isinstance(plan, Plan):
        yield from (len(step.inputs) for step in plan.steps)
        return
    for scope in _list_scopes(plan.scope):
        yield len(scope.conditions)
        for one in scope.conditions:
            if isinstance(one, JoinBranches):
                yield len(one.scopes)


def _list_scopes(scope: JoinScope) -> Iterator[JoinScope]:
    """A scope and those within it."""
    yield scope
    for one in scope.conditions:
        if isinstance(one, JoinNegation):
            yield from _list_scopes(one.scope)
        elif isinstance(one, JoinBranches):
            for branch in one.scopes:
                yield from _list_scopes(branch)


def _list_free(plan: BoundPlan) -> Iterator[int | None]:
    """The relation of each atom in which no entity stands; None for a variable."""
    if isinstance(plan, JoinPlan):
        for atom in list_atoms(plan.scope):
            if not atom.known:
                yield None if isinstance(atom.relation, Unknown) else atom.relation
        return
    for step in plan.steps:
        if step.op == Op.PROJECTION and all(slot is None for slot in step.slots):
            yield step.relation

"""Easy and hard answers, and the missing links of the hard ones, for many queries together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from nqe.graph.arrays import Booleans, Integers
from nqe.graph.entity_set import EntitySet, sorted_contains
from nqe.graph.graph import Graph
from nqe.graph.ragged import Ragged, offsets
from nqe.query.exact_batch import StepSets, run_table
from nqe.query.plan import Op
from nqe.query.step_table import StepTable


@dataclass(frozen=True, eq=False)
class Worlds:
    """What is known, and everything that is true."""

    known: Graph
    full: Graph


def target_sets(sets: StepSets) -> list[EntitySet]:
    """The answers of each plan."""
    last = sets.table.targets
    every = zip(
        sets.start[last].tolist(),
        sets.length[last].tolist(),
        sets.inverted[last].tolist(),
        strict=True,
    )
    return [EntitySet(sets.pool[start : start + n], inverted) for start, n, inverted in every]


def hard_and_easy(
    full: list[EntitySet], known: list[EntitySet]
) -> tuple[list[Integers], list[Integers]]:
    """A(F) \\ A(K) and A(F) ∩ A(K) of each query; A(F) must not be a complement."""
    inside = [k.contains(f.members) for f, k in zip(full, known, strict=True)]
    hard = [f.members[~i] for f, i in zip(full, inside, strict=True)]
    easy = [f.members[i] for f, i in zip(full, inside, strict=True)]
    return hard, easy


def missing_links(table: StepTable, worlds: Worlds, hard: Ragged) -> Integers:
    """For each hard answer the least number of projections whose fact is not known.

    An answer needs the projections T and no more to see the full graph when it is an answer with
    those in T run over the full graph and all others over the known one. So all choices of T are
    run, the smallest first. What is under a `not` always sees the full graph and costs nothing.
    """
    free = table.under_negation
    projections = (table.op == Op.PROJECTION) & ~free
    ordinal, counts = _ordinals(table, projections)
    missing = np.full(len(hard.values), -1, dtype=np.int64)
    for size in range(int(counts.max(initial=0)) + 1):
        for chosen in combinations(range(int(counts.max(initial=0))), size):
            undecided = missing < 0
            if not undecided.any():
                return missing
            sees_full = free | (projections & np.isin(ordinal, chosen))
            found = _holds(run_table(table, worlds.known, None, worlds.full, sees_full), hard)
            missing[undecided & found] = size
    return missing


def _ordinals(table: StepTable, projections: Booleans) -> tuple[Integers, Integers]:
    """The number of each projection within its plan, and how many each plan has."""
    plan = table.plan_of_step
    counts = np.bincount(plan[projections], minlength=len(table))
    ordinal = np.full(table.step_count, -1, dtype=np.int64)
    first = offsets(counts)[:-1]
    places = np.flatnonzero(projections)
    ordinal[places] = np.arange(len(places)) - first[plan[places]]
    return ordinal, counts


def _holds(sets: StepSets, answers: Ragged) -> Booleans:
    """For each answer, whether it is in its plan's set."""
    last = sets.table.targets
    width = int(max(sets.pool.max(initial=0), answers.values.max(initial=0))) + 1
    owner = np.repeat(np.arange(len(last)), sets.length[last])
    keys = owner * width + sets.members(last)
    wanted = answers.owner * width + answers.values
    found = sorted_contains(keys, wanted) if len(keys) else np.zeros(len(wanted), dtype=bool)
    result: Booleans = found ^ sets.inverted[last][answers.owner]
    return result

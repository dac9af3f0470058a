"""Easy and hard answers of many queries, and the number of missing links of each hard answer."""

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
class SplitGraphs:
    """The two graphs that queries of a split are answered over: the known and the full one."""

    known: Graph
    full: Graph


def extract_answers(sets: StepSets) -> list[EntitySet]:
    """Return the answers of each plan."""
    last = sets.table.targets
    columns = zip(
        sets.start[last].tolist(),
        sets.length[last].tolist(),
        sets.inverted[last].tolist(),
        strict=True,
    )
    return [EntitySet(sets.pool[start : start + n], inverted) for start, n, inverted in columns]


def split_answers(
    full: list[EntitySet], known: list[EntitySet]
) -> tuple[list[Integers], list[Integers]]:
    """Return the hard answers A(F) \\ A(K) and the easy ones A(F) ∩ A(K) of each query.

    A(F) must not be a complement.
    """
    inside = [k.contains(f.members) for f, k in zip(full, known, strict=True)]
    hard = [f.members[~i] for f, i in zip(full, inside, strict=True)]
    easy = [f.members[i] for f, i in zip(full, inside, strict=True)]
    return hard, easy


def count_missing_links(table: StepTable, graphs: SplitGraphs, hard: Ragged) -> Integers:
    """Count for each hard answer the least number of projections whose fact is not known.

    Let the projections of a set T run over the full graph and all others over the known graph.
    The number is the size of the smallest T with which the answer is found, so all sets T are
    tried, the smallest first. What is under a `not` always runs over the full graph and costs
    nothing.
    """
    free = table.under_negation
    projections = (table.op == Op.PROJECTION) & ~free
    ordinal, counts = _number_projections(table, projections)
    most = int(counts.max(initial=0))
    missing = np.full(len(hard.values), -1, dtype=np.int64)
    for size in range(most + 1):
        for chosen in combinations(range(most), size):
            undecided = missing < 0
            if not undecided.any():
                return missing
            sees_full = free | (projections & np.isin(ordinal, chosen))
            found = _are_found(run_table(table, graphs.known, None, graphs.full, sees_full), hard)
            missing[undecided & found] = size
    return missing


def _number_projections(table: StepTable, projections: Booleans) -> tuple[Integers, Integers]:
    """Return the number of each projection within its plan, and how many each plan has."""
    plan = table.plan_of_step
    counts = np.bincount(plan[projections], minlength=len(table))
    ordinal = np.full(table.step_count, -1, dtype=np.int64)
    first = offsets(counts)[:-1]
    steps = np.flatnonzero(projections)
    ordinal[steps] = np.arange(len(steps)) - first[plan[steps]]
    return ordinal, counts


def _are_found(sets: StepSets, answers: Ragged) -> Booleans:
    """Return for each answer whether it is in the set of its plan."""
    last = sets.table.targets
    width = int(max(sets.pool.max(initial=0), answers.values.max(initial=0))) + 1
    owner = np.repeat(np.arange(len(last)), sets.length[last])
    keys = owner * width + sets.members(last)
    wanted = answers.owner * width + answers.values
    found = sorted_contains(keys, wanted) if len(keys) else np.zeros(len(wanted), dtype=bool)
    result: Booleans = found ^ sets.inverted[last][answers.owner]
    return result

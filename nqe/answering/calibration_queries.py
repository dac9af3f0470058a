"""One-hop queries to calibrate by: half with an anchor swapped, so that some have no answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nqe.answering.calibration import KINDS
from nqe.errors import NqeError
from nqe.graph.arrays import Integers
from nqe.graph.dataset import Dataset
from nqe.graph.graph import Graph
from nqe.graph.pattern import FIRST_QUALIFIER, Kind
from nqe.graph.ragged import Ragged, offsets
from nqe.query.exact_batch import run_table
from nqe.query.plan import SLOT, STEP
from nqe.sampling.one_hop import link_queries
from nqe.sampling.query_table import QueryTable


def calibration_queries(
    dataset: Dataset, split: str, known: str, count: int, rng: np.random.Generator
) -> tuple[QueryTable, Ragged]:
    """One-hop queries of a split, half of them swapped, with all their answers; what is stated.

    Answers are over the known facts and the split's; `stated` are those of the known facts.
    """
    facts = dataset.splits.get(split)
    if facts is None or not len(facts):
        raise NqeError(f"calibrating needs a {split} split; import one")
    full = dataset.known(f"{known},{split}")
    table = link_queries(facts, full)
    table = table.take(rng.permutation(len(table))[:count])
    table = swapped(table, len(table) // 2, rng)
    answers = _answers(table, full)
    none = none_of(len(table))
    table = replace(table, easy=answers, hard=none, missing=none, answer_count=answers.lengths)
    return table, _answers(table, dataset.known(known))


def swapped(table: QueryTable, count: int, rng: np.random.Generator) -> QueryTable:
    """The queries, in the first so many of them an anchor changed for one of another query.

    That is another one with the same relation and slot, where there is one, so that the new
    question sounds as likely as the old.
    """
    slots = table.slots.values.copy()
    owner = table.slots.owner
    anchors = np.flatnonzero((slots[:, SLOT.KIND] == Kind.KNOWN) & (owner < count))
    chosen = _one_each(anchors, owner, rng)
    place = np.arange(len(slots)) - table.slots.offset[owner]
    relation = table.steps.values[table.steps.offset[owner], STEP.RELATION]
    key = np.where(
        slots[:, SLOT.ATTRIBUTE] >= 0,
        slots[:, SLOT.ATTRIBUTE] * KINDS + FIRST_QUALIFIER,
        relation * KINDS + np.minimum(place, FIRST_QUALIFIER),
    )
    known = np.flatnonzero(slots[:, SLOT.KIND] == Kind.KNOWN)
    filler = slots[:, SLOT.FILLER]
    exact = key * (int(filler.max(initial=0)) + 1) + filler
    order = known[np.argsort(exact[known], kind="stable")]
    start, end = _range(key[order], key[chosen])
    same, after = _range(exact[order], exact[chosen])
    others = end - start - (after - same)
    place = start + rng.integers(np.maximum(others, 1))
    place += np.where(place >= same, after - same, 0)
    drawn = order[np.where(others > 0, place, same)]
    slots[chosen, SLOT.FILLER] = table.slots.values[drawn, SLOT.FILLER]
    return replace(table, slots=Ragged(table.slots.offset, slots))


def _range(ordered: Integers, values: Integers) -> tuple[Integers, Integers]:
    """Where each of some values begins and ends among ordered ones."""
    return np.searchsorted(ordered, values), np.searchsorted(ordered, values, side="right")


def _one_each(anchors: Integers, owner: Integers, rng: np.random.Generator) -> Integers:
    """One anchor of each query, by chance."""
    shuffled = rng.permutation(anchors)
    _, first = np.unique(owner[shuffled], return_index=True)
    return np.sort(shuffled[first])


def _answers(table: QueryTable, graph: Graph) -> Ragged:
    steps = table.step_table()
    sets = run_table(steps, graph)
    last = steps.plan_start[1:] - 1
    return Ragged(offsets(sets.length[last]), sets.members(last))


def none_of(count: int) -> Ragged:
    """Nothing, for each of so many queries."""
    return Ragged(np.zeros(count + 1, dtype=np.int64), np.zeros(0, dtype=np.int64))

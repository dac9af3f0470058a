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
    table = table.with_answers(answers, Ragged.empty(len(table)))
    return table, _answers(table, dataset.known(known))


def swapped(table: QueryTable, count: int, rng: np.random.Generator) -> QueryTable:
    """The queries, in the first so many of them an anchor changed for one of another query.

    That is another one with the same relation and slot, where there is one, so that the new
    question sounds as likely as the old.
    """
    plans, filler = table.plans, table.plans.filler
    step = plans.step_of_slot
    owner = plans.plan_of_step[step]
    is_anchor = plans.kind == Kind.KNOWN
    chosen = _one_each(np.flatnonzero(is_anchor & (owner < count)), owner, rng)
    place = np.arange(len(filler)) - plans.slot_start[step]
    key = np.where(
        plans.attribute >= 0,
        plans.attribute * KINDS + FIRST_QUALIFIER,
        plans.relation[step] * KINDS + np.minimum(place, FIRST_QUALIFIER),
    )
    known = np.flatnonzero(is_anchor)
    exact = key * (int(filler.max(initial=0)) + 1) + filler
    order = known[np.argsort(exact[known], kind="stable")]
    start, end = _range(key[order], key[chosen])
    same, after = _range(exact[order], exact[chosen])
    others = end - start - (after - same)
    place = start + rng.integers(np.maximum(others, 1))
    place += np.where(place >= same, after - same, 0)
    drawn = order[np.where(others > 0, place, same)]
    swapped_filler = filler.copy()
    swapped_filler[chosen] = filler[drawn]
    return replace(table, plans=replace(plans, filler=swapped_filler))


def _range(ordered: Integers, values: Integers) -> tuple[Integers, Integers]:
    """Where each of some values begins and ends among ordered ones."""
    return np.searchsorted(ordered, values), np.searchsorted(ordered, values, side="right")


def _one_each(anchors: Integers, owner: Integers, rng: np.random.Generator) -> Integers:
    """One anchor of each query, by chance."""
    shuffled = rng.permutation(anchors)
    _, first = np.unique(owner[shuffled], return_index=True)
    return np.sort(shuffled[first])


def _answers(table: QueryTable, graph: Graph) -> Ragged:
    sets = run_table(table.plans, graph)
    targets = table.plans.targets
    return Ragged(offsets(sets.length[targets]), sets.members(targets))

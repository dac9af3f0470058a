"""Queries for calibration: in half of them an anchor is swapped, so some have no answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from nqe.answering.calibration import SLOT_KINDS
from nqe.errors import NqeError
from nqe.graph.arrays import Integers
from nqe.graph.dataset import Dataset
from nqe.graph.fact_source import FactSource
from nqe.graph.pattern import FIRST_QUALIFIER, Kind
from nqe.graph.ragged import Ragged, offsets
from nqe.query.exact_batch import run_table
from nqe.sampling.one_hop import make_link_queries
from nqe.sampling.query_table import QueryTable


def draw_calibration_queries(
    dataset: Dataset, split: str, known: str, count: int, rng: np.random.Generator
) -> tuple[QueryTable, Ragged]:
    """Draw one-hop queries of a split, open half, swap an anchor in half, and answer them.

    Returns the queries with their answers over the known facts and the facts of the split, and
    for each query the answers that the known facts alone state.
    """
    facts = dataset.splits.get(split)
    if facts is None or not len(facts):
        raise NqeError(f"calibrating needs a {split} split; import one")
    full = dataset.known(f"{known},{split}")
    table = make_link_queries(facts, full)
    table = table.take(rng.permutation(len(table))[:count])
    table = swap_anchors(open_half(table, rng), len(table) // 2, rng)
    table = table.with_answers(answer_exactly(table, full), Ragged.empty(len(table)))
    return table, answer_exactly(table, dataset.known(known))


def open_half(table: QueryTable, rng: np.random.Generator) -> QueryTable:
    """Make every second atom open, at random; people ask open questions more often."""
    closed = table.plans.closed * (rng.random(len(table.plans.closed)) < 0.5)
    return replace(table, plans=replace(table.plans, closed=closed))


def swap_anchors(table: QueryTable, count: int, rng: np.random.Generator) -> QueryTable:
    """Replace one anchor in each of the first `count` queries by an anchor of another query.

    The new anchor stood in the same slot of the same relation, so that the new query is as
    plausible as the old one. If there is no other such anchor, the query stays as it is.
    """
    plans, filler = table.plans, table.plans.filler
    step = plans.step_of_slot
    owner = plans.plan_of_step[step]
    is_anchor = plans.kind == Kind.KNOWN
    chosen = _draw_one_per_query(np.flatnonzero(is_anchor & (owner < count)), owner, rng)
    place = np.arange(len(filler)) - plans.slot_start[step]
    key = np.where(
        plans.attribute >= 0,
        plans.attribute * SLOT_KINDS + FIRST_QUALIFIER,
        plans.relation[step] * SLOT_KINDS + np.minimum(place, FIRST_QUALIFIER),
    )
    anchors = np.flatnonzero(is_anchor)
    exact = key * (int(filler.max(initial=0)) + 1) + filler
    order = anchors[np.argsort(exact[anchors], kind="stable")]
    start, end = _find_range(key[order], key[chosen])
    same_start, same_end = _find_range(exact[order], exact[chosen])
    # Draw from the range of the slot, but jump over the entity that stands there already.
    others = end - start - (same_end - same_start)
    place = start + rng.integers(np.maximum(others, 1))
    place += np.where(place >= same_start, same_end - same_start, 0)
    drawn = order[np.where(others > 0, place, same_start)]
    new_filler = filler.copy()
    new_filler[chosen] = filler[drawn]
    return replace(table, plans=replace(plans, filler=new_filler))


def _find_range(ordered: Integers, values: Integers) -> tuple[Integers, Integers]:
    """Find where each value begins and ends in a sorted array."""
    return np.searchsorted(ordered, values), np.searchsorted(ordered, values, side="right")


def _draw_one_per_query(anchors: Integers, owner: Integers, rng: np.random.Generator) -> Integers:
    """Draw one anchor of each query at random."""
    shuffled = rng.permutation(anchors)
    _, first = np.unique(owner[shuffled], return_index=True)
    return np.sort(shuffled[first])


def answer_exactly(table: QueryTable, graph: FactSource) -> Ragged:
    """The exact answers of queries over a graph."""
    sets = run_table(table.plans, graph)
    targets = table.plans.targets
    return Ragged(offsets(sets.length[targets]), sets.members(targets))

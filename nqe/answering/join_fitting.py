"""Fit the weights of rules beside a model: by relation and slot, held together by a prior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from nqe.answering.blank_model import BlankModel
from nqe.answering.calibration_samples import Distributions, split_rows
from nqe.answering.joined_runner import to_patterns
from nqe.answering.joining import Evidence, JoinWeights, RuleEvidence
from nqe.graph.arrays import Integers
from nqe.graph.graph import Graph
from nqe.graph.pattern import FIRST_QUALIFIER
from nqe.graph.ragged import Ragged
from nqe.model.model import Model
from nqe.rules.edges import find_sorted
from nqe.rules.rules import Rules
from nqe.sampling.query_table import QueryTable

Floats = npt.NDArray[np.float64]

WEIGHTS = np.geomspace(0.3, 100.0, 12)
"""The weights that are tried."""
PRIOR = 20.0
"""A relation and slot needs about this many answers to have a weight of its own."""


def fit_evidence(
    model: Model, table: QueryTable, stated: Ragged, rules: Rules, known: Graph
) -> tuple[Evidence, JoinWeights]:
    """What rules say about one-hop queries, with the weights that fit their answers best.

    The answers of the table are all answers, those that are `stated` included.
    """
    plain = JoinWeights.plain(model.relation_count)
    patterns = to_patterns(table.plans)
    found = RuleEvidence(rules, known, plain).find(patterns, patterns.relation)
    evidence = found.leave_out(stated.owner, stated.values)
    if isinstance(model, BlankModel):
        return evidence, plain
    weights = _choose_weights(model, table, stated, evidence)
    own = weights.look_up(patterns.relation, patterns.asked)
    return replace(evidence, weight=own[evidence.pattern]), weights


def _choose_weights(
    model: Model, table: QueryTable, stated: Ragged, evidence: Evidence
) -> JoinWeights:
    """The weights that rank the answers which are not stated best, by their reciprocal ranks."""
    slots, plans = FIRST_QUALIFIER + 1, table.plans
    kind = np.minimum(plans.asked[plans.targets], FIRST_QUALIFIER)
    place = plans.relation[plans.targets] * slots + kind
    sums = np.zeros((model.relation_count * slots, len(WEIGHTS)))
    counts = np.zeros(len(sums))
    for rows in split_rows(len(table), model.entity_count):
        logs = Distributions.of(model, table.take(rows).plans, None).to_logs(1.0, len(rows))
        for row, softmax in zip(rows.tolist(), logs.exp().double().numpy(), strict=True):
            said = evidence.take(row, row + 1)
            ranks = _rank(softmax, said, table.easy[row], stated[row])
            sums[place[row]] += (1 / ranks).sum(0)
            counts[place[row]] += len(ranks)
    overall = sums.sum(0) / max(counts.sum(), 1)
    best = (sums + PRIOR * overall).argmax(1)
    table_of_weights = WEIGHTS[best].astype(np.float32).reshape(model.relation_count, slots)
    return JoinWeights(table_of_weights)


def _rank(softmax: Floats, said: Evidence, right: Integers, stated: Integers) -> Floats:
    """The rank of each answer that is not stated with each weight, (answers, weights).

    Other answers do not count.
    """
    answers = np.setdiff1d(right, stated)
    own = softmax[said.entity]
    unit = said.add_to(np.log(own + 1e-30), slice(None)) / np.maximum(said.weight, 1e-9)
    joined = own[:, None] + unit[:, None] * WEIGHTS  # (pairs, weights)
    place = find_sorted(said.entity, answers)
    values = np.where(
        (place >= 0)[:, None],
        np.append(joined, np.zeros((1, len(WEIGHTS))), axis=0)[place],
        softmax[answers][:, None],
    )  # (answers, weights)
    counts = np.ones(len(softmax), dtype=bool)
    counts[np.concatenate([right, stated, said.entity])] = False
    others = np.sort(softmax[counts])
    above = len(others) - np.searchsorted(others, values, side="right")
    wrong = joined[~np.isin(said.entity, right)]
    above = above + (wrong[None] > values[:, None]).sum(1)
    ranks: Floats = above + 1.0
    return ranks

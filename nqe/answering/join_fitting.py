"""Fit the weights of rules beside a model: by relation and slot, held together by a prior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from nqe.answering.calibration_samples import Distributions, split_rows
from nqe.answering.joined_runner import to_patterns
from nqe.answering.joining import TEMPERATURE, Evidence, JoinWeights, RuleEvidence
from nqe.graph.arrays import Integers
from nqe.graph.graph import Graph
from nqe.graph.pattern import FIRST_QUALIFIER
from nqe.graph.ragged import Ragged
from nqe.model.model import Model
from nqe.rules.edges import find_sorted
from nqe.rules.rules import Rules
from nqe.sampling.query_table import QueryTable

Floats = npt.NDArray[np.float64]

WEIGHTS = np.geomspace(0.03, 30.0, 19)
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
    weights = _choose_weights(model.with_facts(known.facts), table, stated, evidence)
    own = weights.look_up(patterns.relation, patterns.asked)
    return replace(evidence, weight=own[evidence.pattern]), weights


def _choose_weights(
    model: Model, table: QueryTable, stated: Ragged, evidence: Evidence
) -> JoinWeights:
    """The weights that make the answers which are not stated likeliest."""
    slots, plans = FIRST_QUALIFIER + 1, table.plans
    kind = np.minimum(plans.asked[plans.targets], FIRST_QUALIFIER)
    place = plans.relation[plans.targets] * slots + kind
    sums = np.zeros((model.relation_count * slots, len(WEIGHTS)))
    counts = np.zeros(len(sums))
    for rows in split_rows(len(table), model.entity_count):
        part = Distributions.of(model, table.take(rows).plans, None)
        logs = part.to_logs(TEMPERATURE).double().numpy()
        for row, own in zip(rows.tolist(), logs, strict=True):
            answers = np.setdiff1d(table.easy[row], stated[row])
            sums[place[row]] += _measure_gains(own, evidence.take(row, row + 1), answers).sum(0)
            counts[place[row]] += len(answers)
    overall = sums.sum(0) / max(counts.sum(), 1)
    best = (sums + PRIOR * overall).argmax(1)
    weights = WEIGHTS[best].astype(np.float32).reshape(model.relation_count, slots)
    return JoinWeights(weights)


def _measure_gains(logs: Floats, said: Evidence, answers: Integers) -> Floats:
    """How much likelier each weight makes each answer than the model alone, as logs."""
    unit = said.add_to(logs[said.entity], slice(None)) / np.maximum(said.weight, 1e-9)
    place = find_sorted(said.entity, answers)
    own = np.append(unit, 0.0)[place]  # 0 where rules do not speak of an answer
    ratio = own / np.exp(np.maximum(logs[answers], -50.0))
    gains: Floats = np.log1p(ratio[:, None] * WEIGHTS) - np.log1p(unit.sum() * WEIGHTS)
    return gains

"""The runner of one-hop queries for evaluation: a model's scores joined with rules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from nqe.answering.joining import TEMPERATURE, Evidence, RuleEvidence
from nqe.graph.pattern import Kind, Patterns
from nqe.model.log_sum import LogSum
from nqe.model.model import Model
from nqe.query.step_table import StepTable

Floats = npt.NDArray[np.float64]

COLUMNS = 2**14
"""Entities that are scored at once."""
NO_CHANCE = -1e4
"""The score of an entity about which there is no evidence at all."""


@dataclass(frozen=True, eq=False)
class JoinedRunner:
    """Scores every entity by a model and rules together; without a model by rules alone."""

    model: Model | None
    rules: RuleEvidence

    @property
    def entity_count(self) -> int:
        """The number of entities it scores."""
        return self.rules.graph.entity_count

    @torch.no_grad()
    def run(self, plans: StepTable) -> JoinedScores:
        """Compute the joined distribution over all entities for each one-hop plan."""
        patterns = to_patterns(plans)
        evidence = self.rules.find(patterns, patterns.relation)
        if self.model is None:
            return JoinedScores(None, None, evidence, len(plans), self.entity_count)
        vectors, total = self._model_with_facts.encode_finite(plans), LogSum()
        for first in range(0, self.entity_count, COLUMNS):
            block = self._score(vectors, first, min(first + COLUMNS, self.entity_count))
            total.add(block, out=block)
        logs = _Logs(self, vectors, total.total)
        return JoinedScores(logs, self.model.device, evidence, len(plans), self.entity_count)

    @cached_property
    def _model_with_facts(self) -> Model:
        """The model over the facts that the rules fire on."""
        if self.model is None:
            raise ValueError("there is no model")
        return self.model.eval().with_facts(self.rules.graph.facts)

    def _score(self, vectors: Tensor, first: int, last: int) -> Tensor:
        if self.model is None:
            raise ValueError("there is no model")
        scores = self.model.score(vectors, self.model.entity_block(slice(first, last)))
        return scores / TEMPERATURE


@dataclass(frozen=True, eq=False)
class _Logs:
    """The log of a model's softmax over all entities."""

    runner: JoinedRunner
    vectors: Tensor
    total: Tensor  # (queries,)

    def block(self, first: int, last: int) -> Tensor:
        """The logs of a range of entities, (queries, entities)."""
        scores = self.runner._score(self.vectors, first, last)
        return (scores - self.total[:, None]).double()


@dataclass(frozen=True, eq=False)
class JoinedScores:
    """The logs of the joined distributions of some queries, up to a constant per query."""

    logs: _Logs | None
    device: torch.device | None
    evidence: Evidence
    count: int
    entity_count: int

    @torch.no_grad()
    def block(self, first: int, last: int) -> Tensor:
        """The scores of a range of entities, (queries, entities)."""
        within = (self.evidence.entity >= first) & (self.evidence.entity < last)
        pairs = np.flatnonzero(within)
        row, column = self.evidence.pattern[pairs], self.evidence.entity[pairs] - first
        if self.logs is None:
            scores = torch.full((self.count, last - first), NO_CHANCE, dtype=torch.float64)
            scores[row, column] = torch.from_numpy(np.log(self.evidence.strength[pairs]))
            return scores
        scores = self.logs.block(first, last)
        rows, columns = torch.from_numpy(row), torch.from_numpy(column)
        own = scores[rows, columns].cpu().numpy()
        joined = np.log(np.exp(own) + self.evidence.add_to(own, pairs))
        scores[rows, columns] = torch.from_numpy(joined).to(scores.device)
        return scores


def to_patterns(plans: StepTable) -> Patterns:
    """The patterns of one-hop plans; a slot that any entity may fill is free."""
    slots = plans.slots_of(plans.targets)
    known = plans.kind[slots.values] == Kind.KNOWN
    return Patterns.without_sets(
        relation=plans.relation[plans.targets],
        closed=plans.closed[plans.targets],
        asked=plans.asked[plans.targets],
        first_slot=slots.offset,
        attribute=plans.attribute[slots.values],
        filler=np.where(known, plans.filler[slots.values], -1),
    )

"""Runners of one-hop queries for evaluation: by rules alone, and by a model joined with rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from nqe.answering.joining import TEMPERATURE, Evidence, RuleEvidence
from nqe.graph.pattern import Kind, Patterns
from nqe.model.log_sum import LogSum
from nqe.model.model import Model
from nqe.query.step_table import StepTable

COLUMNS = 2**14
"""Entities that are scored at once."""


@dataclass(frozen=True, eq=False)
class JoinedRunner:
    """Scores every entity by a model and rules together."""

    model: Model
    rules: RuleEvidence

    @property
    def entity_count(self) -> int:
        """The number of entities it scores."""
        return self.rules.graph.entity_count

    def check_expressible(self, plans: StepTable, shapes: Sequence[str]) -> None:
        """Refuse plans that the model cannot express; `shapes` are their names."""
        self.model.check_expressible(plans, shapes)

    @torch.no_grad()
    def run(self, plans: StepTable) -> JoinedScores:
        """Compute the joined distribution over all entities for each one-hop plan."""
        patterns = to_patterns(plans)
        vectors, total = self._model_with_facts.encode_finite(plans), LogSum()
        for first in range(0, self.entity_count, COLUMNS):
            block = self.score(vectors, first, min(first + COLUMNS, self.entity_count))
            total.add(block, out=block)
        evidence = self.rules.find(patterns, patterns.relation)
        return JoinedScores(self, vectors, total.total, evidence)

    def score(self, vectors: Tensor, first: int, last: int) -> Tensor:
        """The model's scores of a range of entities, divided by the temperature."""
        return self.model.score(vectors, self.model.entity_block(slice(first, last))) / TEMPERATURE

    @cached_property
    def _model_with_facts(self) -> Model:
        """The model over the facts that the rules fire on."""
        return self.model.eval().with_facts(self.rules.graph.facts)


@dataclass(frozen=True, eq=False)
class JoinedScores:
    """The logs of the joined distributions of some queries, up to a constant per query."""

    runner: JoinedRunner
    vectors: Tensor  # (queries, width)
    total: Tensor  # (queries,) the log-sum of the model's scores
    evidence: Evidence

    @torch.no_grad()
    def block(self, first: int, last: int) -> Tensor:
        """The scores of a range of entities, (queries, entities)."""
        scores = self.runner.score(self.vectors, first, last) - self.total[:, None]
        scores, pairs = scores.double(), self.evidence.find_columns(first, last)
        row, column = self.evidence.pattern[pairs], self.evidence.entity[pairs] - first
        own = scores[torch.from_numpy(row), torch.from_numpy(column)].cpu().numpy()
        joined = torch.from_numpy(np.log(np.exp(own) + self.evidence.add_to(own, pairs)))
        scores[torch.from_numpy(row), torch.from_numpy(column)] = joined.to(scores.device)
        return scores


@dataclass(frozen=True, eq=False)
class RuleRunner:
    """Scores every entity by rules alone."""

    rules: RuleEvidence

    @property
    def entity_count(self) -> int:
        """The number of entities it scores."""
        return self.rules.graph.entity_count

    def run(self, plans: StepTable) -> RuleScores:
        """Fire the rules for each one-hop plan."""
        patterns = to_patterns(plans)
        return RuleScores(len(plans), self.rules.find(patterns, patterns.relation))


@dataclass(frozen=True, eq=False)
class RuleScores:
    """The strength of the rules that predict each entity."""

    count: int
    evidence: Evidence

    def block(self, first: int, last: int) -> Tensor:
        """The scores of a range of entities, (queries, entities); 0 if no rule predicts them."""
        scores = torch.zeros((self.count, last - first), dtype=torch.float64)
        pairs = self.evidence.find_columns(first, last)
        row, column = self.evidence.pattern[pairs], self.evidence.entity[pairs] - first
        scores[row, column] = torch.from_numpy(self.evidence.strength[pairs])
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

"""Join what a model says about entities with the evidence of rules.

With m the model's softmax over all entities at the temperature 1.4, and v the strength of the rules
that predict an entity (0 for most), the joined distribution is

    p(e) ∝ m(e) + weight · v(e) · (m(e) + 1e-7) ** 0.25

Where the model knows nothing about a question, as it names something new, or where there is no
model, p is v itself. The weight depends on the relation and the slot that is asked for, and is
fitted on validation facts; see `join_fitting`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from nqe.graph.arrays import Integers
from nqe.graph.graph import Graph
from nqe.graph.pattern import FIRST_QUALIFIER, Patterns
from nqe.rules.edges import find_sorted
from nqe.rules.firing import RuleBook
from nqe.rules.strength import combine

if TYPE_CHECKING:
    from nqe.rules.rules import Rules

Floats = npt.NDArray[np.float64]
Table = npt.NDArray[np.float32]

TEMPERATURE = 1.4
"""A model is too sure of itself beside rules."""
EXPONENT = 0.25
"""How much the model has to say about what rules predict.

Both were chosen on WD50K's validation split, by one-hop and by complex queries.
"""
FLOOR = 1e-7
"""So that rules count where the model finds an entity impossible, or has never seen it."""
PLAIN_WEIGHT = 1.0
"""The weight of rules where none was fitted; good on WD50K's validation split."""


@dataclass(frozen=True, eq=False)
class JoinWeights:
    """The weight of rules beside a model, by relation and kind of slot."""

    weight: Table  # (relations, 3)

    def __post_init__(self) -> None:
        if self.weight.ndim != 2 or self.weight.shape[1:] != (FIRST_QUALIFIER + 1,):
            raise ValueError(f"a table of weights of shape {self.weight.shape}")
        if not (np.isfinite(self.weight).all() and (self.weight >= 0).all()):
            raise ValueError("a weight of rules is below 0 or not finite")

    @classmethod
    def plain(cls, relation_count: int) -> JoinWeights:
        """The same weight for all relations and slots."""
        shape = (relation_count, FIRST_QUALIFIER + 1)
        return cls(np.full(shape, PLAIN_WEIGHT, dtype=np.float32))

    def look_up(self, relation: Integers, slot: Integers) -> Floats:
        """The weight for each relation and slot."""
        kind = np.minimum(slot, FIRST_QUALIFIER)
        return self.weight[relation, kind].astype(np.float64)

    def to_json(self) -> list[list[float]]:
        """Return the weights as JSON data."""
        rows: list[list[float]] = self.weight.tolist()
        return rows

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Build weights from JSON data; raises ValueError or TypeError if it is wrong."""
        return cls(np.array(data, dtype=np.float32))


@dataclass(frozen=True, eq=False)
class Evidence:
    """What rules say about the asked slots of patterns, ordered by pattern and entity."""

    pattern: Integers  # (pairs,)
    entity: Integers  # (pairs,)
    strength: Floats  # (pairs,) the strength of the rules that predict the entity
    weight: Floats  # (pairs,) the weight of rules for the pattern
    entity_count: int

    @cached_property
    def keys(self) -> Integers:
        """One ascending number per pair."""
        return self.pattern * self.entity_count + self.entity

    def __len__(self) -> int:
        return len(self.pattern)

    def leave_out(self, pattern: Integers, entity: Integers) -> Evidence:
        """All pairs but the given ones, which are ordered."""
        kept = find_sorted(pattern * self.entity_count + entity, self.keys) < 0
        columns: dict[str, Any] = {
            name: getattr(self, name)[kept] for name in ("pattern", "entity", "strength", "weight")
        }
        return replace(self, **columns)

    def find(self, pattern: Integers, entity: Integers) -> Integers:
        """The place of each pair, or -1 if rules say nothing about it."""
        return find_sorted(self.keys, pattern * self.entity_count + entity)

    def find_columns(self, first: int, last: int) -> Integers:
        """The places of the pairs whose entities are in a range."""
        return np.flatnonzero((self.entity >= first) & (self.entity < last))

    def select(self, first: int, last: int) -> slice:
        """The places of the pairs of a range of patterns."""
        start, end = np.searchsorted(self.pattern, (first, last))
        return slice(int(start), int(end))

    def take(self, first: int, last: int) -> Evidence:
        """The evidence of a range of patterns, which are numbered from 0."""
        pairs = self.select(first, last)
        columns = (self.entity[pairs], self.strength[pairs], self.weight[pairs])
        return Evidence(self.pattern[pairs] - first, *columns, self.entity_count)

    def join(self, logs: Floats, count: int) -> tuple[Floats, Floats]:
        """Join rules with a model, given the log of its softmax for each pair, of `count` patterns.

        Returns the logs of the joined distribution for the pairs, and for each pattern the log of
        what its whole distribution is divided by.
        """
        added = self.add_to(logs, slice(None))
        mass = np.log1p(np.bincount(self.pattern, added, minlength=count))
        with np.errstate(divide="ignore"):  # a model may find an entity impossible
            return np.log(np.exp(logs) + added) - mass[self.pattern], mass

    def add_to(self, logs: Floats, pairs: slice | Integers) -> Floats:
        """What rules add to the model's softmax, given its log for some of the pairs."""
        softmax = np.exp(logs) + FLOOR
        added: Floats = self.weight[pairs] * self.strength[pairs] * softmax**EXPONENT
        return added


class RuleEvidence:
    """Rules over the known facts of a graph, with their weights beside a model."""

    def __init__(self, rules: Rules, graph: Graph, weights: JoinWeights) -> None:
        self.rules, self.graph, self.weights = rules, graph, weights

    def with_graph(self, graph: Graph) -> RuleEvidence:
        """The same rules over other facts."""
        return RuleEvidence(self.rules, graph, self.weights)

    @cached_property
    def book(self) -> RuleBook:
        """The rules over the edges of the facts, made when first needed."""
        return self.rules.to_book(self.graph)

    def find(
        self, patterns: Patterns, relation: Integers, without: Integers | None = None
    ) -> Evidence:
        """Find what rules say about patterns.

        `relation` has the number of each pattern's relation among the weights. Facts whose rows
        are in `without` are not used.
        """
        found = combine(self.book.fire(patterns, without), self.book)
        weight = self.weights.look_up(relation, patterns.asked)
        count = self.graph.entity_count
        return Evidence(found.pattern, found.entity, found.value, weight[found.pattern], count)

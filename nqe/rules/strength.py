"""The strength of evidence: how strongly all rules that fire together predict an entity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nqe.graph.arrays import Integers
from nqe.rules.firing import Fired, RuleBook
from nqe.rules.rule_table import RuleTable

Floats = npt.NDArray[np.float64]

LONG_WALK, CONSTANT, ALONE = 0.5, 0.65, 0.02
"""What the confidence of walks of three edges, rules with constants, and rules without a body is
multiplied by: there are so many of them that the best of those that fire is often best by chance.
"""
NEXT = 0.2
"""Each further rule, from the strongest to the weakest, counts this part of the one before."""
MOST_COUNTED = 8
"""At most this many rules count for one entity."""

STRONGEST = 0.9999
"""No evidence is stronger, as only facts are certain."""


@dataclass(frozen=True, eq=False)
class Strengths:
    """How strongly rules predict entities for patterns, ordered by pattern and entity."""

    pattern: Integers  # (pairs,)
    entity: Integers  # (pairs,)
    value: Floats  # (pairs,) above 0, below 1

    def __len__(self) -> int:
        return len(self.value)


def weigh(rules: RuleTable) -> Floats:
    """The weight of each rule: its confidence, lowered for some forms of rules."""
    factor = np.where(rules.is_walk & (rules.length == 3), LONG_WALK, 1.0)
    factor = np.where(rules.constant >= 0, CONSTANT, factor)
    factor = np.where(~rules.is_walk & (rules.length == 0), ALONE, factor)
    weight: Floats = factor * rules.confidence
    return weight


def combine(fired: Fired, book: RuleBook) -> Strengths:
    """Join the rules that predict the same entity for a pattern: the strongest, and a bit more."""
    weight = weigh(book.rules)[fired.rule]
    key = fired.pattern * book.edges.entity_count + fired.entity
    order = np.lexsort((-weight, key))
    key, weight = key[order], weight[order]
    first = np.flatnonzero(np.append(True, np.diff(key) != 0)[: len(key)])
    place = np.arange(len(key)) - np.repeat(first, np.diff(np.append(first, len(key))))
    shares = np.where(place < MOST_COUNTED, weight * NEXT ** np.minimum(place, MOST_COUNTED), 0.0)
    value = np.add.reduceat(shares, first) if len(first) else shares
    pattern, entity = np.divmod(key[first], book.edges.entity_count)
    return Strengths(pattern, entity, np.minimum(value, STRONGEST))

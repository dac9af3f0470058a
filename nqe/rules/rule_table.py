"""Rules as columns: what follows from which walk, how often it was looked at, how often true."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from nqe.graph.arrays import Booleans, Integers
from nqe.rules.edges import EdgeKinds
from nqe.rules.walks import LONGEST

Floats = npt.NDArray[np.float64]

DOUBT = 5.0
"""Added to the predictions when a confidence is computed, so that few of them prove little."""


@dataclass(frozen=True, eq=False)
class RuleTable:
    """One row per rule, of one of three forms:

    - a walk: from x over the edges of the body to y, so the head leads from x to y;
    - a constant: an edge of the body's only kind leads from x to the constant, so the head leads
      from x to the answer;
    - an answer alone, without a body: the head leads from any x to the answer.

    Heads and bodies are kinds of edges. A rule is counted over the entities x that the head leaves
    at all. `support` is how many of its predictions are true by a fact that the body does not use.
    """

    kinds: EdgeKinds
    head: Integers  # (rules,) a place in `kinds`
    body: Integers  # (rules, 3) places in `kinds`, -1 after the last edge
    constant: Integers  # (rules,) an entity, or -1
    answer: Integers  # (rules,) an entity, or -1
    support: Integers  # (rules,)
    predictions: Integers  # (rules,)

    @classmethod
    def empty(cls, kinds: EdgeKinds) -> RuleTable:
        """A table without rules."""
        none = np.zeros(0, dtype=np.int64)
        return cls(kinds, none, none.reshape(0, LONGEST), none, none, none, none)

    @classmethod
    def of_walks(
        cls,
        kinds: EdgeKinds,
        head: Integers,
        body: Integers,
        support: Integers,
        predictions: Integers,
    ) -> RuleTable:
        """Rules whose bodies are walks, given as (rules, edges)."""
        missing = LONGEST - body.shape[1]
        none = np.full(len(head), -1)
        padded = np.pad(body, ((0, 0), (0, missing)), constant_values=-1)
        return cls(kinds, head, padded, none, none, support, predictions)

    @classmethod
    def of_constants(
        cls,
        kinds: EdgeKinds,
        head: Integers,
        kind: Integers,
        constant: Integers,
        answer: Integers,
        support: Integers,
        predictions: Integers,
    ) -> RuleTable:
        """Rules with constants; the kind and the constant are -1 where there is no body."""
        body = np.full((len(head), LONGEST), -1)
        body[:, 0] = kind
        return cls(kinds, head, body, constant, answer, support, predictions)

    def __len__(self) -> int:
        return len(self.head)

    def __repr__(self) -> str:
        return f"<RuleTable of {len(self):,} rules>"

    @cached_property
    def confidence(self) -> Floats:
        """The share of the predictions that are true, lowered where there are few predictions."""
        confidence: Floats = self.support / (self.predictions + DOUBT)
        return confidence

    @cached_property
    def length(self) -> Integers:
        """The number of edges of each body."""
        length: Integers = (self.body >= 0).sum(1)
        return length

    @property
    def is_walk(self) -> Booleans:
        """Whether the body of each rule is a walk to the answer."""
        walks: Booleans = self.answer < 0
        return walks

    def take(self, rows: Integers | Booleans) -> RuleTable:
        """Some of the rules."""
        columns = {name: getattr(self, name)[rows] for name in COLUMNS}
        return replace(self, **columns)

    def sort(self) -> RuleTable:
        """The same rules by head, falling confidence, and then the other columns."""
        columns = (self.answer, self.constant, *self.body.T[::-1], self.length)
        return self.take(np.lexsort((*columns, -self.confidence, self.head)))

    def with_kinds(self, kinds: EdgeKinds, place: Integers) -> RuleTable:
        """The same rules with kind k renamed to place[k], -1 if it is not among `kinds`."""
        places = np.append(place, -1)  # so that -1 stays -1
        return replace(self, kinds=kinds, head=places[self.head], body=places[self.body])


COLUMNS = tuple(field.name for field in fields(RuleTable) if field.name != "kinds")


def concatenate(tables: list[RuleTable]) -> RuleTable:
    """The rules of all tables, which have the same kinds."""
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(one, name) for one in tables]) for name in COLUMNS
    }
    return replace(tables[0], **columns)

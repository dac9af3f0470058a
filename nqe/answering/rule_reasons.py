"""The rules behind a prediction, as reasons: those that predict an entity, and their facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nqe.answering.predictor import Predictor
from nqe.graph.arrays import Integers
from nqe.graph.pattern import Pattern, Patterns
from nqe.query.reason import RuleReason
from nqe.rules.firing import Fired, RuleBook
from nqe.rules.rule_text import describe_rule
from nqe.rules.strength import weigh

SHOWN = 3
"""A prediction shows this many rules."""


@dataclass(frozen=True, eq=False)
class FiredRules:
    """All rules that predict an entity, the strongest first."""

    predictor: Predictor
    fired: Fired
    weight: npt.NDArray[np.float64]  # (fired,)

    def __len__(self) -> int:
        return len(self.fired)

    def list_strongest(self, count: int = SHOWN) -> tuple[RuleReason, ...]:
        """The strongest rules as reasons."""
        return tuple(self._describe(place) for place in range(min(count, len(self))))

    def _describe(self, place: int) -> RuleReason:
        graph, book = self.predictor.graph, _find_book(self.predictor)
        text = describe_rule(book.rules, int(self.fired.rule[place]), graph.vocabulary)
        edges = self.fired.edges[place]
        rows = book.edges.fact[edges[edges >= 0]].tolist()
        return RuleReason(
            graph,
            str(text),
            text.words,
            text.support,
            text.predictions,
            text.confidence,
            tuple(dict.fromkeys(rows)),  # A walk may use two edges of one fact.
        )


def find_rules(predictor: Predictor, pattern: Pattern, entity: int) -> FiredRules | None:
    """Find the rules that predict an entity in the asked slot of a pattern, if there are rules."""
    if predictor.rules is None:
        return None
    book = _find_book(predictor)
    fired = book.fire(Patterns.of([pattern]), predictor.left_out)
    fired = fired.take(np.flatnonzero(fired.entity == entity))
    weight = weigh(book.rules.take(fired.rule))
    order = np.lexsort((fired.rule, -book.rules.support[fired.rule], -weight))
    order = np.fromiter(_keep_first(order, fired.rule), np.int64)
    return FiredRules(predictor, fired.take(order), weight[order])


def _find_book(predictor: Predictor) -> RuleBook:
    if predictor.rules is None:
        raise ValueError("there are no rules")
    return predictor.rules.book


def _keep_first(order: Integers, rule: Integers) -> Iterator[int]:
    """The places in order, of each rule the first, as it may fire from several entities."""
    seen: set[int] = set()
    for place in order.tolist():
        if rule[place] not in seen:
            seen.add(int(rule[place]))
            yield place

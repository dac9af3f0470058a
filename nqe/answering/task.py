"""Tasks: requests whose queries are bound to a graph."""

from __future__ import annotations

from dataclasses import dataclass

from nqe.answering.request import Request
from nqe.graph.entity_set import EntitySet
from nqe.query.binder import BoundPlan


@dataclass(frozen=True)
class Task:
    """A request whose query is bound, with its number in the batch."""

    number: int
    request: Request
    mode: str
    plan: BoundPlan
    among: EntitySet | None
    among_warnings: tuple[str, ...] = ()

    def choose_kind(self, stated: EntitySet) -> EntitySet | None:
        """The entities to list: those of `among` that are stated or predicted, as requested."""
        kind = None
        if self.request.predicted_only:
            kind = stated.complement()
        elif self.request.stated_only:
            kind = stated
        if kind is None or self.among is None:
            return self.among if kind is None else kind
        return kind & self.among

    def count_stated(self, stated: EntitySet, entity_count: int, reaching: int) -> int:
        """The number of stated answers; `reaching` is the number that reach the threshold."""
        if self.request.threshold is not None:
            return reaching
        within = stated if self.among is None else stated & self.among
        return within.count_members(entity_count)

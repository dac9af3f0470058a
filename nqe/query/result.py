"""The type `Result`: the exact answers of a plan, with the set of every step and proofs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.entity_set import EntitySet
from nqe.graph.fact_source import FactSource
from nqe.query.misplaced_names import describe_misplaced
from nqe.query.plan import Plan
from nqe.query.proof import prove
from nqe.query.reason import Reason
from nqe.shown_text import make_visible


@dataclass(frozen=True, eq=False)
class Result:
    """The answers of a plan: the set of every step, and the graph that they come from."""

    plan: Plan
    graph: FactSource
    sets: tuple[EntitySet, ...]
    max_bindings: int | None = None
    """The most facts that each step was allowed to look at; it holds for proofs as well."""

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Notes about the query: how names were read, and what can have no effect or no answer."""
        return (*self.plan.warnings, *describe_misplaced(self.plan, self.sets, self.graph))

    @property
    def answers(self) -> Integers:
        """The numbers of the entities that answer the query, in ascending order."""
        return self.sets[-1].to_array(self.graph.entity_count)

    @property
    def columns(self) -> tuple[str, ...]:
        """The name of the target, as the only column of the answers."""
        return (self.plan.target.variable,)

    @property
    def members(self) -> EntitySet:
        """The answers as a set."""
        return self.sets[-1]

    @property
    def ids(self) -> list[str]:
        """The ids of the answers."""
        ids = self.graph.vocabulary.entities.ids
        return [ids[entity] for entity in self.answers.tolist()]

    @property
    def labels(self) -> list[str]:
        """The labels of the answers, or the id of an answer that has none."""
        return [self.graph.vocabulary.entities.name(entity) for entity in self.answers.tolist()]

    def __repr__(self) -> str:
        shown = ", ".join(self.labels[:5]) + (", …" if len(self) > 5 else "")
        return f"<Result: {len(self):,} answers: {make_visible(shown)}>"

    def __len__(self) -> int:
        return self.sets[-1].count_members(self.graph.entity_count)

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def proof(self, entity: int | np.integer[Any] | str) -> Reason:
        """Why an entity (its number, id or label) is an answer, step by step."""
        number = self.graph.vocabulary.entities.to_number(entity)
        return prove(self.plan, self.graph, self.sets, number, max_bindings=self.max_bindings)

"""Join plans: queries that are no trees, with names resolved to numbers, for the exact runner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import assert_never

from nqe.errors import QueryError
from nqe.graph.atom_pattern import AtomPattern, Unknown
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.query.compared_values import ComparedValue
from nqe.query.limits import show_text
from nqe.query.query import Query
from nqe.query.query_graph import QueryGraph


@dataclass(frozen=True, eq=False)
class BoundComparison:
    """A comparison of a variable with another one, a relation, an entity or literals."""

    operator: str
    left: int
    right: Unknown | ComparedValue
    text: str
    of_relations: bool = False
    """Whether it compares relations; then an entity in `right` is the number of a relation."""

    @property
    def variables(self) -> tuple[int, ...]:
        """The numbers of its variables."""
        if isinstance(self.right, Unknown):
            return tuple(dict.fromkeys((self.left, self.right.number)))
        return (self.left,)


@dataclass(frozen=True, eq=False)
class JoinScope:
    """Conditions that must hold together for something in place of its own variables."""

    conditions: tuple[JoinCondition, ...]
    variables: tuple[int, ...]
    """Those that are bound outside of it."""

    @cached_property
    def certain(self) -> frozenset[int]:
        """The variables that its atoms bind, whatever is bound outside."""
        found: set[int] = set()
        for one in self.conditions:
            if isinstance(one, AtomPattern):
                found.update(one.variables)
            elif isinstance(one, JoinBranches):
                found |= one.certain
        return frozenset(found)


@dataclass(frozen=True, eq=False)
class JoinNegation:
    """A scope that must not hold."""

    scope: JoinScope

    @property
    def variables(self) -> tuple[int, ...]:
        """The variables that it shares with what surrounds it."""
        return self.scope.variables


@dataclass(frozen=True, eq=False)
class JoinBranches:
    """Scopes of which at least one must hold."""

    scopes: tuple[JoinScope, ...]

    @cached_property
    def variables(self) -> tuple[int, ...]:
        """The variables that any of them shares with what surrounds it."""
        return tuple(dict.fromkeys(one for scope in self.scopes for one in scope.variables))

    @cached_property
    def certain(self) -> frozenset[int]:
        """The shared variables that each branch binds, whatever is bound outside."""
        bound = frozenset.intersection(*(scope.certain for scope in self.scopes))
        return bound.intersection(self.variables)


JoinCondition = AtomPattern | BoundComparison | JoinNegation | JoinBranches
"""What can stand in a scope."""


@dataclass(frozen=True)
class JoinPlan:
    """A query with several targets, a cycle, a comparison, a count or the like, bound to numbers.

    Every variable has a number of its own, also where two scopes use the same name.
    """

    graph: QueryGraph
    """The query in ids."""
    scope: JoinScope = field(compare=False)
    targets: tuple[int, ...] = field(compare=False)
    counted: int | None = field(compare=False)
    names: tuple[str, ...] = field(compare=False)
    """The names of the variables."""
    relation_variables: frozenset[int] = field(compare=False)
    """The variables that stand for relations; all others stand for entities."""
    largest: tuple[int, int] = field(compare=False)
    """The largest entity number and the largest relation number that occur; -1 if none does."""
    reason: str = field(compare=False)
    """Why it is no tree."""
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @property
    def asked(self) -> tuple[int, ...]:
        """The targets and the variable that is counted, if any."""
        return self.targets if self.counted is None else (*self.targets, self.counted)

    @property
    def is_single(self) -> bool:
        """Whether it asks for entities in place of one variable, so that answers are no rows."""
        if self.counted is not None or len(self.targets) != 1:
            return False
        return self.targets[0] not in self.relation_variables

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of its rows: those of the targets, and `count` if it counts."""
        names = tuple(self.names[one] for one in self.targets)
        return names if self.counted is None else (*names, COUNT)

    def find_names(self, vocabulary: Vocabulary) -> tuple[Names, ...]:
        """Where the names of each target are: those of entities or of relations."""
        return tuple(
            vocabulary.relations if one in self.relation_variables else vocabulary.entities
            for one in self.targets
        )

    @property
    def text(self) -> str:
        """The query as text in ids."""
        return Query(self.graph.targets, self.graph.formula, self.graph.counted).text

    def refuse(self, which: str, advice: str) -> QueryError:
        """The error for a use that takes trees only; `which` says that as a relative clause."""
        shown = show_text(self.text)
        return QueryError(f"the question {shown} is no tree ({self.reason}), {which}; {advice}")


COUNT = "count"
"""The name of the column that counts."""


def list_negated(scope: JoinScope) -> Iterator[JoinScope]:
    """The scopes under a `not`, those within nested scopes included."""
    for one in scope.conditions:
        if isinstance(one, JoinNegation):
            yield one.scope
            yield from list_negated(one.scope)
        elif isinstance(one, JoinBranches):
            for branch in one.scopes:
                yield from list_negated(branch)


def list_atoms(scope: JoinScope) -> Iterator[AtomPattern]:
    """All atoms of a scope, those of nested scopes included."""
    for one in scope.conditions:
        match one:
            case AtomPattern():
                yield one
            case BoundComparison():
                pass
            case JoinNegation(inner):
                yield from list_atoms(inner)
            case JoinBranches(scopes):
                for branch in scopes:
                    yield from list_atoms(branch)
            case _:
                assert_never(one)

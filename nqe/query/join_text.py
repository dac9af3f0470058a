"""Parts of join plans as text in labels, with what stands for some of their variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from nqe.graph.atom_pattern import AtomPattern, Content, Unknown
from nqe.graph.vocabulary import Names, Vocabulary
from nqe.query.join_plan import (
    BoundComparison,
    JoinBranches,
    JoinCondition,
    JoinNegation,
    JoinPlan,
    JoinScope,
)


@dataclass(frozen=True, eq=False)
class JoinText:
    """Writes conditions of a plan; variables without a value are written as `?name`."""

    plan: JoinPlan
    vocabulary: Vocabulary
    values: Mapping[int, int]

    def describe_scope(self, scope: JoinScope) -> str:
        """All conditions of a scope."""
        return " and ".join(self._bracket(one) for one in scope.conditions)

    def describe_atom(self, atom: AtomPattern) -> str:
        """An atom."""
        entities, relations = self.vocabulary.entities, self.vocabulary.relations
        subject, object_, *values = (self._name(one, entities) for one in atom.slots)
        attributes = map(relations.name, atom.attributes)
        pairs = ", ".join(f"{a}: {value}" for a, value in zip(attributes, values, strict=True))
        only = "only " if atom.closed else ""
        ending = f"; {pairs}" if pairs else ""
        return f"{only}{self._name(atom.relation, relations)}({subject}, {object_}{ending})"

    def _describe(self, condition: JoinCondition) -> str:
        match condition:
            case AtomPattern():
                return self.describe_atom(condition)
            case BoundComparison():
                return condition.text
            case JoinNegation(scope):
                inside = self.describe_scope(scope)
                return f"not ({inside})" if len(scope.conditions) > 1 else f"not {inside}"
            case JoinBranches(scopes):
                return " or ".join(map(self.describe_scope, scopes))
            case _:
                assert_never(condition)

    def _bracket(self, condition: JoinCondition) -> str:
        text = self._describe(condition)
        return f"({text})" if isinstance(condition, JoinBranches) else text

    def _name(self, content: Content, names: Names) -> str:
        if not isinstance(content, Unknown):
            return names.name(content)
        if content.number in self.values:
            return names.name(self.values[content.number])
        return f"?{self.plan.names[content.number]}"

"""Proofs: finds the facts that support an exact answer, and what negations did not find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from nqe.errors import NqeError
from nqe.graph.assignment import assign_first
from nqe.graph.entity_set import EntitySet
from nqe.graph.fact import Fact
from nqe.graph.fact_source import FactSource
from nqe.graph.pattern import FIRST_QUALIFIER, Pattern, Restriction
from nqe.graph.vocabulary import Vocabulary
from nqe.query.plan import Op, Plan
from nqe.query.reason import Reason
from nqe.query.step_text import describe_part, describe_step


def prove(
    plan: Plan,
    graph: FactSource,
    sets: Sequence[EntitySet],
    entity: int,
    number: int | None = None,
    max_bindings: int | None = None,
) -> Reason:
    """A proof that an entity is in the set of a step, by default the last one.

    `sets` are the sets of the plan's steps. An entity that is not in the set is an error.
    """
    number = len(plan.steps) - 1 if number is None else number
    if entity not in sets[number]:
        name = graph.vocabulary.entities.full_name(entity)
        raise NqeError(f"{name} is not an answer, so there is no proof; ask for one of the answers")
    return _Prover(plan, graph, sets, max_bindings).prove(number, entity)


@dataclass(frozen=True, eq=False)
class _Prover:
    """Proves members of the sets of a plan's steps."""

    plan: Plan
    graph: FactSource
    sets: Sequence[EntitySet]
    max_bindings: int | None

    def prove(self, number: int, entity: int) -> Reason:
        """A proof that an entity is in the set of a step."""
        step = self.plan.steps[number]
        reason = Reason(self.graph, step.op, step.variable, entity)
        match step.op:
            case Op.PROJECTION:
                return self._prove_projection(number, reason)
            case Op.AND:
                parts = tuple(self.prove(one, entity) for one in step.inputs)
                return replace(reason, parts=parts)
            case Op.OR:
                holding = next(one for one in step.inputs if entity in self.sets[one])
                return replace(reason, parts=(self.prove(holding, entity),))
            case Op.NOT:
                [part] = step.inputs
                absent = describe_part(self.plan, part, self.graph.vocabulary, entity)
                return replace(reason, absent=absent)
            case Op.ANY:
                return reason
            case _:
                assert_never(step.op)

    def _prove_projection(self, number: int, reason: Reason) -> Reason:
        step = self.plan.steps[number]
        row, entities = self._find_fact(number, reason.entity)
        parts = tuple(
            self.prove(one, entities[place])
            for place, one in zip(step.filled, step.inputs, strict=True)
        )
        bound = {place: entities[place] for place in step.filled}
        atom = describe_step(self.plan, number, self.graph.vocabulary, reason.entity, bound)
        return replace(reason, atom=atom, row=row, parts=parts)

    def _find_fact(self, number: int, entity: int) -> tuple[int, list[int]]:
        """The row of the first fact that supports an entity, and the entities in its slots."""
        step = self.plan.steps[number]
        pattern = step.pattern([self.sets[one] for one in step.inputs])
        slots = list(pattern.slots)
        slots[step.asked] = entity
        pattern = replace(pattern, slots=tuple(slots))
        row = int(self.graph.matches(pattern, self.max_bindings)[0])
        return row, _slot_entities(self.graph.fact(row), pattern, self.graph.vocabulary)


def _slot_entities(fact: Fact, pattern: Pattern, vocabulary: Vocabulary) -> list[int]:
    """The entities that a matching fact has in the slots of the pattern."""
    entity, relation = vocabulary.entities.resolve, vocabulary.relations.resolve
    pairs = [(relation(attribute), entity(value)) for attribute, value in fact.qualifiers]
    rows = (_find_places(*pattern.qualifier(slot), pairs) for slot in _qualifier_slots(pattern))
    chosen = assign_first(list(rows))
    if chosen is None:
        raise ValueError("the fact does not match the pattern")
    return [entity(fact.subject), entity(fact.object), *(pairs[place][1] for place in chosen)]


def _qualifier_slots(pattern: Pattern) -> range:
    return range(FIRST_QUALIFIER, len(pattern.slots))


def _find_places(attribute: int, restriction: Restriction, pairs: Sequence[tuple[int, int]]) -> int:
    """The qualifiers of a fact that fit one of a pattern, as a row of an assignment."""
    return sum(
        1 << place
        for place, (name, value) in enumerate(pairs)
        if name == attribute and _allows(restriction, value)
    )


def _allows(restriction: Restriction, entity: int) -> bool:
    if isinstance(restriction, EntitySet):
        return entity in restriction
    return restriction is None or restriction == entity

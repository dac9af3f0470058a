"""Notes about names that never stand where a query has them, so that a part matches no fact."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

import numpy as np

from nqe.graph.atom_pattern import AtomPattern, Unknown
from nqe.graph.entity_set import EntitySet
from nqe.graph.fact_source import FactSource
from nqe.graph.pattern import FIRST_QUALIFIER, SUBJECT, Pattern, Patterns
from nqe.graph.vocabulary import Names
from nqe.query.join_plan import JoinPlan, list_atoms
from nqe.query.join_text import JoinText
from nqe.query.limits import show_text
from nqe.query.plan import Op, Plan, Step
from nqe.query.step_text import describe_part, name_slot

_SHOWN = 3
"""The most names that a note lists of those that do stand in a slot."""


def describe_misplaced(plan: Plan, sets: Sequence[EntitySet], graph: FactSource) -> tuple[str, ...]:
    """One note per name that stands in a slot in which no fact of the graph has it.

    `sets` are the exact sets of the steps. Without facts nothing is known about slots.
    """
    if not len(graph):
        return ()
    found = [
        one
        for number, step in enumerate(plan.steps)
        if step.op == Op.PROJECTION and not len(sets[number].members)
        for one in _SlotCheck(number, step, graph).find()
    ]
    in_vain = _find_parts_in_vain(plan, {one.step for one in found})
    notes = (
        f"{one.problem}, so {_describe_effect(plan, one.step, in_vain, graph)}{one.instead}"
        for one in found
    )
    return tuple(dict.fromkeys(notes))


def describe_misplaced_in_joins(plan: JoinPlan, graph: FactSource) -> tuple[str, ...]:
    """The same for the atoms of a join plan."""
    if not len(graph):
        return ()
    text = JoinText(plan, graph.vocabulary, {})
    notes = (
        f"{one.problem}, so no fact matches {show_text(text.describe_atom(atom))}{one.instead}"
        for atom in list_atoms(plan.scope)
        if not isinstance(atom.relation, Unknown)
        for one in _SlotCheck(0, _make_step(atom, atom.relation), graph).find()
    )
    return tuple(dict.fromkeys(notes))


def _make_step(atom: AtomPattern, relation: int) -> Step:
    """An atom as a projection, in which variables are open."""
    slots = tuple(None if isinstance(one, Unknown) else one for one in atom.slots)
    return Step(Op.PROJECTION, (), "", 0, relation, atom.attributes, slots)


@dataclass(frozen=True)
class _Misplaced:
    """A name that no fact has in the place that a step has it in."""

    step: int
    problem: str
    instead: str = ""
    """What does stand there, as the end of a sentence."""


@dataclass(frozen=True)
class _SlotCheck:
    """Finds the misplaced names of one projection."""

    number: int
    step: Step
    graph: FactSource

    def find(self) -> Iterator[_Misplaced]:
        """The relation if no fact has it; otherwise attributes and anchors that its facts lack."""
        if not self.graph.has_slot(self._ask_for(SUBJECT)):
            problem = f"no known fact has {self._relation} as its main relation"
            yield _Misplaced(self.number, problem)
            return
        lacking = [
            place
            for place in range(FIRST_QUALIFIER, len(self.step.slots))
            if not self.graph.has_slot(self._ask_for(place))
        ]
        yield from map(self._describe_attribute, lacking)
        yield from map(self._describe_anchor, self._find_new_anchors(lacking))

    def _find_new_anchors(self, lacking: Sequence[int]) -> list[int]:
        """The slots whose anchor no fact of the relation has there."""
        places = [
            place
            for place, anchor in enumerate(self.step.slots)
            if anchor is not None and place not in lacking
        ]
        patterns = Patterns.of([self._ask_for(place) for place in places])
        anchors = np.array([self.step.slots[place] for place in places], dtype=np.int64)
        stood = self.graph.has_stood(patterns, np.arange(len(places)), anchors).tolist()
        return [place for place, has in zip(places, stood, strict=True) if not has]

    def _describe_attribute(self, place: int) -> _Misplaced:
        attribute, names = self._name_slot(place), self.graph.vocabulary.relations
        used = self.graph.find_common_attributes(self.step.relation, _SHOWN + 1)
        instead = _list_names("its attributes are", used, names) or "; its facts have no attributes"
        problem = f"no known fact of {self._relation} has the attribute {attribute}"
        return _Misplaced(self.number, problem, instead)

    def _describe_anchor(self, place: int) -> _Misplaced:
        anchor, names = self.step.slots[place], self.graph.vocabulary.entities
        assert anchor is not None
        slot = self._name_slot(place)
        one, all_ = (slot, f"{slot}s")
        if place >= FIRST_QUALIFIER:
            one, all_ = f"value of {slot}", f"values of {slot}"
        used = self.graph.find_common(self._ask_for(place), _SHOWN + 1)
        name = show_text(names.name(anchor))
        problem = f"no known fact of {self._relation} has {name} as {one}"
        return _Misplaced(self.number, problem, _list_names(f"its {all_} are", used, names))

    @property
    def _relation(self) -> str:
        return show_text(self.graph.vocabulary.relations.name(self.step.relation))

    def _name_slot(self, place: int) -> str:
        return show_text(name_slot(self.step, place, self.graph.vocabulary))

    def _ask_for(self, place: int) -> Pattern:
        """The pattern that asks for a slot of the projection, in which nothing is known."""
        step = self.step
        return Pattern(step.relation, (None,) * len(step.slots), step.attributes, place)


def _list_names(verb: str, numbers: Sequence[int], names: Names) -> str:
    """The end of a sentence that lists some names; empty if there is none."""
    if not numbers:
        return ""
    listed = ", ".join(show_text(names.name(number)) for number in numbers[:_SHOWN])
    return f"; {verb} {listed}{', …' if len(numbers) > _SHOWN else ''}"


def _find_parts_in_vain(plan: Plan, misplaced: set[int]) -> set[int]:
    """The steps that no entity can be in because of misplaced names."""
    found: set[int] = set()
    for number, step in enumerate(plan.steps):
        inputs = [one in found for one in step.inputs]
        match step.op:
            case Op.PROJECTION:
                in_vain = number in misplaced or any(inputs)
            case Op.AND:
                in_vain = any(inputs)
            case Op.OR:
                in_vain = all(inputs)
            case Op.NOT | Op.ANY:
                in_vain = False
            case _:
                assert_never(step.op)
        if in_vain:
            found.add(number)
    return found


def _describe_effect(plan: Plan, number: int, in_vain: set[int], graph: FactSource) -> str:
    """What follows for the query if no fact matches a step."""
    parents = {child: parent for parent, step in enumerate(plan.steps) for child in step.inputs}
    while parents.get(number) in in_vain:
        number = parents[number]
    parent = parents.get(number)
    if parent is None:
        return "no fact answers the question"
    if plan.steps[parent].op == Op.NOT:
        part = describe_part(plan, parent, graph.vocabulary)
        return f"by the facts {show_text(part)} excludes nothing"
    part = describe_part(plan, number, graph.vocabulary)
    return f"by the facts {show_text(part)} adds nothing"

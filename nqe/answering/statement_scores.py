"""Score statements by a model and rules, and suggest likely statements that a graph lacks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import product
from typing import Any

from nqe.answering.answerer import Answerer
from nqe.answering.answers import Answer
from nqe.answering.fuzzy_set import FuzzySet
from nqe.answering.predictor import Predictor
from nqe.answering.probability import MAX_PREDICTED
from nqe.answering.rule_reasons import find_rules
from nqe.answering.top_k import find_rank, select_likeliest
from nqe.errors import QueryError
from nqe.graph.arrays import Integers
from nqe.graph.entity_set import EntitySet
from nqe.graph.graph import Graph
from nqe.graph.pattern import OBJECT, SUBJECT, Pattern
from nqe.query.binder import bind_tree
from nqe.query.exact import execute_trees
from nqe.query.formula import Atom, Term, Variable
from nqe.query.plan import Plan, PlanBuilder
from nqe.query.query import Query, parse
from nqe.query.reason import RuleReason
from nqe.query.result import Result
from nqe.query.step_table import StepTable
from nqe.query.step_text import name_slot
from nqe.query.text import render_atom

LEAST = 1e-6
"""Unlikely statements are told apart down to this probability of a slot."""
CANDIDATES = 5
"""For each suggestion wanted, this many candidates are also scored from their other end."""


@dataclass(frozen=True)
class SlotScore:
    """One slot of a statement: the probability of its entity, and alternatives to it."""

    slot: str
    answer: Answer
    rank: int
    """Among the entities that no other fact states there."""
    alternatives: tuple[Answer, ...]
    """The likeliest others; those that facts state have probability 1."""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "slot": self.slot,
            **self.answer.to_json(),
            "rank": self.rank,
            "alternatives": [answer.to_json() for answer in self.alternatives],
        }


@dataclass(frozen=True)
class StatementScore:
    """The probability that a statement would have if no fact stated it, and whether one does."""

    statement: str
    stated: bool
    probability: float
    slots: tuple[SlotScore, ...]
    rule: RuleReason | None = None
    """The strongest rule that predicts one of its slots from the others."""
    unseen: tuple[str, ...] = ()
    """Names that the model was not trained with; the probability is that of rules alone."""
    has_rules: bool = False
    """Whether there are rules; without any, nothing is predicted about unseen names."""
    warnings: tuple[str, ...] = ()
    """Notes about how names were read that would mean something else in another case."""

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "statement": self.statement,
            "stated": self.stated,
            "probability": self.probability,
            "slots": [slot.to_json() for slot in self.slots],
            "rule": None if self.rule is None else self.rule.to_json(),
            **({"unseen": list(self.unseen)} if self.unseen else {}),
            **({"warnings": list(self.warnings)} if self.warnings else {}),
        }


@dataclass(frozen=True)
class Suggestion:
    """A likely statement that the graph lacks."""

    subject: Answer
    relation: str
    relation_label: str | None
    object: Answer
    probability: float

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {
            "subject": self.subject.id,
            "relation": self.relation,
            "object": self.object.id,
            "labels": [self.subject.name, self.relation_label or self.relation, self.object.name],
            "probability": self.probability,
        }


def score(
    answerer: Answerer, statement: str, top: int = 5, among: EntitySet | None = None
) -> StatementScore:
    """Score a statement such as `borders(France, Spain)`.

    Each slot is asked for in turn, with the other slots given, over the known facts without those
    that state the statement. The probability of the statement has the mean log odds of its slots.
    `among` restricts the alternatives.
    """
    atom = _parse_statement(statement)
    plans = [bind_tree(_ask_for(atom, place), answerer.graph) for place in range(len(atom.terms))]
    names = [answerer.graph.vocabulary.entities.resolve(str(term)) for term in atom.terms]
    engine = answerer.neural.with_least(LEAST).without(_find_facts(answerer, plans[0], names[0]))
    rows = engine.run_table(StepTable.of(plans)).targets
    results = execute_trees(plans, answerer.graph, answerer.max_bindings)
    slots = tuple(
        _score_slot(answerer, names[place], place, result, row, top, among)
        for place, (result, row) in enumerate(zip(results, rows, strict=True))
    )
    predictor = engine.predictor
    unseen = (name for plan in plans for name in predictor.find_unseen_names(plan))
    return StatementScore(
        render_atom(atom),
        slots[0].answer.known,
        combine_probabilities(slot.answer.probability for slot in slots),
        slots,
        _find_strongest_rule(predictor, plans, names),
        tuple(dict.fromkeys(unseen)),
        answerer.rules is not None,
        tuple(dict.fromkeys(note for plan in plans for note in plan.warnings)),
    )


def suggest(
    answerer: Answerer,
    entity: int | str,
    *,
    relation: str | None = None,
    top: int = 10,
    among: EntitySet | None = None,
) -> list[Suggestion]:
    """Suggest the most likely statements about an entity that no fact states.

    The entity is the subject or the object. Each statement is scored from both ends, because
    some entity is always the most likely other end, even of an unlikely relation. `among`
    restricts the other ends. What the facts show about relations is held: an attribute is not
    suggested as a main relation, a relation that takes one value does not get a second one, and
    both ends are like the entities that stand there. Only a relation that is named may be new to
    the entity.
    """
    names = answerer.graph.vocabulary
    number = names.entities.to_number(entity)
    chosen = None if relation is None else names.relations.resolve(relation)
    asked = list(_choose_asked(answerer.graph, number, chosen))
    found = _find_lacking(answerer, number, asked, among, CANDIDATES * top)
    best = nlargest(CANDIDATES * top, found)
    back = [_plan_one_hop(relation, other, 1 - slot) for _, relation, slot, other in best]
    suggestions = [
        _suggest_one(answerer, number, end, combine_probabilities((p, row[number])))
        for (p, *end), row in zip(best, answerer.compute_sets(back, least=LEAST), strict=True)
    ]
    return sorted(suggestions, key=lambda suggestion: -suggestion.probability)[:top]


def combine_probabilities(probabilities: Iterable[float]) -> float:
    """Return the probability that has the mean log odds of some probabilities."""
    clamped = [min(max(p, 1 - MAX_PREDICTED), MAX_PREDICTED) for p in probabilities]
    mean = sum(math.log(p / (1 - p)) for p in clamped) / len(clamped)
    return 1 / (1 + math.exp(-mean))


def _score_slot(
    answerer: Answerer,
    entity: int,
    place: int,
    result: Result,
    row: FuzzySet,
    top: int,
    among: EntitySet | None,
) -> SlotScore:
    """Score the entity of one slot, given the row of probabilities of all entities."""
    names, stated = answerer.graph.vocabulary, result.sets[-1]
    unstated = row.keep((row.values < 1) | (row.entities == entity))
    alternatives = tuple(
        answerer.make_answer(other, probability, other in stated)
        for other, probability in _select(answerer, row, among, top + 1)
        if other != entity
    )
    return SlotScore(
        name_slot(result.plan.target, place, names),
        answerer.make_answer(entity, row[entity], entity in stated),
        find_rank(unstated, entity, order=answerer.graph.vocabulary.entities.id_order),
        alternatives[:top],
    )


def _find_facts(answerer: Answerer, plan: Plan, entity: int) -> Integers:
    """The rows of the facts that state a statement, of which a plan asks for one slot."""
    pattern = _to_pattern(plan)
    slots = list(pattern.slots)
    slots[pattern.asked] = entity
    return answerer.graph.matches(replace(pattern, slots=tuple(slots)), answerer.max_bindings)


def _find_strongest_rule(
    predictor: Predictor, plans: Sequence[Plan], names: Sequence[int]
) -> RuleReason | None:
    """The strongest rule that predicts the entity of a slot from the others, of all slots."""
    pairs = zip(plans, names, strict=True)
    found = [find_rules(predictor, _to_pattern(plan), entity) for plan, entity in pairs]
    fired = [one for one in found if one is not None and len(one)]
    best = max(fired, key=lambda one: one.weight[0], default=None)
    return None if best is None else best.list_strongest(1)[0]


def _to_pattern(plan: Plan) -> Pattern:
    """The pattern of a plan of one projection."""
    step = plan.target
    return Pattern(step.relation, step.slots, step.attributes, step.asked, step.closed)


def _parse_statement(statement: str) -> Atom:
    try:
        formula = parse(f"?x: {statement}").formula
    except QueryError:
        raise QueryError(
            f"'{statement}' cannot be read; write a statement such as borders(France, Spain)"
        ) from None
    if not isinstance(formula, Atom):
        raise QueryError(
            "a statement is one atom such as borders(France, Spain), without and, or, not"
        )
    if formula.variables:
        found = formula.variables[0]
        raise QueryError(f"a statement has no variables; put a name in place of {found}")
    return formula


def _ask_for(atom: Atom, place: int) -> Query:
    """Build the query that asks for one slot of a statement."""
    terms: list[Term] = list(atom.terms)
    terms[place] = Variable("x")
    pairs = zip((name for name, _ in atom.qualifiers), terms[2:], strict=True)
    return Query(
        Variable("x"),
        replace(atom, subject=terms[SUBJECT], object=terms[OBJECT], qualifiers=tuple(pairs)),
    )


def _plan_one_hop(relation: int, entity: int, asked: int) -> Plan:
    """Build the open query for one end of a statement without qualifiers."""
    slots = (None, entity) if asked == SUBJECT else (entity, None)
    builder = PlanBuilder()
    builder.add_projection("x", relation, (), slots, asked, closed=False)
    return builder.finish()


def _choose_asked(graph: Graph, entity: int, relation: int | None) -> Iterator[tuple[int, int]]:
    """Yield the relations and slots to ask for, with the entity at the other end."""
    relations = range(graph.relation_count) if relation is None else [relation]
    profile = graph.relation_profile
    fitting = profile.find_fitting_places(entity)
    if not len(graph):
        fitting[:] = True
    elif relation is not None and profile.is_main(relation) and not fitting[relation].any():
        fitting[relation] = True  # It was named, so it may be new to the entity.
    for number, slot in product(relations, (OBJECT, SUBJECT)):
        if not fitting[number, 1 - slot]:
            continue
        if profile.takes_one(number, slot) and entity in profile.standing(number, 1 - slot):
            continue
        yield number, slot


def _choose_ends(graph: Graph, relation: int, slot: int, among: EntitySet | None) -> EntitySet:
    """The entities that may be suggested for a slot of a relation."""
    profile, allowed = graph.relation_profile, among or EntitySet.everything()
    if not len(graph):
        return allowed
    allowed = allowed & profile.find_fitting_entities(relation, slot)
    if profile.takes_one(relation, 1 - slot):
        allowed = allowed & profile.standing(relation, slot).complement()
    return allowed


def _find_lacking(
    answerer: Answerer,
    entity: int,
    asked: Sequence[tuple[int, int]],
    among: EntitySet | None,
    count: int,
) -> Iterator[tuple[float, int, int, int]]:
    """Yield probability, relation, asked slot and entity of the likeliest unstated ends."""
    plans = [_plan_one_hop(relation, entity, slot) for relation, slot in asked]
    rows = answerer.compute_sets(plans, least=LEAST)
    for (relation, slot), row in zip(asked, rows, strict=True):
        lacking = row.keep(row.values < 1)
        if slot == SUBJECT or not answerer.graph.relation_profile.may_hold_of_itself(relation):
            # A statement about itself is found with the entity as subject, if at all.
            lacking = lacking.keep(lacking.entities != entity)
        allowed = _choose_ends(answerer.graph, relation, slot, among)
        for other, probability in _select(answerer, lacking, allowed, count):
            yield probability, relation, slot, other


def _select(
    answerer: Answerer, row: FuzzySet, among: EntitySet | None, count: int
) -> list[tuple[int, float]]:
    """Select the likeliest entities of a fuzzy set, among those of another set."""
    order = answerer.graph.vocabulary.entities.id_order
    return select_likeliest(row.restrict(among, len(order)), count, order=order)


def _suggest_one(
    answerer: Answerer, entity: int, end: Sequence[int], probability: float
) -> Suggestion:
    relation, asked, other = end
    names = answerer.graph.vocabulary.relations
    ends = (entity, other) if asked == OBJECT else (other, entity)
    subject, object_ = (answerer.make_answer(one, probability, known=False) for one in ends)
    return Suggestion(subject, names.ids[relation], names.labels[relation], object_, probability)

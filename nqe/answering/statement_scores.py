"""Statements: how likely one is, and the likeliest that a graph lacks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from itertools import product
from typing import Any

from nqe.answering.answerer import Answerer
from nqe.answering.answers import Answer
from nqe.answering.calibration import MOST
from nqe.answering.top_k import restrict, select_likeliest
from nqe.errors import QueryError
from nqe.graph.entity_set import EntitySet
from nqe.graph.pattern import OBJECT, SUBJECT
from nqe.query.binder import bind
from nqe.query.exact import execute_many
from nqe.query.formula import Atom, Term, Variable
from nqe.query.plan import Plan, PlanBuilder
from nqe.query.query import Query, parse
from nqe.query.step_text import name_slot
from nqe.query.text import render_atom

CHECKED = 5
"""Of so many times as many suggestions as are wanted the other direction is asked too."""


@dataclass(frozen=True)
class SlotScore:
    """A slot of a statement: how likely its entity is there, and what else might be."""

    slot: str
    answer: Answer
    rank: int
    alternatives: tuple[Answer, ...]

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "slot": self.slot,
            **self.answer.to_json(),
            "rank": self.rank,
            "alternatives": [one.to_json() for one in self.alternatives],
        }


@dataclass(frozen=True)
class StatementScore:
    """How likely a statement is by the model alone, and whether a fact says it."""

    statement: str
    stated: bool
    probability: float
    slots: tuple[SlotScore, ...]
    unseen: tuple[str, ...] = ()
    """What it names that the model has not learnt of; then its probability means nothing."""

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "statement": self.statement,
            "stated": self.stated,
            "probability": self.probability,
            "slots": [one.to_json() for one in self.slots],
            **({"unseen": list(self.unseen)} if self.unseen else {}),
        }


@dataclass(frozen=True)
class Suggestion:
    """A statement that the graph lacks."""

    subject: Answer
    relation: str
    relation_label: str | None
    object: Answer
    probability: float

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
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
    """How likely a statement such as `borders(France, Spain)` is.

    Each slot is asked for in turn, with the others given and no facts known; the whole is as
    likely as the slots are on average (of their log odds).
    """
    atom = _atom(statement)
    plans = [bind(_asking(atom, place), answerer.graph) for place in range(len(atom.terms))]
    names = answerer.graph.vocabulary
    rows = answerer.knowing("none").rows(plans)
    results = execute_many(plans, answerer.graph)
    slots = []
    for place, (result, row) in enumerate(zip(results, rows, strict=True)):
        entity = names.entities.resolve(str(atom.terms[place]))
        best = select_likeliest(restrict(row, among), top + 1)
        slots.append(
            SlotScore(
                name_slot(result.plan.target, place, names),
                answerer.entity_answer(entity, float(row[entity]), entity in result.sets[-1]),
                int((row > row[entity]).sum()) + 1,
                tuple(
                    answerer.entity_answer(other, chance, other in result.sets[-1])
                    for other, chance in best
                    if other != entity
                )[:top],
            )
        )
    unseen = (name for plan in plans for name in answerer.neural.predictor.unseen(plan))
    return StatementScore(
        render_atom(atom),
        slots[0].answer.known,
        combine_chances(one.answer.probability for one in slots),
        tuple(slots),
        tuple(dict.fromkeys(unseen)),
    )


def suggest(
    answerer: Answerer,
    entity: int | str,
    *,
    relation: str | None = None,
    top: int = 10,
    among: EntitySet | None = None,
) -> list[Suggestion]:
    """The likeliest statements about an entity, as subject or object, that no fact says.

    What the model says of the missing end is weighed with what it says, the other way round, of
    the entity: an unlikely relation has likely ends too. `among` are the ends to choose from.
    """
    names = answerer.graph.vocabulary
    number = names.entities.to_number(entity)
    relations: Sequence[int] = range(len(names.relations))
    if relation is not None:
        relations = [names.relations.resolve(relation)]
    asked = list(product(relations, (OBJECT, SUBJECT)))
    found = _lacking(answerer, number, asked, among, CHECKED * top)
    best = nlargest(CHECKED * top, found)
    back = [_one_hop(one, other, 1 - slot) for _, one, slot, other in best]
    suggestions = [
        _suggestion(answerer, number, triple, combine_chances((chance, float(row[number]))))
        for (chance, *triple), row in zip(best, answerer.rows(back), strict=True)
    ]
    return sorted(suggestions, key=lambda one: -one.probability)[:top]


def combine_chances(chances: Iterable[float]) -> float:
    """The chance with the mean log odds of some chances."""
    kept = [min(max(one, 1 - MOST), MOST) for one in chances]
    mean = sum(math.log(one / (1 - one)) for one in kept) / len(kept)
    return 1 / (1 + math.exp(-mean))


def _atom(statement: str) -> Atom:
    try:
        formula = parse(f"?x: {statement}").formula
    except QueryError:
        raise QueryError(
            f"'{statement}' cannot be read; a statement is written as borders(France, Spain)"
        ) from None
    if not isinstance(formula, Atom):
        raise QueryError("a statement is one atom, as borders(France, Spain), without and, or, not")
    unknown = [term for term in formula.terms if isinstance(term, Variable)]
    if unknown:
        raise QueryError(f"a statement has no variables; put a name in place of {unknown[0]}")
    return formula


def _asking(atom: Atom, place: int) -> Query:
    """The query for one slot of a statement."""
    terms: list[Term] = list(atom.terms)
    terms[place] = Variable("x")
    pairs = zip((name for name, _ in atom.qualifiers), terms[2:], strict=True)
    return Query(
        Variable("x"),
        replace(atom, subject=terms[SUBJECT], object=terms[OBJECT], qualifiers=tuple(pairs)),
    )


def _one_hop(relation: int, entity: int, asked: int) -> Plan:
    """The open query for one end of a statement without qualifiers."""
    slots = (None, entity) if asked == SUBJECT else (entity, None)
    builder = PlanBuilder()
    builder.add_projection("x", relation, (), slots, asked, closed=False)
    return builder.finish()


def _lacking(
    answerer: Answerer,
    entity: int,
    asked: Sequence[tuple[int, int]],
    among: EntitySet | None,
    count: int,
) -> Iterator[tuple[float, int, int, int]]:
    """The likeliest ends of each relation and slot that no fact says, the chance first."""
    rows = answerer.rows([_one_hop(relation, entity, slot) for relation, slot in asked])
    for (relation, slot), row in zip(asked, rows, strict=True):
        lacking = row.masked_fill(row >= 1, 0)
        if slot == SUBJECT:
            lacking[entity] = 0  # What it may be to itself was found as an object.
        for other, chance in select_likeliest(restrict(lacking, among), count):
            yield chance, relation, slot, other


def _suggestion(
    answerer: Answerer, entity: int, triple: Sequence[int], chance: float
) -> Suggestion:
    relation, asked, other = triple
    names = answerer.graph.vocabulary.relations
    ends = (entity, other) if asked == OBJECT else (other, entity)
    subject, object_ = (answerer.entity_answer(one, chance, known=False) for one in ends)
    return Suggestion(subject, names.ids[relation], names.labels[relation], object_, chance)

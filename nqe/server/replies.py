"""Builds replies from the types of the answering package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from nqe.answering.answers import Answer, Answers, StepSummary
from nqe.answering.explanation import Candidate, Explanation, StepView
from nqe.answering.row_answers import RowAnswer, RowAnswers
from nqe.answering.row_explanation import RowExplanation
from nqe.answering.statement_scores import StatementScore, Suggestion
from nqe.errors import NqeError
from nqe.graph.entity_facts import EntityFacts
from nqe.graph.fact import Fact
from nqe.graph.graph import Graph
from nqe.graph.vocabulary import Names
from nqe.query.binder import BoundPlan
from nqe.query.drawing import Drawing, draw
from nqe.query.formula import Atom
from nqe.query.graph_drawing import draw_graph
from nqe.query.join_plan import JoinPlan
from nqe.query.plan import Op, Plan
from nqe.query.reason import Reason, RuleReason
from nqe.query.result import Result
from nqe.query.rows import Rows
from nqe.query.step_text import step_to_json
from nqe.query.svg import place_nodes
from nqe.query.text import render_atom
from nqe.rules.rule_text import RuleText

Json = dict[str, Any]

SHOWN = 5
"""The number of members of a step that a proof shows."""

# How a reason is called that rests on an operator.
_KINDS = {Op.AND: "and", Op.OR: "or", Op.NOT: "not", Op.ANY: "any"}


class Replies:
    """Builds the replies about one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.entities, self.relations = graph.vocabulary.entities, graph.vocabulary.relations

    def answers(self, found: Answers | RowAnswers, shown: str, milliseconds: float) -> Json:
        """The answers of one question, which are entities or rows."""
        if isinstance(found, RowAnswers):
            return self._rows(found, shown, milliseconds)
        return {
            "query": shown,
            "mode": found.mode,
            "answers": [self.answer(one, found.measure) for one in found],
            "stated_count": found.stated_count,
            "likely_count": found.likely_count,
            "unless": list(found.unless),
            "unseen": list(found.unseen),
            "notes": list(found.warnings),
            "steps": [self._step(found.tree, one) for one in found.steps],
            "milliseconds": round(milliseconds, 2),
        }

    def _rows(self, found: RowAnswers, shown: str, milliseconds: float) -> Json:
        return {
            "query": shown,
            "mode": found.mode,
            "targets": list(found.targets),
            "counted": found.counted,
            "rows": [self._row(one, found.result.names) for one in found],
            "stated_count": found.stated_count,
            "likely_count": found.likely_count,
            "unseen": list(found.unseen),
            "notes": list(found.warnings),
            "milliseconds": round(milliseconds, 2),
        }

    def _row(self, found: RowAnswer, names: Sequence[Names]) -> Json:
        """One row; `names` are where those of each column are."""
        return {
            "cells": self._cells(found.ids, names),
            "count": found.count,
            "probability": found.probability,
            "known": found.known,
        }

    def _cells(self, ids: Sequence[str], names: Sequence[Names]) -> list[Json]:
        pairs = zip(names, ids, strict=True)
        return [{**self._by_id(one, name), "kind": one.kind} for one, name in pairs]

    def answer(self, found: Answer, measure: str = "probability") -> Json:
        """One answer."""
        return {
            **self.entity(found.entity),
            "probability": None,
            "score": None,
            measure: found.probability,
            "source": found.source,
            "seen": found.seen,
            "elsewhere": found.elsewhere,
        }

    def entity(self, number: int) -> Json:
        """An entity with its names."""
        return _name(self.entities, number)

    def relation(self, number: int) -> Json:
        """A relation with its names."""
        return _name(self.relations, number)

    def fact(self, fact: Fact) -> Json:
        """A fact in ids and in labels."""
        return {
            "subject": self._by_id(self.entities, fact.subject),
            "relation": self._by_id(self.relations, fact.relation),
            "object": self._by_id(self.entities, fact.object),
            "qualifiers": [
                [self._by_id(self.relations, attribute), self._by_id(self.entities, value)]
                for attribute, value in fact.qualifiers
            ],
        }

    def facts_of(self, found: EntityFacts, most: int) -> Json:
        """The facts of an entity by the slot that it is in."""
        lists = {name: getattr(found, name) for name in ("as_subject", "as_object", "as_value")}
        counted = {fact.ids for facts in lists.values() for fact in facts}
        return {
            "aliases": list(found.aliases),
            "fact_count": len(counted),
            **{name: [self.fact(one.ids) for one in facts[:most]] for name, facts in lists.items()},
        }

    def explanation(self, found: Explanation, shown: str) -> Json:
        """Why an entity has its rank; `shown` is the question as text."""
        weakest = found.weakest
        return {
            "query": shown,
            "answer": self._member(found.entity, found.probability, found.known),
            "rank": found.rank,
            "reason": self._reason(found.reason),
            "ways": 1,
            "weakest": None if weakest is None else str(weakest),
            "steps": [self._view(one) for one in found.steps],
            "removed": [
                {
                    "says": one.says,
                    "entities": [
                        self._member(entity, probability, probability == 1)
                        for entity, probability in one.entities
                    ],
                }
                for one in found.removed
            ],
            "unseen": list(found.unseen),
            "notes": list(found.warnings),
            "text": str(found),
        }

    def row_explanation(self, found: RowExplanation, plan: BoundPlan, shown: str) -> Json:
        """Why a row, or the answer of a question that is no tree, has its rank."""
        if found.reason is None:
            row = ", ".join(found.names)
            raise NqeError(f"{row} is no answer: no way to it is likely enough")
        told = {
            **self._prove(found.reason, shown, found.warnings),
            "rank": found.rank,
            "ways": found.ways,
            "weakest": None if found.weakest is None else str(found.weakest),
            "unseen": list(found.unseen),
            "text": str(found),
        }
        if isinstance(plan, JoinPlan) and not plan.is_single:
            cells = self._cells(found.ids, plan.find_names(self.graph.vocabulary))
            measure = {"probability": found.probability, "known": found.known}
            return {**told, "row": {"cells": cells, "count": None, **measure}}
        entity = self.entities.to_number(found.ids[0])
        return {**told, "answer": self._member(entity, found.probability, found.known)}

    def proof(self, result: Result | Rows, entity: str | None, shown: str) -> Json:
        """Why facts make an entity an answer."""
        answers = result.answers.tolist()
        if not answers and entity is None:
            raise NqeError("the query has no answer, so there is nothing to explain")
        number = answers[0] if entity is None else self.entities.to_number(entity)
        reason = result.proof(number)
        return {
            **self._prove(reason, shown, result.warnings),
            "answer": self._member(number, 1.0, known=True),
            "rank": answers.index(number) + 1,
            "steps": [] if isinstance(result, Rows) else list(self._show_sets(result)),
        }

    def row_proof(self, rows: Rows, row: Sequence[str] | None, shown: str) -> Json:
        """Why facts make a row an answer, by default the first one."""
        if not len(rows) and row is None:
            raise NqeError("the query has no answer, so there is nothing to explain")
        given = _list_first(rows) if row is None else row
        reason = rows.proof(given)
        pairs = list(zip(rows.names, given, strict=True))
        numbers = [names.to_number(one) for names, one in pairs]
        ids = [names.ids[number] for (names, _), number in zip(pairs, numbers, strict=True)]
        is_row = np.logical_and.reduce(
            [column == number for column, number in zip(rows.numbers, numbers, strict=True)]
        )
        cells = self._cells(ids, rows.names)
        return {
            **self._prove(reason, shown, rows.warnings),
            "rank": int(np.flatnonzero(is_row)[0]) + 1,
            "row": {"cells": cells, "count": None, "probability": 1.0, "known": True},
        }

    def _prove(self, reason: Reason, shown: str, notes: Sequence[str]) -> Json:
        """What the proofs of entities and of rows have in common."""
        return {
            "query": shown,
            "reason": self._reason(reason),
            "ways": 1,
            "weakest": None,
            "steps": [],
            "removed": [],
            "unseen": [],
            "notes": list(notes),
            "text": str(reason),
        }

    def _show_sets(self, result: Result) -> Iterator[Json]:
        """The steps of a tree, with some members of the set of each."""
        count = self.graph.entity_count
        for place, one in enumerate(result.sets):
            listed = one.to_array(count)[:SHOWN].tolist()
            yield {
                **step_to_json(result.plan, place, self.graph.vocabulary),
                "count": one.count_members(count),
                "entities": [self._member(member, 1.0, known=True) for member in listed],
            }

    def score(self, found: StatementScore) -> Json:
        """How likely a statement is."""
        return {
            "statement": found.statement,
            "stated": found.stated,
            "probability": found.probability,
            "slots": [
                {
                    "slot": slot.slot,
                    "answer": self.answer(slot.answer),
                    "rank": slot.rank,
                    "alternatives": [self.answer(one) for one in slot.alternatives],
                }
                for slot in found.slots
            ],
            "rule": None if found.rule is None else self._fired(found.rule),
            "unseen": list(found.unseen),
            "notes": list(found.warnings),
        }

    def rules(self, relation: int, listed: Iterable[RuleText], count: int) -> Json:
        """The rules that predict facts of a relation."""
        return {
            "relation": self.relation(relation),
            "rules": [{**_count(rule), "rule": str(rule)} for rule in listed],
            "count": count,
        }

    def suggestions(self, found: Iterable[Suggestion]) -> Json:
        """Likely statements that the graph lacks."""
        return {
            "suggestions": [
                {
                    "subject": self.entity(one.subject.entity),
                    "relation": self._by_id(self.relations, one.relation),
                    "object": self.entity(one.object.entity),
                    "probability": one.probability,
                    "statement": render_atom(Atom(one.relation, one.subject.id, one.object.id)),
                }
                for one in found
            ]
        }

    def plan(self, plan: BoundPlan) -> Json:
        """What a plan asks for, its steps if it is a tree, and its drawing."""
        names = self.graph.vocabulary
        if isinstance(plan, JoinPlan):
            return {
                "targets": [plan.names[one] for one in plan.targets],
                "counted": None if plan.counted is None else plan.names[plan.counted],
                "drawing": _show_drawing(draw_graph(plan.graph, names)),
                "notes": list(plan.warnings),
            }
        return {
            "shape": plan.shape_name,
            "targets": [plan.target.variable],
            "steps": [
                {**step_to_json(plan, number, names), "count": 0, "entities": []}
                for number in range(len(plan.steps))
            ],
            "drawing": _show_drawing(draw(plan, names)),
            "notes": list(plan.warnings),
        }

    def _step(self, plan: Plan, found: StepSummary) -> Json:
        return {
            **step_to_json(plan, found.number, self.graph.vocabulary),
            "count": found.size,
            "entities": [self.answer(one) for one in found.members],
        }

    def _view(self, found: StepView) -> Json:
        return {
            "step": found.step,
            "variable": found.variable,
            "operator": found.operator,
            "inputs": [one + 1 for one in found.inputs],
            "says": found.says,
            "count": len(found.candidates),
            "entities": [self._candidate(one) for one in found.candidates],
        }

    def _candidate(self, found: Candidate) -> Json:
        return {
            **self._by_id(self.entities, found.id),
            **_measure(found.probability, found.known),
        }

    def _member(self, entity: int, probability: float, known: bool) -> Json:
        """A member of a step's set, as an answer."""
        return {**self.entity(entity), **_measure(probability, known)}

    def _reason(self, reason: Reason) -> Json:
        if reason.op == Op.PROJECTION:
            kind = "fact" if reason.stated else "prediction"
        else:
            kind = _KINDS[reason.op]
        names = self.relations if reason.of_relation else self.entities
        return {
            **_name(names, reason.entity),
            "kind": kind,
            "variable": reason.variable,
            "of_relation": reason.of_relation,
            "probability": reason.probability,
            "own": reason.own,
            "says": reason.atom or reason.absent,
            "ways": reason.ways,
            "alone": reason.probability if reason.alone is None else reason.alone,
            "fact": None if reason.row is None else self.fact(self.graph.fact(reason.row)),
            "rules": [self._fired(rule) for rule in reason.rules],
            "more_rules": reason.more_rules,
            "model": reason.model,
            "because": [self._reason(part) for part in reason.parts],
        }

    def _fired(self, found: RuleReason) -> Json:
        """A rule with the facts that fire it."""
        facts = [self.fact(self.graph.fact(row)) for row in found.rows]
        return {**_count(found), "rule": found.rule, "facts": facts}

    @staticmethod
    def _by_id(names: Names, name: str) -> Json:
        number = names.number(name)
        assert number is not None, "a fact's names are in the graph's vocabulary"
        return _name(names, number)


def _name(names: Names, number: int) -> Json:
    return {
        "id": names.ids[number],
        "label": names.labels[number],
        "description": names.descriptions[number],
    }


def _list_first(rows: Rows) -> list[str]:
    """The ids in the first row."""
    return [names.ids[column[0]] for names, column in zip(rows.names, rows.numbers, strict=True)]


def _show_drawing(drawing: Drawing) -> Json:
    """The nodes of a drawing with their places, and its edges."""
    boxes = place_nodes(drawing)
    return {
        "nodes": [
            {
                "id": node.name,
                "kind": node.kind,
                "text": node.text,
                "step": None if node.step is None else node.step + 1,
                "x": boxes[node.name].x,
                "y": boxes[node.name].y,
                "width": boxes[node.name].width,
            }
            for node in drawing.nodes
        ],
        "edges": [
            {"source": edge.source.name, "target": edge.target.name, "text": edge.text}
            for edge in drawing.edges
        ],
    }


def _count(found: RuleText | RuleReason) -> Json:
    """A rule in words, and its counts."""
    names = ("words", "support", "predictions", "confidence")
    return {name: getattr(found, name) for name in names}


def _measure(probability: float, known: bool) -> Json:
    """How likely a member of a step's set is, and where it comes from."""
    return {
        "probability": probability,
        "score": None,
        "source": "stated" if known else "predicted",
        "seen": True,
        "elsewhere": False,
    }

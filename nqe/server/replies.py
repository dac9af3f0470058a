"""Builds replies from the types of the answering package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nqe.answering.answers import Answers, StepSummary
from nqe.answering.row_answers import RowAnswer, RowAnswers
from nqe.answering.statement_scores import StatementScore, Suggestion
from nqe.graph.vocabulary import Names
from nqe.query.binder import BoundPlan
from nqe.query.drawing import Drawing, draw
from nqe.query.formula import Atom
from nqe.query.graph_drawing import draw_graph
from nqe.query.join_plan import JoinPlan
from nqe.query.plan import Plan
from nqe.query.step_text import step_to_json
from nqe.query.svg import place_nodes
from nqe.query.text import render_atom
from nqe.rules.rule_text import RuleText
from nqe.server.named_replies import Json, count_rule
from nqe.server.reason_replies import ReasonReplies


class Replies(ReasonReplies):
    """Builds the replies about one graph."""

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
            "cells": self.cells(found.ids, names),
            "count": found.count,
            "probability": found.probability,
            "known": found.known,
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
            "rule": None if found.rule is None else self.fired(found.rule),
            "unseen": list(found.unseen),
            "notes": list(found.warnings),
        }

    def rules(self, relation: int, listed: Iterable[RuleText], count: int) -> Json:
        """The rules that predict facts of a relation."""
        return {
            "relation": self.relation(relation),
            "rules": [{**count_rule(rule), "rule": str(rule)} for rule in listed],
            "count": count,
        }

    def suggestions(self, found: Iterable[Suggestion]) -> Json:
        """Likely statements that the graph lacks."""
        return {
            "suggestions": [
                {
                    "subject": self.entity(one.subject.entity),
                    "relation": self.by_id(self.relations, one.relation),
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

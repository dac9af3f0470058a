"""Replies that explain: reasons and proofs of entities and of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nqe.answering.explanation import Candidate, Explanation, StepView
from nqe.answering.row_explanation import RowExplanation
from nqe.errors import NqeError
from nqe.query.binder import BoundPlan
from nqe.query.join_plan import JoinPlan
from nqe.query.plan import Op
from nqe.query.reason import Reason
from nqe.query.result import Result
from nqe.query.rows import Rows
from nqe.query.step_text import step_to_json
from nqe.server.named_replies import Json, NamedReplies, measure, show_name

SHOWN = 5
"""The number of members of a step that a proof shows."""

# How a reason is called that rests on an operator.
_KINDS = {Op.AND: "and", Op.OR: "or", Op.NOT: "not", Op.ANY: "any"}


class ReasonReplies(NamedReplies):
    """Builds the replies that explain answers of one graph."""

    def explanation(self, found: Explanation, shown: str) -> Json:
        """Why an entity has its rank; `shown` is the question as text."""
        weakest = found.weakest
        return {
            "query": shown,
            "answer": self.member(found.entity, found.probability, found.known),
            "rank": found.rank,
            "reason": self._reason(found.reason),
            "ways": 1,
            "weakest": None if weakest is None else str(weakest),
            "steps": [self._view(one) for one in found.steps],
            "removed": [
                {
                    "says": one.says,
                    "entities": [
                        self.member(entity, probability, probability == 1)
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
            cells = self.cells(found.ids, plan.find_names(self.graph.vocabulary))
            measure = {"probability": found.probability, "known": found.known}
            return {**told, "row": {"cells": cells, "count": None, **measure}}
        entity = self.entities.to_number(found.ids[0])
        return {**told, "answer": self.member(entity, found.probability, found.known)}

    def proof(self, result: Result | Rows, entity: str | None, shown: str) -> Json:
        """Why facts make an entity an answer."""
        answers = result.answers.tolist()
        if not answers and entity is None:
            raise NqeError("the query has no answer, so there is nothing to explain")
        number = answers[0] if entity is None else self.entities.to_number(entity)
        reason = result.proof(number)
        return {
            **self._prove(reason, shown, result.warnings),
            "answer": self.member(number, 1.0, known=True),
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
        cells = self.cells(ids, rows.names)
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
                "entities": [self.member(member, 1.0, known=True) for member in listed],
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
            **self.by_id(self.entities, found.id),
            **measure(found.probability, found.known),
        }

    def _reason(self, reason: Reason) -> Json:
        if reason.op == Op.PROJECTION:
            kind = "fact" if reason.stated else "prediction"
        else:
            kind = _KINDS[reason.op]
        names = self.relations if reason.of_relation else self.entities
        return {
            **show_name(names, reason.entity),
            "kind": kind,
            "variable": reason.variable,
            "of_relation": reason.of_relation,
            "probability": reason.probability,
            "own": reason.own,
            "says": reason.atom or reason.absent,
            "ways": reason.ways,
            "alone": reason.probability if reason.alone is None else reason.alone,
            "fact": None if reason.row is None else self.fact(self.graph.fact(reason.row)),
            "rules": [self.fired(rule) for rule in reason.rules],
            "more_rules": reason.more_rules,
            "model": reason.model,
            "because": [self._reason(part) for part in reason.parts],
        }


def _list_first(rows: Rows) -> list[str]:
    """The ids in the first row."""
    return [names.ids[column[0]] for names, column in zip(rows.names, rows.numbers, strict=True)]

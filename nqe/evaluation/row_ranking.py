"""Rank the rows of queries that are no trees, for each target in turn with the others fixed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nqe.errors import NqeError
from nqe.evaluation.evaluator import (
    ANSWERS,
    BLOCK,
    UNKNOWN,
    Ranking,
    count_all_above,
)
from nqe.evaluation.ranks import Scores
from nqe.graph.arrays import Integers
from nqe.graph.ragged import Ragged
from nqe.graph.vocabulary import Vocabulary
from nqe.progress import Progress
from nqe.query.binder import BoundPlan, bind
from nqe.query.formula import Atom, find_leaves
from nqe.sampling.row_answers import KNOWN
from nqe.sampling.row_query import RowQuery, ask_for


class QuestionRunner(Protocol):
    """Runs questions for entities, trees or not, and scores all entities."""

    @property
    def entity_count(self) -> int:
        """How many entities it scores."""
        ...

    def run(self, plans: Sequence[BoundPlan]) -> Scores:
        """The scores of all entities for each plan; the caller passes few plans at a time."""
        ...


@dataclass(frozen=True, eq=False)
class RowQuestions:
    """Questions for one target each, with the entities that are to be ranked."""

    plans: Sequence[BoundPlan]
    query: Integers  # (questions,) the query that each question is made from
    wanted: Ragged  # (questions,) the entities to rank
    correct: Ragged  # (questions,) all right entities
    missing: Integers  # (wanted,) facts that each needs and that are not known; -1 if not counted


def rank_rows(
    runner: QuestionRunner,
    queries: Sequence[RowQuery],
    vocabulary: Vocabulary,
    *,
    answers: str = "hard",
    most_rows: int | None = None,
    block: int = BLOCK,
    progress: Progress | None = None,
) -> Ranking:
    """Compute the filtered ranks of every hard (or easy) row, one for each target.

    A rank is that of the row's entity among all entities that make no right row together with the
    row's other entities. A target is left out if the known facts give its question's answer. At
    most `most_rows` rows of each query are ranked, the first ones.
    """
    if answers not in ANSWERS:
        raise NqeError(f"unknown answers '{answers}'; choose one of {', '.join(ANSWERS)}")
    asked = ask_questions(queries, vocabulary, answers, most_rows)
    counts = count_all_above(
        lambda part: runner.run([asked.plans[place] for place in part.tolist()]),
        runner.entity_count,
        asked.wanted,
        asked.correct,
        np.arange(len(asked.plans)),
        block,
        progress,
    )
    owner = asked.wanted.owner
    return Ranking(
        answers=answers,
        query=asked.query[owner],
        entity=asked.wanted.values,
        greater=counts.greater,
        equal=counts.equal,
        candidates=runner.entity_count - asked.correct.lengths[owner] + 1,
        missing=asked.missing,
        shape=tuple(one.pattern for one in queries),
        slot=np.zeros(len(queries), dtype=np.int64),
        arity=np.array([_find_arity(one) for one in queries], dtype=np.int64),
        left_out=len(queries) - len(np.unique(asked.query)),
    )


def ask_questions(
    queries: Sequence[RowQuery],
    vocabulary: Vocabulary,
    answers: str = "hard",
    most_rows: int | None = None,
) -> RowQuestions:
    """The questions that rank the rows; rows that differ in one target alone share a question."""
    plans: list[BoundPlan] = []
    numbers: list[int] = []
    wanted: list[Integers] = []
    correct: list[Integers] = []
    missing: list[Integers] = []
    for number, one in enumerate(queries):
        for question in _ask(one, answers, most_rows):
            plans.append(_bind(one, question, vocabulary))
            numbers.append(number)
            wanted.append(question.wanted)
            correct.append(question.correct)
            missing.append(question.missing)
    nothing = np.zeros(0, dtype=np.int64)
    return RowQuestions(
        plans,
        np.array(numbers, dtype=np.int64),
        Ragged.of(wanted),
        Ragged.of(correct),
        np.concatenate([nothing, *missing]),
    )


@dataclass(frozen=True, eq=False)
class _Question:
    """A target of a query, the entities in place of the others, and those to rank."""

    target: int
    fixed: Integers  # (targets,) the row's entities; that of the target has no meaning
    wanted: Integers
    correct: Integers
    missing: Integers


def _ask(query: RowQuery, answers: str, most_rows: int | None) -> list[_Question]:
    """The questions of one query, by target and by what the other targets stand for."""
    rows, links = query.hard, query.missing_of_targets
    if answers == "easy":
        rows, links = query.easy, np.full_like(query.easy, UNKNOWN)
    rows, links = rows[:most_rows], links[:most_rows]
    right = np.unique(np.concatenate([query.easy, query.hard]), axis=0)
    found = []
    for target in range(rows.shape[1]):
        is_asked = np.ones(len(rows), dtype=bool)
        if answers == "hard":
            is_asked = links[:, target] != KNOWN
        asked, missing = rows[is_asked], links[is_asked, target]
        for fixed in np.unique(_leave_out(asked, target), axis=0):
            mine = (_leave_out(asked, target) == fixed).all(axis=1)
            same = (_leave_out(right, target) == fixed).all(axis=1)
            found.append(
                _Question(
                    target,
                    np.insert(fixed, target, -1),
                    asked[mine, target],
                    right[same, target],
                    missing[mine],
                )
            )
    return found


def _leave_out(rows: Integers, target: int) -> Integers:
    found: Integers = np.delete(rows, target, axis=1)
    return found


def _bind(query: RowQuery, question: _Question, vocabulary: Vocabulary) -> BoundPlan:
    targets, ids = query.query.targets, vocabulary.entities.ids
    values = {
        one: ids[int(entity)]
        for place, (one, entity) in enumerate(zip(targets, question.fixed, strict=True))
        if place != question.target
    }
    return bind(ask_for(query.query, targets[question.target], values), vocabulary)


def _find_arity(query: RowQuery) -> int:
    """The number of entities in the largest atom."""
    leaves = find_leaves(query.query.formula)
    return max((len(leaf.terms) for leaf in leaves if isinstance(leaf, Atom)), default=0)

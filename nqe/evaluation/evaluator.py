"""Evaluate a runner: rank the answers of queries among all entities by the runner's scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from nqe.errors import NqeError, choose
from nqe.evaluation.ranks import FEW_ANSWERS, TIES, Floats, RankCounts, Scores, count_above
from nqe.graph.arrays import Integers
from nqe.graph.ragged import Ragged, offsets, ranges
from nqe.progress import NoProgress, Progress
from nqe.query.step_table import StepTable
from nqe.sampling.query_table import QueryTable

BLOCK = 2**24
"""At most this many scores are in memory at once."""
MOST_QUERIES = 512
LEAST_QUERIES = 16
ANSWERS = ("hard", "easy")
UNKNOWN = -1
"""The number of missing facts of an answer for which nobody counted them."""


class Runner(Protocol):
    """Runs plans and scores entities; a model, or anything else that has these two members."""

    @property
    def entity_count(self) -> int:
        """How many entities it scores."""
        ...

    def run(self, plans: StepTable) -> Scores:
        """The scores of all entities for each plan; the caller passes few plans at a time."""
        ...


@runtime_checkable
class LimitedRunner(Protocol):
    """A runner that cannot run every plan, and says so before the first one is run."""

    def check_expressible(self, plans: StepTable, shapes: Sequence[str]) -> None:
        """Refuse plans that it cannot run; `shapes` are their names."""
        ...


@dataclass(frozen=True, eq=False)
class Ranking:
    """The position of each answer among the wrong entities, and properties of the queries.

    A wrong entity of a query is one that is not an answer of it.
    """

    answers: str
    """Which answers are ranked: hard or easy."""
    query: Integers  # (answers,) row of the query table
    entity: Integers  # (answers,)
    greater: Integers  # (answers,) wrong entities with a higher score
    equal: Integers  # (answers,) wrong entities with the same score
    candidates: Integers  # (answers,) entities it competes with: itself and all wrong entities
    missing: Integers  # (answers,) facts it needs that are not known; -1 if not counted
    shape: tuple[str, ...]  # (queries,)
    slot: Integers  # (queries,) index into SLOTS of the slot asked for
    arity: Integers  # (queries,) number of entities in the largest atom
    left_out: int
    """Queries not ranked: without such answers, or with more answers than were stored."""

    def compute_ranks(self, ties: str = "realistic") -> Floats:
        """The rank of each answer under a policy for equal scores, one of `TIES`."""
        rank = choose(TIES, ties, "tie policy")
        return rank(RankCounts(self.greater, self.equal))


def evaluate(
    runner: Runner,
    queries: QueryTable,
    *,
    answers: str = "hard",
    block: int = BLOCK,
    progress: Progress | None = None,
) -> Ranking:
    """Compute the filtered rank of every hard (or easy) answer.

    At most `block` scores are in memory at once.
    """
    if answers not in ANSWERS:
        raise NqeError(f"unknown answers '{answers}'; choose one of {', '.join(ANSWERS)}")
    wanted = queries.hard if answers == "hard" else queries.easy
    _check_entities(queries, runner.entity_count)
    if isinstance(runner, LimitedRunner):
        runner.check_expressible(queries.plans, queries.shape)
    rows = _find_rankable(queries, wanted)
    correct = merge_answers(queries.easy, queries.hard, runner.entity_count)
    counts = count_all_above(
        lambda part: runner.run(queries.plans.take(part)),
        runner.entity_count,
        wanted,
        correct,
        rows,
        block,
        progress,
    )
    chosen = ranges(wanted.offset[rows], wanted.lengths[rows])
    query = wanted.owner[chosen]
    return Ranking(
        answers=answers,
        query=query,
        entity=wanted.values[chosen],
        greater=counts.greater[chosen],
        equal=counts.equal[chosen],
        candidates=runner.entity_count - correct.lengths[query] + 1,
        missing=_count_missing(queries, answers)[chosen],
        shape=queries.shape,
        slot=queries.plans.asked_kinds,
        arity=_find_largest(queries.plans.arities),
        left_out=len(queries) - len(rows),
    )


def choose_block_size(entity_count: int, block: int) -> tuple[int, int]:
    """How many queries and how many entities to score at once: all entities, if they fit."""
    if block < 1:
        raise NqeError(f"a block of {block} scores is too small; give 1 or more")
    fitting = block // max(1, entity_count)
    queries = min(fitting, MOST_QUERIES) if fitting >= LEAST_QUERIES else min(LEAST_QUERIES, block)
    # Counting in float32 is exact up to 2**24 entities.
    return queries, max(1, min(entity_count, block // queries, 2**24))


def _find_rankable(queries: QueryTable, wanted: Ragged) -> Integers:
    """The queries to rank: they have such answers, and all answers to filter were stored.

    Training queries may store only some of their answers.
    """
    complete = queries.answer_count <= queries.easy.lengths + queries.hard.lengths
    rows: Integers = np.flatnonzero((wanted.lengths > 0) & complete)
    return rows


def merge_answers(easy: Ragged, hard: Ragged, count: int) -> Ragged:
    """All answers of each query, easy and hard, without duplicates; they are below `count`."""
    owner = np.concatenate([easy.owner, hard.owner])
    keys = np.unique(owner * count + np.concatenate([easy.values, hard.values]))
    lengths = np.bincount(keys // count, minlength=len(easy))
    return Ragged(offsets(lengths), keys % count)


def count_all_above(
    run: Callable[[Integers], Scores],
    count: int,
    wanted: Ragged,
    correct: Ragged,
    rows: Integers,
    block: int,
    progress: Progress | None,
) -> RankCounts:
    """Run the given rows of the queries, one block after another, and count for every answer.

    `run` gives the scores of all `count` entities for some rows.
    """
    greater, equal = np.zeros_like(wanted.values), np.zeros_like(wanted.values)
    at_once, columns = choose_block_size(count, block)
    # Queries with few answers come first, because they are counted by another method.
    order = rows[np.argsort(np.minimum(wanted.lengths[rows], FEW_ANSWERS + 1), kind="stable")]
    progress = progress or NoProgress()
    progress.start("ranking", len(order))
    for first in range(0, len(order), at_once):
        part = order[first : first + at_once]
        counts = count_above(run(part), wanted.take(part), correct.take(part), count, columns)
        places = ranges(wanted.offset[part], wanted.lengths[part])
        greater[places], equal[places] = counts.greater, counts.equal
        progress.update(first + len(part), first + len(part))
    return RankCounts(greater, equal)


def _check_entities(queries: QueryTable, entity_count: int) -> None:
    columns = (queries.easy.values, queries.hard.values)
    largest = max((int(column.max()) for column in columns if len(column)), default=-1)
    if largest >= entity_count:
        raise NqeError(
            f"an answer is entity {largest}, but the model scores {entity_count:,} entities; "
            "give queries over the graph that it was trained on"
        )


def _count_missing(queries: QueryTable, answers: str) -> Integers:
    """The number of missing facts of each hard answer; UNKNOWN for easy ones or if not stored."""
    wanted = queries.hard if answers == "hard" else queries.easy
    if answers == "hard" and len(queries.missing.values) == len(wanted.values):
        return queries.missing.values
    return np.full(len(wanted.values), UNKNOWN)


def _find_largest(arities: Ragged) -> Integers:
    """The largest arity of each query; 0 if it has no projection."""
    largest = np.zeros(len(arities), dtype=np.int64)
    np.maximum.at(largest, arities.owner, arities.values)
    return largest

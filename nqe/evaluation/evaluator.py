"""The evaluator: ranks of the answers of queries, by anything that scores plans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nqe.errors import NqeError, choose
from nqe.evaluation.ranks import FEW, TIES, Above, Floats, Scores, count_above
from nqe.graph.arrays import Integers
from nqe.graph.ragged import Ragged, offsets, ranges
from nqe.progress import NoProgress, Progress
from nqe.query.step_table import StepTable
from nqe.sampling.query_table import QueryTable

BLOCK = 2**24
"""So many scores exist at a time."""
MOST_QUERIES = 512
LEAST_QUERIES = 16
ANSWERS = ("hard", "easy")
UNKNOWN = -1


class Runner(Protocol):
    """Runs queries and scores entities: a model, or anything else."""

    @property
    def entity_count(self) -> int:
        """How many entities it scores."""
        ...

    def run(self, plans: StepTable) -> Scores:
        """The scores of all entities for each plan; the caller passes few plans at a time."""
        ...


@dataclass(frozen=True, eq=False)
class Ranking:
    """Where the answers of queries stand among the wrong entities, and what the queries are like.

    Columns of answers go with the answers ranked, the others with all queries of the table.
    """

    answers: str
    """Which answers are ranked: hard or easy."""
    query: Integers  # (answers,) row of the table
    entity: Integers  # (answers,)
    greater: Integers  # (answers,) wrong entities that score more
    equal: Integers  # (answers,) wrong entities that score the same
    missing: Integers  # (answers,) facts it needs that are not known; -1 if nobody counted
    shape: tuple[str, ...]  # (queries,)
    slot: Integers  # (queries,) kind of slot asked for; see SLOTS
    arity: Integers  # (queries,) entities in the largest atom
    left_out: int
    """Queries without such answers, or with more answers than were kept."""

    def ranks(self, ties: str = "realistic") -> Floats:
        """The rank of each answer, by what happens to equal scores."""
        return choose(TIES, ties, "tie policy")(Above(self.greater, self.equal))


def evaluate(
    runner: Runner,
    queries: QueryTable,
    *,
    answers: str = "hard",
    block: int = BLOCK,
    progress: Progress | None = None,
) -> Ranking:
    """The filtered ranks of every hard (or easy) answer; no more than `block` scores at a time."""
    if answers not in ANSWERS:
        raise NqeError(f"unknown answers '{answers}'; choose one of {', '.join(ANSWERS)}")
    wanted: Ragged = getattr(queries, answers)
    _check_entities(queries, runner.entity_count)
    rows = _ranked(queries, wanted)
    above = _count(runner, queries, wanted, rows, block, progress)
    chosen = ranges(wanted.offset[rows], wanted.lengths[rows])
    known_missing = answers == "hard" and len(queries.missing.values) == len(wanted.values)
    missing = queries.missing.values if known_missing else np.full(len(wanted.values), UNKNOWN)
    return Ranking(
        answers=answers,
        query=wanted.owner[chosen],
        entity=wanted.values[chosen],
        greater=above.greater[chosen],
        equal=above.equal[chosen],
        missing=missing[chosen],
        shape=queries.shape,
        slot=queries.plans.asked_kinds,
        arity=_largest(queries.plans.arities),
        left_out=len(queries) - len(rows),
    )


def _ranked(queries: QueryTable, wanted: Ragged) -> Integers:
    """The queries that can be ranked: a training query may not hold all that must be filtered."""
    complete = queries.answer_count <= queries.easy.lengths + queries.hard.lengths
    rows: Integers = np.flatnonzero((wanted.lengths > 0) & complete)
    return rows


def _count(
    runner: Runner,
    queries: QueryTable,
    wanted: Ragged,
    rows: Integers,
    block: int,
    progress: Progress | None,
) -> Above:
    """Count for every answer of these queries, one block of queries after another."""
    greater, equal = np.zeros_like(wanted.values), np.zeros_like(wanted.values)
    at_once, columns = block_size(runner.entity_count, block)
    # Queries with few answers first, as they are counted another way.
    order = rows[np.argsort(np.minimum(wanted.lengths[rows], FEW + 1), kind="stable")]
    progress = progress or NoProgress()
    progress.start("ranking", len(order))
    for first in range(0, len(order), at_once):
        some = order[first : first + at_once]
        table = queries.take(some)
        scores, correct = runner.run(table.plans), _correct(table, runner.entity_count)
        above = count_above(scores, wanted.take(some), correct, runner.entity_count, columns)
        places = ranges(wanted.offset[some], wanted.lengths[some])
        greater[places], equal[places] = above.greater, above.equal
        progress.update(first + len(some), first + len(some))
    return Above(greater, equal)


def block_size(entity_count: int, block: int) -> tuple[int, int]:
    """How many queries at a time against how many entities: all of these, if they fit."""
    if block < 1:
        raise NqeError(f"a block of {block} scores is too small; give 1 or more")
    fitting = block // max(1, entity_count)
    queries = min(fitting, MOST_QUERIES) if fitting >= LEAST_QUERIES else min(LEAST_QUERIES, block)
    # Counts are exact up to 2**24 entities at a time.
    return queries, max(1, min(entity_count, block // queries, 2**24))


def _correct(queries: QueryTable, entity_count: int) -> Ragged:
    """All right answers of each query, each once."""
    owner = np.concatenate([queries.easy.owner, queries.hard.owner])
    entity = np.concatenate([queries.easy.values, queries.hard.values])
    keys = np.unique(owner * entity_count + entity)
    counts = np.bincount(keys // entity_count, minlength=len(queries))
    return Ragged(offsets(counts), keys % entity_count)


def _check_entities(queries: QueryTable, entity_count: int) -> None:
    values = (queries.easy.values, queries.hard.values)
    largest = max((int(one.max()) for one in values if len(one)), default=-1)
    if largest >= entity_count:
        raise NqeError(
            f"an answer is entity {largest}, but the model scores {entity_count:,} entities; "
            "give queries over the graph that it was trained on"
        )


def _largest(arities: Ragged) -> Integers:
    """The largest arity of each query; 0 if it has no projection."""
    largest = np.zeros(len(arities), dtype=np.int64)
    np.maximum.at(largest, arities.owner, arities.values)
    return largest

"""Rank the relations in facts: the answers of relation queries among all relations."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np

from nqe.errors import NqeError
from nqe.evaluation.evaluator import BLOCK, Ranking, count_all_above, merge_answers
from nqe.evaluation.ranks import Scores
from nqe.graph.arrays import Booleans
from nqe.graph.fact_columns import Facts
from nqe.graph.pattern import FIRST_QUALIFIER
from nqe.progress import Progress
from nqe.sampling.one_hop import NAME
from nqe.sampling.relation_queries import RelationQueries

MAIN, ATTRIBUTE = 0, 1
"""The slots of relations, as numbers in a ranking."""


@runtime_checkable
class RelationRunner(Protocol):
    """Scores relations; a runner that has these members can be asked for relations."""

    @property
    def predicts_relations(self) -> bool:
        """Whether it can be asked; if not, `run_relations` says why."""
        ...

    @property
    def relation_count(self) -> int:
        """How many relations it scores."""
        ...

    def run_relations(self, facts: Facts) -> Scores:
        """The scores of all relations for the one that each fact misses, which is -1 in it."""
        ...


def can_rank_relations(runner: object) -> bool:
    """Whether a runner predicts relations."""
    return isinstance(runner, RelationRunner) and runner.predicts_relations


def rank_relations(
    runner: object,
    queries: RelationQueries,
    *,
    block: int = BLOCK,
    progress: Progress | None = None,
) -> Ranking:
    """Compute the filtered rank of every hard answer of relation queries.

    In the ranking, `entity` are relations, and `slot` is MAIN or ATTRIBUTE.
    """
    if not isinstance(runner, RelationRunner):
        raise NqeError(
            f"{type(runner).__name__} cannot be asked for relations; give an EmbeddingRunner, or "
            "leave out relations"
        )
    wanted, count = queries.hard, runner.relation_count
    largest = max(queries.easy.values.max(initial=-1), wanted.values.max(initial=-1))
    if largest >= count:
        raise NqeError(
            f"an answer is relation {largest}, but the model scores {count:,} relations; give "
            "facts of the graph that it was trained on"
        )
    rows = np.flatnonzero(wanted.lengths)
    correct = merge_answers(queries.easy, queries.hard, count)
    counts = count_all_above(
        lambda part: runner.run_relations(queries.facts.take(part)),
        count,
        wanted,
        correct,
        rows,
        block,
        progress,
    )
    query = wanted.owner
    return Ranking(
        answers="hard",
        query=query,
        entity=wanted.values,
        greater=counts.greater,
        equal=counts.equal,
        candidates=count - correct.lengths[query] + 1,
        missing=np.ones_like(query),
        shape=(NAME,) * len(queries),
        slot=np.where(queries.asks_attribute, ATTRIBUTE, MAIN),
        arity=queries.facts.qualifier_count + FIRST_QUALIFIER,
        left_out=len(queries) - len(rows),
    )


def keep_answers(ranking: Ranking, kept: Booleans) -> Ranking:
    """The ranking of some of its answers."""
    columns = ("query", "entity", "greater", "equal", "candidates", "missing")
    return replace(ranking, **{name: getattr(ranking, name)[kept] for name in columns})

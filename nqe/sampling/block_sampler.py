"""Samples one block of queries: draws them, refuses unfit ones, and answers the others at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nqe.graph.arrays import Integers
from nqe.graph.entity_set import EntitySet
from nqe.graph.graph import Graph
from nqe.graph.ragged import Ragged
from nqe.query.exact_batch import StepSets, run_table
from nqe.query.plan import Op, Plan, Step
from nqe.query.shapes import Shape
from nqe.query.step_table import StepTable
from nqe.sampling.hard_answers import (
    SplitGraphs,
    count_missing_links,
    extract_answers,
    split_answers,
)
from nqe.sampling.query_table import QueryTable
from nqe.sampling.random_walk import Walker
from nqe.sampling.signature import Range, is_in_range, repeats_itself, signature_of


@dataclass(frozen=True, eq=False)
class Block:
    """Fit queries, the signature of each, and how many others were refused for which reason."""

    table: QueryTable
    signatures: tuple[bytes, ...]
    refused: Counter[str]


@dataclass(frozen=True, eq=False)
class BlockSampler:
    """Samples blocks of queries for one split.

    Queries are drawn from the walker's graph. If `known` is given, they have hard answers, which
    are answers over the walker's graph and not over `known`; without it they are training
    queries.
    """

    walker: Walker
    known: Graph | None
    max_answers: int
    """A query with more answers is refused."""
    kept_answers: int
    """A training query keeps at most this many of its answers."""
    signature_range: Range = (0.0, 1.0)
    """Formulas whose signature, as a part of 1, is outside this range are refused."""

    def sample(self, shape: Shape, walks: int, rng: np.random.Generator) -> Block:
        """Draw queries by the given number of walks and keep those that are fit."""
        refused: Counter[str] = Counter()
        drawn = self._draw(shape, walks, rng, refused)
        sets = run_table(StepTable.of(drawn), self.walker.graph)
        fit = self._find_fit(drawn, sets, refused)
        plans, table = [drawn[i] for i in fit], sets.table.take(np.array(fit, dtype=np.int64))
        answers = extract_answers(sets)
        queries = self._add_answers(shape.name, table, [answers[i] for i in fit], rng)
        kept = np.arange(len(plans))
        if self.known is not None:
            kept = np.flatnonzero(queries.hard.lengths)
            refused["no hard answer"] += len(plans) - len(kept)
        return Block(
            self._add_missing_links(queries.take(kept)),
            tuple(signature_of(plans[i]) for i in kept.tolist()),
            refused,
        )

    def _draw(
        self, shape: Shape, walks: int, rng: np.random.Generator, refused: Counter[str]
    ) -> list[Plan]:
        plans: list[Plan] = []
        for _ in range(walks):
            plan = self.walker.try_to_draw(shape, rng)
            if plan is None:
                refused["walks that came to a dead end"] += 1
            elif repeats_itself(plan):
                refused["an atom or branch twice"] += 1
            elif not self._is_in_range(plan):
                refused["kept for the other held-out split"] += 1
            else:
                plans.append(plan)
        return plans

    def _is_in_range(self, plan: Plan) -> bool:
        if self.signature_range == (0.0, 1.0):
            return True
        return is_in_range(signature_of(plan), self.signature_range)

    def _find_fit(self, plans: Sequence[Plan], sets: StepSets, refused: Counter[str]) -> list[int]:
        """Find the queries that have answers, not too many, and whose negations matter."""
        step_sets = sets.sets()
        start = sets.table.plan_start.tolist()
        fit = []
        for number, plan in enumerate(plans):
            plan_sets = step_sets[start[number] : start[number + 1]]
            answers = plan_sets[-1]
            if answers.inverted or len(answers.members) > self.max_answers:
                refused["too many answers"] += 1
            elif not len(answers.members):
                refused["no answer left after negation"] += 1
            elif not _all_negations_matter(plan, plan_sets):
                refused["a negation that changes nothing"] += 1
            else:
                fit.append(number)
        return fit

    def _add_answers(
        self, shape: str, table: StepTable, answers: list[EntitySet], rng: np.random.Generator
    ) -> QueryTable:
        """Build the queries with hard and easy answers, or for training with some of them."""
        names = (shape,) * len(table)
        counts = np.array([len(one.members) for one in answers], dtype=np.int64)
        if self.known is None:
            easy = Ragged.of([_draw_some(one.members, self.kept_answers, rng) for one in answers])
            return replace(QueryTable.of(names, table, easy), answer_count=counts)
        known_answers = extract_answers(run_table(table, self.known))
        hard, easy_answers = split_answers(answers, known_answers)
        return QueryTable.of(names, table, Ragged.of(easy_answers), Ragged.of(hard))

    def _add_missing_links(self, queries: QueryTable) -> QueryTable:
        if self.known is None:
            return queries
        graphs = SplitGraphs(self.known, self.walker.graph)
        missing = count_missing_links(queries.plans, graphs, queries.hard)
        return queries.with_answers(queries.easy, queries.hard, missing)


def _all_negations_matter(plan: Plan, sets: Sequence[EntitySet]) -> bool:
    """Whether every `not` inside an `and` removes something that the other inputs have."""
    return all(
        _removes_something(number, step, sets)
        for step in plan.steps
        if step.op == Op.AND
        for number in step.inputs
        if plan.steps[number].op == Op.NOT
    )


def _removes_something(negation: int, conjunction: Step, sets: Sequence[EntitySet]) -> bool:
    others = EntitySet.everything()
    for number in conjunction.inputs:
        if number != negation:
            others = others & sets[number]
    removed = others & sets[negation].complement()
    return removed.inverted or len(removed.members) > 0


def _draw_some(members: Integers, count: int, rng: np.random.Generator) -> Integers:
    """Return at most `count` of the members, drawn at random and sorted."""
    if len(members) <= count:
        return members
    return np.sort(rng.choice(members, count, replace=False))

"""One block of sampling: draw some queries, refuse what must be, answer the rest together."""

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
from nqe.query.plan import Op, Plan
from nqe.query.shapes import Shape, name_of
from nqe.query.step_table import StepTable
from nqe.sampling.hard_answers import Worlds, hard_and_easy, missing_links, target_sets
from nqe.sampling.query_table import QueryTable
from nqe.sampling.random_walk import Walker
from nqe.sampling.signature import repeats_itself, signature


@dataclass(frozen=True, eq=False)
class Block:
    """Queries that may be taken, the signature of each, and why others were refused."""

    table: QueryTable
    signatures: tuple[bytes, ...]
    refused: Counter[str]


@dataclass(frozen=True, eq=False)
class BlockMaker:
    """Draws blocks of one split: from `full`, with hard answers beyond `known` if there is one."""

    walker: Walker
    known: Graph | None
    max_answers: int
    kept_answers: int
    share: tuple[float, float] = (0.0, 1.0)
    """The part of all formulas, by their signatures, that may be taken."""

    def make(self, shape: Shape, tries: int, rng: np.random.Generator) -> Block:
        """Draw queries by the given number of walks and keep those that are fit."""
        refused: Counter[str] = Counter()
        drawn = self._drawn(shape, tries, rng, refused)
        sets = run_table(StepTable.of(drawn), self.walker.graph)
        fit = self._fit(drawn, sets, refused)
        plans, table = [drawn[i] for i in fit], sets.table.take(np.array(fit, dtype=np.int64))
        every = target_sets(sets)
        queries = self._answered(name_of(shape), table, [every[i] for i in fit], rng)
        kept = np.arange(len(plans))
        if self.known is not None:
            kept = np.flatnonzero(queries.hard.lengths)
            refused["no hard answer"] += len(plans) - len(kept)
        return Block(
            self._with_missing_links(queries.take(kept)),
            tuple(signature(plans[i]) for i in kept.tolist()),
            refused,
        )

    def _drawn(
        self, shape: Shape, tries: int, rng: np.random.Generator, refused: Counter[str]
    ) -> list[Plan]:
        plans: list[Plan] = []
        for _ in range(tries):
            plan = self.walker.try_to_draw(shape, rng)
            if plan is None:
                refused["walks that came to a dead end"] += 1
            elif repeats_itself(plan):
                refused["an atom or branch twice"] += 1
            elif not self._ours(plan):
                refused["kept for the other held-out split"] += 1
            else:
                plans.append(plan)
        return plans

    def _ours(self, plan: Plan) -> bool:
        first, last = self.share
        if (first, last) == (0.0, 1.0):
            return True
        return first <= int.from_bytes(signature(plan)[:4], "big") / 2**32 < last

    def _fit(self, plans: Sequence[Plan], sets: StepSets, refused: Counter[str]) -> list[int]:
        """The queries that have answers, not too many, and whose negations matter."""
        of_step = sets.sets()
        start = sets.table.plan_start.tolist()
        fit = []
        for number, plan in enumerate(plans):
            mine = of_step[start[number] : start[number + 1]]
            answers = mine[-1]
            if answers.inverted or len(answers.members) > self.max_answers:
                refused["too many answers"] += 1
            elif not len(answers.members):
                refused["no answer left after negation"] += 1
            elif not all(_negation_matters(plan, mine)):
                refused["a negation that changes nothing"] += 1
            else:
                fit.append(number)
        return fit

    def _answered(
        self, shape: str, table: StepTable, answers: list[EntitySet], rng: np.random.Generator
    ) -> QueryTable:
        """The queries with their answers: hard and easy ones, or in training some of all."""
        names = (shape,) * len(table)
        counts = np.array([len(one.members) for one in answers], dtype=np.int64)
        if self.known is None:
            easy = Ragged.of([_some(one.members, self.kept_answers, rng) for one in answers])
            return replace(QueryTable.of(names, table, easy), answer_count=counts)
        hard, easy_answers = hard_and_easy(answers, target_sets(run_table(table, self.known)))
        return QueryTable.of(names, table, Ragged.of(easy_answers), Ragged.of(hard))

    def _with_missing_links(self, queries: QueryTable) -> QueryTable:
        if self.known is None:
            return queries
        worlds = Worlds(self.known, self.walker.graph)
        missing = missing_links(queries.plans, worlds, queries.hard)
        return queries.with_answers(queries.easy, queries.hard, missing)


def _negation_matters(plan: Plan, sets: Sequence[EntitySet]) -> list[bool]:
    """For each `not` inside an `and`, whether it takes away anything that the others have."""
    told = []
    for step in plan.steps:
        if step.op != Op.AND:
            continue
        for one in step.inputs:
            if plan.steps[one].op == Op.NOT:
                others = EntitySet.everything()
                for other in step.inputs:
                    if other != one:
                        others = others & sets[other]
                removed = others & sets[one].complement()
                told.append(removed.inverted or len(removed.members) > 0)
    return told


def _some(members: Integers, count: int, rng: np.random.Generator) -> Integers:
    """At most so many of the answers, drawn at random, sorted."""
    if len(members) <= count:
        return members
    return np.sort(rng.choice(members, count, replace=False))

"""Ranks of rows for one target at a time, against enumeration of all entities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from brute_force import find_rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import small_facts
from torch import Tensor

import nqe
from nqe.errors import NqeError
from nqe.evaluation import Ranking, Report, rank_rows
from nqe.evaluation.row_ranking import ask_questions
from nqe.graph import Dataset, Fact, Graph
from nqe.query import Query, execute
from nqe.query.join_plan import JoinPlan
from nqe.sampling import PATTERNS, RowQuery, RowQuerySet, row_sampler, sample_rows
from nqe.sampling.row_answers import KNOWN
from nqe.sampling.row_query import ask_for
from nqe.settings import SamplingSettings

splits = st.fixed_dictionaries(
    {name: st.lists(small_facts, min_size=8, max_size=16) for name in ("train", "valid", "test")}
)


@dataclass
class MatrixScores:
    rows: Tensor

    def block(self, first: int, last: int) -> Tensor:
        return self.rows[:, first:last]


@dataclass
class ExactRunner:
    """Scores the exact answers of a graph by 1, and all other entities by what each is given."""

    graph: Graph
    others: Sequence[float]

    @property
    def entity_count(self) -> int:
        return self.graph.entity_count

    def run(self, plans) -> MatrixScores:
        rows = torch.tensor([self.others] * len(plans), dtype=torch.float64)
        for row, plan in zip(rows, plans, strict=True):
            row[torch.from_numpy(execute(plan, self.graph).answers)] = 1.0
        return MatrixScores(rows)


def sample_some(dataset: Dataset, **changes) -> RowQuerySet:
    wanted = {"shapes": tuple(PATTERNS), "valid": 0, "test": 2, "match": "any", **changes}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_sampler, "MAX_BARREN", 60)
        return sample_rows(dataset, SamplingSettings(**wanted))


def rank_by_enumeration(
    one: RowQuery, dataset: Dataset, score: Callable[[Query, int, tuple[int, ...]], list[float]]
) -> list[tuple[int, float, int]]:
    """The entity, the rank and the number of candidates of everything that is ranked."""
    names = dataset.vocabulary.entities
    right = {
        tuple(map(names.resolve, row))
        for row in find_rows(one.query.graph, dataset.full_for("test"))
    }
    found = []
    for row, links in zip(one.hard.tolist(), one.missing_of_targets.tolist(), strict=True):
        for place in range(len(row)):
            if links[place] == KNOWN:
                continue
            scores = score(one.query, place, tuple(row))
            wrong = [
                scores[entity]
                for entity in range(len(names))
                if (*row[:place], entity, *row[place + 1 :]) not in right
            ]
            own = scores[row[place]]
            above = sum(value > own for value in wrong)
            level = sum(value == own for value in wrong)
            found.append((row[place], 1 + above + level / 2, 1 + len(wrong)))
    return sorted(found)


@given(splits, st.integers(0, 3))
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
def test_ranks_are_those_of_enumeration(facts: dict[str, list[Fact]], seed: int) -> None:
    dataset = Dataset.of(facts)
    queries = sample_some(dataset).splits["test"]
    if not queries:
        return
    rng = np.random.default_rng(seed)
    others = (rng.integers(0, 4, len(dataset.vocabulary.entities)) / 4).tolist()
    known = dataset.known_for("test")
    runner = ExactRunner(known, others)
    ranking = rank_rows(runner, queries, dataset.vocabulary)
    ranks = ranking.compute_ranks()
    names = dataset.vocabulary.entities

    def score(query: Query, place: int, row: tuple[int, ...]) -> list[float]:
        """What the known facts state, with the row's other entities put in, has 1."""
        fixed = {
            one: names.ids[entity]
            for number, (one, entity) in enumerate(zip(query.targets, row, strict=True))
            if number != place
        }
        stated = find_rows(ask_for(query, query.targets[place], fixed).graph, known)
        return [
            1.0 if (name,) in stated else others[entity] for entity, name in enumerate(names.ids)
        ]

    for number, one in enumerate(queries):
        mine = np.flatnonzero(ranking.query == number)
        columns = (ranking.entity, ranks, ranking.candidates)
        found = zip(*(column[mine].tolist() for column in columns), strict=True)
        assert sorted(found) == rank_by_enumeration(one, dataset, score)


@pytest.fixture(scope="module")
def atlas() -> Dataset:
    return nqe.demo_dataset()


@pytest.fixture(scope="module")
def queries(atlas: Dataset) -> tuple[RowQuery, ...]:
    return sample_some(atlas, test=3, max_answers=60).splits["test"]


def rank_exactly(graph: Graph, queries, **options) -> Ranking:
    zeros = [0.0] * graph.entity_count
    return rank_rows(ExactRunner(graph, zeros), queries, graph.vocabulary, **options)


def test_a_runner_that_knows_all_facts_ranks_every_row_first(
    atlas: Dataset, queries: tuple[RowQuery, ...]
) -> None:
    full = rank_exactly(atlas.full_for("test"), queries)
    assert (full.compute_ranks() == 1).all()
    assert full.left_out == 0
    easy = rank_exactly(atlas.known_for("test"), queries, answers="easy")
    assert (easy.compute_ranks() == 1).all()


def test_the_known_facts_alone_give_no_hard_row(
    atlas: Dataset, queries: tuple[RowQuery, ...]
) -> None:
    known = rank_exactly(atlas.known_for("test"), queries)
    assert (known.compute_ranks() > known.candidates / 4).all()
    assert known.missing.min() >= 1


def test_a_report_groups_rows_by_pattern_arity_and_missing_links(
    atlas: Dataset, queries: tuple[RowQuery, ...]
) -> None:
    ranking = rank_exactly(atlas.full_for("test"), queries)
    report = Report.of(ranking, by=("shape", "arity", "missing"))
    assert list(report.group("shape")) == list(PATTERNS)
    assert all(metrics.mrr == 1 for metrics in report.group("shape").values())
    links = np.concatenate([one.missing_of_targets.ravel() for one in queries])
    counts = {str(n): int((links == n).sum()) for n in np.unique(links[links != KNOWN])}
    assert {n: one.answers for n, one in report.group("missing").items()} == counts


def test_rows_that_differ_in_one_target_share_a_question(
    atlas: Dataset, queries: tuple[RowQuery, ...]
) -> None:
    asked = ask_questions(queries, atlas.vocabulary)
    texts = [
        plan.text if isinstance(plan, JoinPlan) else plan.query(atlas.vocabulary).text
        for plan in asked.plans
    ]
    pairs = list(zip(asked.query.tolist(), texts, strict=True))
    assert len(set(pairs)) == len(pairs)
    assert any(isinstance(plan, JoinPlan) for plan in asked.plans)
    assert not all(isinstance(plan, JoinPlan) for plan in asked.plans)
    single = [number for number, one in enumerate(queries) if len(one.query.targets) == 1]
    for number in single:
        assert asked.query.tolist().count(number) == 1


def test_at_most_the_first_rows_of_each_query_are_ranked_among_the_same_wrong_entities(
    atlas: Dataset, queries: tuple[RowQuery, ...]
) -> None:
    full = atlas.full_for("test")
    some = rank_exactly(full, queries, most_rows=1)
    assert (some.compute_ranks() == 1).all()
    targets = sum((one.missing_of_targets[0] != KNOWN).sum() for one in queries)
    assert len(some.query) == targets


def test_answers_of_another_kind_are_refused(atlas: Dataset, queries) -> None:
    with pytest.raises(NqeError, match="unknown answers 'all'; choose one of hard, easy"):
        rank_exactly(atlas.graph, queries, answers="all")

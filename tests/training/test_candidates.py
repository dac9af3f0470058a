"""Candidates of a batch: all answers count as correct, and the weights represent all entities."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from nqe.graph.ragged import Ragged
from nqe.training.candidates import (
    MAX_SURE_ANSWERS,
    Candidates,
    draw_one_answer,
    sample_entities,
    take_all_entities,
)

ENTITY_COUNT = 120
answer_sets = st.lists(
    st.sets(st.integers(0, ENTITY_COUNT - 1), min_size=1, max_size=60).map(sorted),
    min_size=1,
    max_size=6,
)


def ragged(rows: list[list[int]]) -> Ragged:
    return Ragged.of([np.array(row, dtype=np.int64) for row in rows])


def pairs(candidates: Candidates) -> set[tuple[int, int]]:
    """Return the queries and entities that count as correct answers."""
    targets = candidates.targets
    entity = targets.entity if candidates.entities is None else candidates.entities[targets.entity]
    return set(zip(targets.query.tolist(), entity.tolist(), strict=True))


def sampled(rows: list[list[int]], count: int, seed: int = 0) -> Candidates:
    answers = ragged(rows)
    return sample_entities(answers, answers, ENTITY_COUNT, count, np.random.default_rng(seed))


@given(rows=answer_sets)
@settings(max_examples=30)
def test_with_all_entities_the_answers_are_correct(rows: list[list[int]]) -> None:
    candidates = take_all_entities(ragged(rows))
    assert candidates.entities is None
    assert candidates.weight is None
    assert pairs(candidates) == {(q, e) for q, row in enumerate(rows) for e in row}
    assert candidates.targets.count.tolist() == [len(row) for row in rows]


@given(rows=answer_sets, count=st.integers(20, 200), seed=st.integers(0, 9))
@settings(max_examples=60)
def test_every_answer_in_the_sample_counts_as_correct(
    rows: list[list[int]], count: int, seed: int
) -> None:
    candidates = sampled(rows, count, seed)
    assert candidates.entities is not None
    sample = set(candidates.entities.tolist())
    assert len(sample) == len(candidates.entities)
    expected = {(q, e) for q, row in enumerate(rows) for e in row if e in sample}
    assert pairs(candidates) == expected
    assert candidates.targets.count.tolist() == [
        sum(q == query for q, _ in expected) for query in range(len(rows))
    ]


@given(rows=answer_sets, count=st.integers(20, 200), seed=st.integers(0, 9))
@settings(max_examples=60)
def test_answers_are_sampled_with_weight_one_and_the_weights_add_up_to_all_entities(
    rows: list[list[int]], count: int, seed: int
) -> None:
    candidates = sampled(rows, count, seed)
    assert candidates.entities is not None
    assert candidates.weight is not None
    weight = dict(zip(candidates.entities.tolist(), candidates.weight.tolist(), strict=True))
    sure = {entity for row in rows if len(row) <= MAX_SURE_ANSWERS for entity in row}
    assert all(weight.get(entity) == 1 for entity in sure)
    for row in rows:
        # Of many answers some are drawn with repetition, so not all of these are distinct.
        assert sum(weight.get(entity) == 1 for entity in row) >= min(len(row), 1)
    assert min(weight.values()) >= 1
    assert sum(weight.values()) == pytest.approx(ENTITY_COUNT, rel=1e-5)


@given(rows=answer_sets)
@settings(max_examples=20)
def test_targets_are_in_the_order_of_their_queries(rows: list[list[int]]) -> None:
    for candidates in (take_all_entities(ragged(rows)), sampled(rows, 50)):
        query = candidates.targets.query.tolist()
        assert query == sorted(query)


def test_a_process_has_the_targets_of_its_own_queries_in_the_sample_of_the_whole_batch() -> None:
    rows = [[0, 1], [2], [3, 4], [5]]
    whole, part = ragged(rows), ragged(rows).take(np.array([1, 2]))
    rng = [np.random.default_rng(0) for _ in range(2)]
    whole_batch = sample_entities(whole, whole, ENTITY_COUNT, 30, rng[0])
    own_part = sample_entities(whole, part, ENTITY_COUNT, 30, rng[1])
    assert whole_batch.entities is not None
    assert own_part.entities is not None
    assert torch.equal(whole_batch.entities, own_part.entities)
    assert pairs(own_part) == {(q - 1, e) for q, e in pairs(whole_batch) if q in (1, 2)}


def test_when_every_entity_is_an_answer_all_weights_are_one() -> None:
    candidates = sampled([list(range(n, n + 30)) for n in range(0, ENTITY_COUNT, 30)], 10)
    assert candidates.weight is not None
    assert candidates.weight.tolist() == [1.0] * ENTITY_COUNT


def test_one_answer_is_drawn_uniformly_from_the_answers() -> None:
    answers = ragged([[3, 5, 8, 9], [], [7]])
    rng = np.random.default_rng(0)
    drawn = [draw_one_answer(answers, rng) for _ in range(400)]
    assert {tuple(one.lengths.tolist()) for one in drawn} == {(1, 0, 1)}
    assert {int(one[2][0]) for one in drawn} == {7}
    counts = np.bincount([int(one[0][0]) for one in drawn])
    assert counts[[3, 5, 8, 9]].min() > 70
    assert counts.sum() == counts[[3, 5, 8, 9]].sum()


def test_candidates_are_copied_only_to_another_device() -> None:
    candidates = sampled([[1]], 5)
    assert candidates.to(torch.device("cpu")) is candidates
    moved = candidates.to(torch.device("meta"))
    assert moved.entities is not None
    assert moved.entities.is_meta
    assert moved.targets.query.is_meta
    assert take_all_entities(ragged([[1]])).to(torch.device("meta")).targets.count.is_meta

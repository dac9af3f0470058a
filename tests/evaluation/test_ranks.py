"""Filtered ranks against sorting in plain Python, and laws that they satisfy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scorers import MatrixRunner, Question, table_of

from nqe.errors import NqeError
from nqe.evaluation import ranks
from nqe.evaluation.evaluator import Ranking, choose_block_size, evaluate

TIES = ("optimistic", "realistic", "pessimistic")
# Few values, so that most entities are tied. Infinite scores are allowed.
values = st.sampled_from([-np.inf, -1.5, 0.0, 0.25, 0.25000003, 1.0, np.inf])


@st.composite
def worlds(
    draw: st.DrawFn, scores: st.SearchStrategy[float] = values
) -> tuple[torch.Tensor, list[Question]]:
    """The scores of a few queries, and their answers."""
    entities, queries = draw(st.integers(1, 12)), draw(st.integers(1, 6))
    row = st.lists(scores, min_size=entities, max_size=entities)
    matrix = torch.tensor([draw(row) for _ in range(queries)], dtype=torch.float32)
    questions = []
    for _ in range(queries):
        members = draw(st.lists(st.integers(0, entities - 1), unique=True))
        cut = draw(st.integers(0, len(members)))
        questions.append(Question(hard=members[:cut], easy=members[cut:]))
    return matrix, questions


def by_sorting(row: Sequence[float], answer: int, question: Question) -> tuple[float, float, float]:
    """The optimistic, realistic and pessimistic rank of an answer among the wrong entities."""
    right = {*question.hard, *question.easy}
    wrong = [score for entity, score in enumerate(row) if entity not in right]
    ordered = sorted([*wrong, row[answer]], reverse=True)
    places = [place for place, score in enumerate(ordered, start=1) if score == row[answer]]
    return places[0], sum(places) / len(places), places[-1]


def expected(matrix: torch.Tensor, questions: list[Question]) -> list[tuple[float, ...]]:
    return [
        (query, answer, *by_sorting(matrix[query].tolist(), answer, question))
        for query, question in enumerate(questions)
        for answer in question.hard
    ]


def rows_of(ranking: Ranking) -> list[tuple[float, ...]]:
    columns = [ranking.query, ranking.entity, *(ranking.compute_ranks(ties) for ties in TIES)]
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(world=worlds(), block=st.sampled_from([1, 2, 5, 7, 16, 40, 2**24]))
def test_ranks_are_those_of_sorting_for_any_block_size(
    world: tuple[torch.Tensor, list[Question]], block: int
) -> None:
    matrix, questions = world
    runner = MatrixRunner(matrix)
    ranking = evaluate(runner, table_of(questions), block=block)
    assert rows_of(ranking) == expected(matrix, questions)
    assert max(runner.sizes, default=0) <= block
    assert ranking.left_out == sum(not question.hard for question in questions)


@given(world=worlds())
@pytest.mark.parametrize("few", [0, 100])
def test_counting_by_comparing_equals_counting_by_sorting(
    few: int, world: tuple[torch.Tensor, list[Question]]
) -> None:
    matrix, questions = world
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranks, "FEW_ANSWERS", few)
        patch.setattr(ranks, "CACHED_SCORES", 24)
        assert rows_of(evaluate(MatrixRunner(matrix), table_of(questions))) == expected(
            matrix, questions
        )


@given(world=worlds())
def test_easy_answers_are_ranked_on_request_and_filtered_for_each_other(
    world: tuple[torch.Tensor, list[Question]],
) -> None:
    matrix, questions = world
    swapped = [Question(hard=each.easy, easy=each.hard) for each in questions]
    ranking = evaluate(MatrixRunner(matrix), table_of(swapped), answers="easy")
    assert rows_of(ranking) == expected(matrix, questions)
    assert set(ranking.missing.tolist()) <= {-1}


@given(world=worlds(scores=st.integers(-4, 4).map(float)))
def test_ranks_do_not_change_under_a_monotone_map_of_the_scores(
    world: tuple[torch.Tensor, list[Question]],
) -> None:
    matrix, questions = world
    mapped = torch.exp(matrix.double() / 3) - 7
    before = evaluate(MatrixRunner(matrix), table_of(questions))
    assert rows_of(evaluate(MatrixRunner(mapped), table_of(questions))) == rows_of(before)


@given(world=worlds())
def test_realistic_ranks_lie_between_optimistic_and_pessimistic_ones(
    world: tuple[torch.Tensor, list[Question]],
) -> None:
    matrix, questions = world
    ranking = evaluate(MatrixRunner(matrix), table_of(questions))
    low, middle, high = (ranking.compute_ranks(ties) for ties in TIES)
    assert (low <= middle).all()
    assert (middle <= high).all()
    assert (low >= 1).all()


@given(entities=st.integers(3, 40), right=st.integers(1, 3), score=values)
def test_constant_scores_give_the_middle_rank(entities: int, right: int, score: float) -> None:
    matrix = torch.full((1, entities), score)
    ranking = evaluate(MatrixRunner(matrix), table_of([Question(hard=range(right))]))
    wrong = entities - right
    assert ranking.compute_ranks().tolist() == [1 + wrong / 2] * right
    assert ranking.compute_ranks("pessimistic").tolist() == [1.0 + wrong] * right


@pytest.mark.parametrize("block", [4, 2**24])
def test_scores_that_are_not_numbers_are_refused(block: int) -> None:
    matrix = torch.zeros(2, 9)
    matrix[1, 8] = torch.nan
    queries = table_of([Question(hard=[0]), Question(hard=[1])])
    with pytest.raises(NqeError, match=r"not numbers \(NaN\).*; train again"):
        evaluate(MatrixRunner(matrix), queries, block=block)


def test_scores_of_the_wrong_shape_are_refused() -> None:
    class Narrow(MatrixRunner):
        @property
        def entity_count(self) -> int:
            return 5

    with pytest.raises(NqeError, match=r"have the shape \(1, 3\)"):
        evaluate(Narrow(torch.zeros(1, 3)), table_of([Question(hard=[4])]))


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16, torch.float64, torch.int32])
def test_scores_may_have_any_type_of_number(kind: torch.dtype) -> None:
    matrix = torch.tensor([[3, 1, 2, 2]]).to(kind)
    ranking = evaluate(MatrixRunner(matrix), table_of([Question(hard=[3])]))
    assert ranking.compute_ranks().tolist() == [2.5]


def test_ranking_does_not_change_the_scores() -> None:
    matrix = torch.randn(3, 50, generator=torch.Generator().manual_seed(0))
    before = matrix.clone()
    evaluate(MatrixRunner(matrix), table_of([Question(hard=range(i, 9)) for i in range(3)]))
    assert torch.equal(matrix, before)


@given(entities=st.integers(1, 10**6), block=st.integers(1, 2**24))
def test_a_block_is_never_larger_than_allowed(entities: int, block: int) -> None:
    queries, columns = choose_block_size(entities, block)
    assert 1 <= queries * columns <= block
    assert columns <= entities


def test_each_score_is_computed_once_when_all_entities_fit() -> None:
    runner = MatrixRunner(torch.zeros(40, 10))
    queries = table_of([Question(hard=[0])] * 40)
    evaluate(runner, queries, block=160)
    assert runner.sizes == [160, 160, 80]
    runner.sizes.clear()
    evaluate(runner, queries, block=128)
    assert sum(runner.sizes) == 2 * 400

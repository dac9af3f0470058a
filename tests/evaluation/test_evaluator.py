"""The ranking of queries: its columns, which queries are left out, progress, and refusals."""

from __future__ import annotations

import pytest
import torch
from scorers import MatrixRunner, Question, table_of

from nqe.errors import NqeError
from nqe.evaluation import evaluate
from nqe.evaluation.evaluator import choose_block_size


def test_a_ranking_has_shape_slot_and_arity_of_queries_and_missing_links_of_answers() -> None:
    questions = [
        Question(hard=[0], missing=[2], shape="2p", asked=0),
        Question(hard=[1, 2], missing=[1, 3], shape="And(P(), P())", asked=4, arity=5),
    ]
    ranking = evaluate(MatrixRunner(torch.zeros(2, 6)), table_of(questions))
    assert ranking.query.tolist() == [0, 1, 1]
    assert ranking.entity.tolist() == [0, 1, 2]
    assert ranking.missing.tolist() == [2, 1, 3]
    assert ranking.shape == ("2p", "And(P(), P())")
    assert ranking.slot.tolist() == [0, 2]
    assert ranking.arity.tolist() == [2, 5]


def test_queries_without_hard_answers_are_left_out_and_counted() -> None:
    questions = [Question(hard=[], easy=[1]), Question(hard=[2]), Question(hard=[])]
    ranking = evaluate(MatrixRunner(torch.zeros(3, 4)), table_of(questions))
    assert ranking.query.tolist() == [1]
    assert ranking.left_out == 2


def test_a_query_whose_answers_were_not_all_stored_is_not_ranked() -> None:
    questions = [Question(hard=[], easy=[1], answer_count=9), Question(hard=[], easy=[1])]
    ranking = evaluate(MatrixRunner(torch.zeros(2, 4)), table_of(questions), answers="easy")
    assert ranking.query.tolist() == [1]
    assert ranking.left_out == 1


def test_an_entity_that_is_both_easy_and_hard_is_filtered_once() -> None:
    ranking = evaluate(
        MatrixRunner(torch.zeros(1, 5)), table_of([Question(hard=[1, 2], easy=[2, 3])])
    )
    assert ranking.equal.tolist() == [2, 2]


def test_progress_is_reported_after_every_block() -> None:
    class Recorder:
        def __init__(self) -> None:
            self.numbers: list[int] = []

        def start(self, task: str, total: int | None) -> None:
            assert total is not None
            self.numbers.append(total)

        def update(self, done: int, items: int, detail: str = "") -> None:
            self.numbers.append(done)

    runner, recorder = MatrixRunner(torch.zeros(40, 10)), Recorder()
    evaluate(runner, table_of([Question(hard=[0])] * 40), block=160, progress=recorder)
    assert recorder.numbers == [40, 16, 32, 40]


def test_no_queries_give_an_empty_ranking() -> None:
    ranking = evaluate(MatrixRunner(torch.zeros(0, 10)), table_of([]))
    assert len(ranking.query) == ranking.left_out == 0


def test_what_cannot_be_ranked_is_refused() -> None:
    runner, queries = MatrixRunner(torch.zeros(1, 3)), table_of([Question(hard=[3])])
    with pytest.raises(NqeError, match="entity 3, but the model scores 3 entities; give queries"):
        evaluate(runner, queries)
    with pytest.raises(NqeError, match="unknown answers 'all'; choose one of hard, easy"):
        evaluate(runner, queries, answers="all")
    with pytest.raises(NqeError, match="a block of 0 scores is too small"):
        choose_block_size(3, 0)
    with pytest.raises(NqeError, match="unknown tie policy 'lucky'; choose one of realistic"):
        evaluate(MatrixRunner(torch.zeros(1, 4)), queries).compute_ranks("lucky")

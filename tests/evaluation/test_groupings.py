"""Groupings: every answer is in the right group, and unknown groupings are refused."""

from __future__ import annotations

import pytest
import torch
from scorers import MatrixRunner, Question, table_of

from nqe.errors import NqeError
from nqe.evaluation import Ranking, evaluate
from nqe.evaluation.groupings import GROUPINGS, group_answers

TREE = "And(P(), P(), P(), P())"


@pytest.fixture
def ranking() -> Ranking:
    """Six answers of four queries; the second query has none."""
    questions = [
        Question(hard=[0, 1], missing=[2, 1], shape=TREE, asked=3, arity=4),
        Question(hard=[], easy=[1], shape="3p"),
        Question(hard=[2], missing=[2], shape="2in", asked=0, arity=3),
        Question(hard=[3, 4, 5], missing=[-1, 1, -1], shape="1p", asked=1, arity=2),
    ]
    return evaluate(MatrixRunner(torch.zeros(4, 9)), table_of(questions))


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("shape", {"1p": [3, 4, 5], "2in": [2], TREE: [0, 1]}),
        ("slot", {"subject": [2], "object": [3, 4, 5], "value": [0, 1]}),
        ("arity", {"2": [3, 4, 5], "3": [2], "4": [0, 1]}),
        ("missing", {"1": [1, 4], "2": [0, 2]}),
        ("part", {"subject_object": [2, 3, 4, 5], "value": [0, 1]}),
    ],
)
def test_answers_are_grouped_in_the_order_of_the_labels(
    ranking: Ranking, by: str, groups: dict[str, list[int]]
) -> None:
    found = {label: rows.tolist() for label, rows in group_answers(ranking, by)}
    assert found == groups
    assert list(found) == list(groups)


def test_an_unknown_grouping_is_refused_with_the_known_ones(ranking: Ranking) -> None:
    known = ", ".join(GROUPINGS)
    with pytest.raises(NqeError, match=f"unknown grouping 'colour'; choose one of {known}"):
        group_answers(ranking, "colour")

"""Validation queries: from the query set, or drawn so that they need held-out facts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from toy_dataset import keys, settings, town_queries, towns

from nqe.graph import Dataset, Fact
from nqe.settings import TrainSettings
from nqe.training.validation import choose_validation_queries, includes_valid

DATASET = towns()
TRAIN: TrainSettings = settings(batch=20).train


@pytest.mark.parametrize("facts", ["train,valid", "all", "valid"])
def test_there_is_no_validation_on_facts_that_are_learnt(facts: str) -> None:
    assert choose_validation_queries(DATASET, None, replace(TRAIN, facts=facts)) is None


def test_validation_queries_have_the_wanted_number_and_are_always_the_same(tmp_path: Path) -> None:
    one, other = (choose_validation_queries(DATASET, None, TRAIN) for _ in range(2))
    assert one is not None
    assert other is not None
    assert keys(one) == keys(other)
    few = choose_validation_queries(DATASET, None, replace(TRAIN, valid_queries=5))
    assert few is not None
    assert len(few) == 5
    assert (few.hard.lengths > 0).all()
    folder = str(town_queries(DATASET, tmp_path / "q", "1p", "2i", train=5))
    of_set = choose_validation_queries(DATASET, folder, replace(TRAIN, shapes=()))
    assert of_set is not None
    assert Counter(of_set.shape) == {"1p": 10, "2i": 10}


def test_without_validation_facts_or_queries_there_is_no_validation(tmp_path: Path) -> None:
    bare = Dataset(DATASET.vocabulary, {"train": DATASET.splits["train"]})
    assert choose_validation_queries(bare, None, TRAIN) is None
    folder = str(town_queries(DATASET, tmp_path / "q", "2i", train=5))
    assert choose_validation_queries(DATASET, folder, replace(TRAIN, shapes=("1p",))) is None


@pytest.mark.parametrize("shapes", [("1p",), ("1p", "2i")])
def test_a_validation_fact_that_train_states_is_no_hard_answer(shapes: tuple[str, ...]) -> None:
    train = [Fact("a", "r", "b"), Fact("a", "s", "c"), Fact("d", "s", "c")]
    new = Fact("a", "r", "c")
    dataset = Dataset.of({"train": train, "valid": [train[0], new]})
    queries = choose_validation_queries(dataset, None, replace(TRAIN, shapes=shapes))
    assert queries is not None
    names = dataset.vocabulary.entities.ids
    one_hop = [row for row, name in enumerate(queries.shape) if name == "1p"]
    hard = [[names[entity] for entity in queries.hard[row].tolist()] for row in one_hop]
    assert sorted(hard) == [["a"], ["c"]]
    easy = [[names[entity] for entity in queries.easy[row].tolist()] for row in one_hop]
    assert sorted(easy) == [[], ["b"]]


def test_without_a_fact_that_is_held_out_there_is_no_validation() -> None:
    facts = [Fact("a", "r", "b"), Fact("b", "r", "c")]
    dataset = Dataset.of({"train": facts, "valid": facts[:1]})
    assert choose_validation_queries(dataset, None, TRAIN) is None


def test_a_list_of_splits_includes_valid_by_name_or_by_all() -> None:
    texts = ("train", "train,valid", " valid ", "all", "none", "validation")
    assert [includes_valid(text) for text in texts] == [False, True, True, True, False, False]

"""Data sets: their splits, and which facts are known, full and held out for each."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import small_facts

from nqe.errors import NqeError
from nqe.graph import SPLITS, Dataset, Fact
from nqe.graph.graph import Graph

KNOWN = {"train": ["train"], "valid": ["train"], "test": ["train", "valid"]}
FULL = {"train": ["train"], "valid": ["train", "valid"], "test": ["train", "valid", "test"]}

Splits = dict[str, list[Fact]]
splits_of_facts = st.dictionaries(
    st.sampled_from(SPLITS), st.lists(small_facts, max_size=12), min_size=1
)


def count_facts(graph: Graph) -> Counter[Fact]:
    return Counter(dict(zip(graph, graph.facts.count.tolist(), strict=True)))


def count_listed(splits: Splits, names: list[str]) -> Counter[Fact]:
    return Counter(fact for name in names for fact in splits.get(name, []))


@given(splits_of_facts, st.sampled_from(SPLITS))
def test_known_and_full_facts_are_those_of_the_splits_up_to_one(splits: Splits, split: str) -> None:
    dataset = Dataset.of(splits)
    assert count_facts(dataset.known_for(split)) == count_listed(splits, KNOWN[split])
    assert count_facts(dataset.full_for(split)) == count_listed(splits, FULL[split])


@given(splits_of_facts, st.data())
def test_held_out_facts_are_those_of_a_split_that_no_known_split_states(
    splits: Splits, data: st.DataObject
) -> None:
    split = data.draw(st.sampled_from(sorted(splits)))
    dataset = Dataset.of(splits)
    known = set(count_listed(splits, KNOWN[split]))
    expected = Counter(fact for fact in splits[split] if fact not in known)
    assert count_facts(Graph(dataset.vocabulary, dataset.held_out(split))) == expected


@given(splits_of_facts, st.sampled_from(SPLITS))
def test_the_named_known_splits_are_the_known_facts(splits: Splits, split: str) -> None:
    dataset = Dataset.of(splits)
    assert dataset.known(dataset.known_splits(split)) == dataset.known_for(split)


def test_no_fact_of_train_is_held_out() -> None:
    dataset = Dataset.of({"train": [Fact("a", "r", "b")], "test": [Fact("b", "r", "a")]})
    assert len(dataset.held_out("train")) == 0
    assert dataset.known_splits("train") == "train"


def test_a_split_without_known_splits_has_no_known_facts() -> None:
    dataset = Dataset.of({"test": [Fact("a", "r", "b")]})
    assert dataset.known_splits("test") == "none"
    assert len(dataset.known_for("test")) == 0
    assert len(dataset.held_out("test")) == len(dataset.full_for("test")) == 1


def test_a_fact_that_is_held_out_keeps_how_often_it_is_stated() -> None:
    repeated = Fact("a", "r", "b", (("q", "c"),))
    dataset = Dataset.of({"train": [Fact("a", "r", "b")], "valid": [repeated, repeated]})
    assert dataset.held_out("valid").count.tolist() == [2]


def test_joined_graphs_are_built_once() -> None:
    dataset = Dataset.of({"train": [Fact("a", "r", "b")], "valid": [Fact("b", "r", "a")]})
    assert dataset.known_for("valid") is dataset.known("train") is dataset.split("train")
    assert dataset.full_for("valid") is dataset.graph


def test_an_unknown_split_is_an_error_that_lists_the_splits() -> None:
    dataset = Dataset.of({"train": [Fact("a", "r", "b")]})
    for ask in (dataset.known_for, dataset.full_for, dataset.known_splits):
        with pytest.raises(NqeError, match="unknown split 'dev'; splits are train, valid, test"):
            ask("dev")
    with pytest.raises(NqeError, match="there is no test split; the data set has train"):
        dataset.held_out("test")


def test_facts_of_several_splits_are_joined_and_those_in_two_counted_in_both() -> None:
    both, only = Fact("a", "r", "b"), Fact("b", "r", "a")
    dataset = Dataset.of({"train": [both, only], "valid": [both], "test": [Fact("c", "r", "a")]})
    joined = dataset.known("train, valid")
    assert dict(zip(joined, joined.facts.count.tolist(), strict=True)) == {both: 2, only: 1}
    assert len(dataset.known("all")) == len(dataset.graph) == 3
    assert len(dataset.known("none")) == 0
    assert dataset.known("none").entity_count == 3


def test_a_missing_or_unknown_split_is_an_error_that_lists_the_splits() -> None:
    dataset = Dataset.of({"train": [Fact("a", "r", "b")], "test": [Fact("b", "r", "a")]})
    with pytest.raises(NqeError, match="no valid split; the data set has train, test"):
        dataset.known("train,valid")
    with pytest.raises(NqeError, match="unknown split 'tset'; splits are train, valid, test"):
        Dataset.of({"tset": [Fact("a", "r", "b")]})


def test_graphs_with_other_vocabularies_do_not_make_a_data_set() -> None:
    one, other = Graph.of([Fact("a", "r", "b")]), Graph.of([Fact("a", "r", "c")])
    with pytest.raises(NqeError, match="different vocabularies"):
        Dataset.of_graphs({"train": one, "valid": other})
    with pytest.raises(NqeError, match="at least one split"):
        Dataset.of_graphs({})
    assert Dataset.of_graphs({"train": one}) == Dataset.of({"train": [Fact("a", "r", "b")]})

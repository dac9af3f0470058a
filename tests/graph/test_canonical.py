"""Facts in columns: order means nothing, duplicates are counted, contents are told apart."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import small_facts, wild_facts

from nqe.errors import InputError, NqeError
from nqe.graph import Dataset, Fact, Graph
from nqe.graph.fact_columns import concatenate

SEVERAL = st.lists(small_facts, min_size=1, max_size=20)


def shuffled(fact: Fact, data: st.DataObject) -> Fact:
    pairs = data.draw(st.permutations(fact.qualifiers))
    return Fact(fact.subject, fact.relation, fact.object, tuple(pairs))


@given(SEVERAL, st.data())
def test_the_order_of_facts_and_of_qualifiers_makes_no_difference(
    facts: list[Fact], data: st.DataObject
) -> None:
    other = [shuffled(fact, data) for fact in data.draw(st.permutations(facts))]
    assert Graph.of(other) == Graph.of(facts)
    one, two = Dataset.of({"train": facts}), Dataset.of({"train": other})
    assert one.fingerprint == two.fingerprint


@given(SEVERAL, st.data())
def test_columns_in_any_order_have_one_canonical_form(
    facts: list[Fact], data: st.DataObject
) -> None:
    columns = Graph.of(facts).facts
    rows = data.draw(st.permutations(range(len(columns))))
    taken = columns.take(np.array(rows, dtype=np.int64))
    order = [
        place
        for start, end in pairwise(taken.offset.tolist())
        for place in data.draw(st.permutations(range(start, end)))
    ]
    mixed = replace(taken, attribute=taken.attribute[order], value=taken.value[order])
    assert mixed.to_canonical().equals(columns)
    twice = concatenate([mixed, columns]).to_canonical()
    assert twice.equals(replace(columns, count=2 * columns.count))


@given(SEVERAL)
def test_duplicates_are_merged_and_counted(facts: list[Fact]) -> None:
    graph = Graph.of(facts)
    stated = dict(zip(graph, graph.facts.count.tolist(), strict=True))
    assert stated == Counter(facts)
    assert len(graph) == len(set(facts))


@given(SEVERAL, SEVERAL)
def test_fingerprints_are_equal_exactly_when_the_contents_are(
    one: list[Fact], two: list[Fact]
) -> None:
    same = Counter(one) == Counter(two)
    assert (Dataset.of({"train": one}) == Dataset.of({"train": two})) is same
    assert (Graph.of(one) == Graph.of(two)) is same


@given(SEVERAL, st.data())
def test_one_changed_place_changes_the_fingerprint(facts: list[Fact], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(facts) - 1))
    old = facts[place]
    new = Fact(old.subject, old.relation, old.object, (*old.qualifiers, ("r0", "e0")))
    changed = [*facts[:place], new, *facts[place + 1 :]]
    assert Dataset.of({"train": facts}) != Dataset.of({"train": changed})


@given(SEVERAL)
def test_the_split_a_fact_is_in_counts_for_the_fingerprint(facts: list[Fact]) -> None:
    assert Dataset.of({"train": facts}) != Dataset.of({"valid": facts})


@given(wild_facts())
def test_facts_come_out_of_a_graph_as_they_were_put_in(facts: list[Fact]) -> None:
    assert set(Graph.of(facts)) == set(facts)


def test_labels_do_not_count_for_the_fingerprint() -> None:
    from nqe.graph import Description

    plain = Dataset.of({"train": [Fact("a", "r", "b")]})
    described = plain.describe({"a": Description("Alpha", "a letter", ("A",))})
    assert described.vocabulary.entities.labels[0] == "Alpha"
    assert described == plain


def test_the_same_pair_twice_is_not_the_same_as_once() -> None:
    once, twice = Fact("a", "r", "b", (("q", "c"),)), Fact("a", "r", "b", (("q", "c"),) * 2)
    graph = Graph.of([once, twice])
    assert len(graph) == 2
    assert set(graph) == {once, twice}


def test_facts_of_several_splits_are_joined_and_those_in_two_counted_in_both() -> None:
    both, only = Fact("a", "r", "b"), Fact("b", "r", "a")
    dataset = Dataset.of({"train": [both, only], "valid": [both], "test": [Fact("c", "r", "a")]})
    joined = dataset.known("train, valid")
    assert dict(zip(joined, joined.facts.count.tolist(), strict=True)) == {both: 2, only: 1}
    assert len(dataset.known("all")) == len(dataset.graph) == 3
    assert len(dataset.known("none")) == 0
    assert dataset.known("none").entity_count == 3


def test_a_missing_or_unknown_split_is_an_error_that_lists_those_there_are() -> None:
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


@pytest.mark.parametrize(
    "name",
    ["", " a", "a ", "a\nb", "a\tb", "a\x00", "a\u2028b", "\ufeffa", "\udce4", "a\x85b", "\x7f"],
)
def test_an_id_that_no_text_format_could_carry_is_refused(name: str) -> None:
    for fact in (Fact(name, "r", "b"), Fact("a", name, "b"), Fact("a", "r", "b", (("q", name),))):
        with pytest.raises(InputError, match=r"rename it|give it a name"):
            Graph.of([fact])


@pytest.mark.parametrize(
    "name", ["می\u200cخواهم", "a\u00a0b", "👩\u200d🚀", "\U0001fadf", '5" disk']
)
def test_an_id_of_any_script_is_taken(name: str) -> None:
    assert Graph.of([Fact(name, "r", "b")]).vocabulary.entities.number(name) is not None


def test_nothing_of_a_refused_fact_is_kept() -> None:
    from nqe.graph.builder import DatasetBuilder

    builder = DatasetBuilder()
    collector = builder.split("train")
    collector.add(Fact("a", "r", "b"))
    with pytest.raises(InputError):
        collector.add(Fact("new", "new_relation", "b", (("q", "x"), ("q2", " "))))
    vocabulary, splits = builder.finish()
    assert list(vocabulary.entities.ids) == ["a", "b"]
    assert list(vocabulary.relations.ids) == ["r"]
    assert len(splits["train"]) == 1

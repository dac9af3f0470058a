"""Fingerprints of data sets: equal exactly for equal contents."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from strategies import small_facts

from nqe.graph import Dataset, Fact, Graph

some_facts = st.lists(small_facts, min_size=1, max_size=20)


@given(some_facts, some_facts)
def test_fingerprints_are_equal_exactly_when_the_contents_are(
    one: list[Fact], two: list[Fact]
) -> None:
    same = Counter(one) == Counter(two)
    assert (Dataset.of({"train": one}) == Dataset.of({"train": two})) is same
    assert (Graph.of(one) == Graph.of(two)) is same


@given(some_facts, st.data())
def test_one_changed_place_changes_the_fingerprint(facts: list[Fact], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(facts) - 1))
    old = facts[place]
    new = Fact(old.subject, old.relation, old.object, (*old.qualifiers, ("r0", "e0")))
    changed = [*facts[:place], new, *facts[place + 1 :]]
    assert Dataset.of({"train": facts}) != Dataset.of({"train": changed})


@given(some_facts)
def test_the_split_a_fact_is_in_counts_for_the_fingerprint(facts: list[Fact]) -> None:
    assert Dataset.of({"train": facts}) != Dataset.of({"valid": facts})


def test_labels_do_not_count_for_the_fingerprint() -> None:
    from nqe.graph import Description

    plain = Dataset.of({"train": [Fact("a", "r", "b")]})
    described = plain.describe({"a": Description("Alpha", "a letter", ("A",))})
    assert described.vocabulary.entities.labels[0] == "Alpha"
    assert described == plain
